import { expect, test } from '@jest/globals'
import { createScheduleStory, SCHEDULE_ID } from '../../../test/fixtures/schedule-story.js'
import { NOW } from '../../../test/fixtures/say.js'
import type { ScheduleTickRow } from '../../projections/schedule-table.js'
import type { Schedule } from '../../readers/schedules.js'
import { scheduleDetails } from '../../workflows/words.js'
import { reportOf } from './report.js'

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
