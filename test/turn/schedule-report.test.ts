import { expect, test } from '@jest/globals'
import { reportOf } from '../../src/activities/schedules/report.js'
import type { ScheduleTickRow } from '../../src/projections/schedule-table.js'
import type { Schedule } from '../../src/readers/schedules.js'
import { scheduleDetails } from '../../src/workflows/words.js'
import { NOW } from '../fixtures/say.js'
import { createScheduleStory, SCHEDULE_ID } from '../fixtures/schedule-story.js'

test('the page of a schedule whose last tick failed says ERROR, and why in the words of the tick', () => {
  const story = createScheduleStory()
  story.define(NOW, { cron_expressions: ['0 * * * *'], timezone: 'UTC' })
  const { rows } = story.story
  const definition = rows.get('schedule_definitions', SCHEDULE_ID)
  const state = { ...rows.get('schedule_state', SCHEDULE_ID), last_tick_status: 'FAILED' }
  const failed_tick = { error: { message: 'The asset a is not defined any more.' } } as ScheduleTickRow
  const moment = { now: NOW, sequence: 1, schedule_count: 1 }
  const report = reportOf({ definition, state } as Schedule, moment, { failed_tick, refused: null, answers: {} })
  expect(report.status).toBe('ERROR')
  const lines = scheduleDetails(report.status, report, { last_error: null, refused: report.refused ?? null }).split('\n')
  expect(lines).toEqual(expect.arrayContaining(['| status | ERROR |', '| last error | The asset a is not defined any more. |']))
  const failing = scheduleDetails('ERROR', report, { last_error: 'No turn of the workspace | came', refused: null })
  expect(failing).toContain('| last error | No turn of the workspace \\| came |')
})
