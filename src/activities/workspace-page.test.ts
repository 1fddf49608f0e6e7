import { expect, test } from '@jest/globals'
import { NOW } from '../../test/fixtures/say.js'
import { createScheduleStory, SCHEDULE_ID } from '../../test/fixtures/schedule-story.js'
import type { RunRow } from '../projections/run-table.js'
import type { WorkingSet } from '../projections/working-set.js'
import { SCHEDULE_KIND } from './entities/schedule.js'
import { createWorkspacePages } from './workspace-page.js'

function world() {
  const story = createScheduleStory()
  const rows = story.story.rows as WorkingSet
  story.define(NOW, { cron_expressions: ['0 * * * *'] })
  const schedule = SCHEDULE_KIND.inRows(rows, SCHEDULE_ID)
  return { story, rows, next: (schedule && SCHEDULE_KIND.dueAt(schedule)[0]) as number }
}

test('the page names the schedule whose tick is due, and does not guess', () => {
  const { rows, next } = world()
  const { page } = createWorkspacePages()
  expect(page(rows, next).due).toBe(`tick of name-${SCHEDULE_ID}`)
  expect(page(rows, next + 1).due).toBeNull()
  expect(page(rows, null).due).toBeNull()
})

test('the page has the last three failed runs, newest first', () => {
  const { rows } = world()
  const pages = createWorkspacePages()
  const run = (run_id: string) => ({ run_id, run_key: `user:${run_id}` }) as RunRow
  pages.onPublished({ failed_runs: [run('1'), run('2')] })
  pages.onPublished({ failed_runs: [] })
  pages.onPublished({ failed_runs: [run('3'), run('4')] })
  expect(pages.page(rows, null).failed_runs).toEqual(['3 (user:3)', '4 (user:4)', '1 (user:1)'])
})

test('the page names three schedules whose last tick failed, and how many more there are', () => {
  const { story, rows } = world()
  const ids = Array.from({ length: 5 }, (_, index) => `${SCHEDULE_ID.slice(0, -1)}${index}`)
  for (const id of ids) story.define(NOW, { cron_expressions: ['0 * * * *'], asset_selection: ['missing'] }, id)
  story.decide(NOW + 3_600_000)
  const { failing_schedules } = createWorkspacePages().page(rows, null)
  expect(failing_schedules).toEqual([...ids.slice(0, 3).map((id) => `name-${id}`), 'and 2 more'])
})
