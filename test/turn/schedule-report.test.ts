import { expect, test } from '@jest/globals'
import { standingOf } from '../../src/activities/entities/schedule.js'
import { HOUR_MS } from '../../src/core/time.js'
import type { ScheduleTickRow } from '../../src/projections/schedule-table.js'
import type { Schedule } from '../../src/readers/schedules.js'
import { createScheduleStory, SCHEDULE_ID } from '../fixtures/schedule-story.js'

const NOW = Date.UTC(2025, 7, 31, 12)

function world() {
  const story = createScheduleStory()
  story.define(NOW, { cron_expressions: ['0 2 * * *'], timezone: 'Europe/Berlin' })
  const { rows } = story.story
  const schedule = () =>
    ({ definition: rows.get('schedule_definitions', SCHEDULE_ID), state: rows.get('schedule_state', SCHEDULE_ID) }) as Schedule
  return { story, schedule }
}

test('the page of a schedule says when it fires next and when it ticked last, by the clocks of its zone', () => {
  const { story, schedule } = world()
  const { schedule_name } = schedule().definition
  expect(standingOf(schedule(), undefined, NOW)).toEqual({
    status: 'ACTIVE',
    timer: 'next fire 1 Sep 02:00 Europe/Berlin',
    page: {
      headline: 'next fire 1 Sep 02:00 Europe/Berlin',
      lines: [
        `schedule \`${schedule_name}\``,
        'cron `0 2 * * *`, zone Europe/Berlin',
        'no tick yet',
        'then 2 Sep 02:00, 3 Sep 02:00, 4 Sep 02:00, 5 Sep 02:00',
      ],
      last_error: null,
    },
  })
  const later = NOW + 24 * HOUR_MS
  story.decide(later)
  const tick = story.ticks()[0] as ScheduleTickRow
  const { lines } = standingOf(schedule(), tick, later).page
  expect(lines[2]).toBe(`last tick 1 Sep 02:00 TRIGGERED, decided after 43200 s, run ${tick.run_id}`)
  expect(standingOf(schedule(), { ...tick, run_count: 3 }, later).page.lines[2]).toMatch(/ and 2 more$/)
})

test('the page of a paused schedule says since when, by whom and why, in text without links', () => {
  const { story, schedule } = world()
  story.status(NOW + 1, 'PAUSED')
  const state = { ...schedule().state, status_changed_by: 'user:7', status_reason: 'see [this](http://x)' }
  const { status, timer, page } = standingOf({ ...schedule(), state }, undefined, NOW)
  expect([status, timer, page.headline]).toEqual(['PAUSED', 'paused', 'no fire ahead'])
  expect(page.lines).toContain('paused since 31 Aug 14:00 by user:7: see \\[this](http://x)')
})

test('the page of a schedule whose last tick failed says ERROR, and why in the words of the tick', () => {
  const { schedule } = world()
  const state = { ...schedule().state, last_tick_status: 'FAILED' } as Schedule['state']
  const failed = { error: { message: 'The asset a is not defined any more.' } } as ScheduleTickRow
  const { status, page } = standingOf({ ...schedule(), state }, failed, NOW)
  expect([status, page.last_error]).toEqual(['ERROR', 'The asset a is not defined any more.'])
})
