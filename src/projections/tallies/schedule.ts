// Schedules: the ticks that were decided, and how late a publish showed them.

import type { ScheduleTickRow } from '../schedule-table.js'
import type { WorkingSet } from '../working-set.js'
import { counted, type NounTally, timed } from './tally.js'

const DELAY = timed(
  'servo_schedule_tick_delay_seconds',
  'Of each tick of the clock that ran or failed: from when it was due to the publish that shows it.',
)
const TICKS = counted('servo_schedule_ticks_total', 'Instants of schedules that were decided; SKIPPED counts each of them.', {
  labels: ['status'],
  series: ['TRIGGERED', 'SKIPPED', 'FAILED'] satisfies readonly ScheduleTickRow['status'][],
})

export const SCHEDULE_TALLY: NounTally = {
  metrics: [DELAY, TICKS],
  /** A row of an older tick changes once more, when another request is in conflict with its run; a run comes with its tick. */
  count(rows, book, { published_at }) {
    const ticks = rows.changesOf('schedule_ticks')
    if (ticks.length === 0) return
    const requested = newRuns(rows)
    for (const { after } of ticks) {
      if (after.run_id !== null && !requested.has(after.run_id)) continue
      book.count(TICKS, after.status, after.skipped_count ?? 1)
      if (after.kind === 'CRON' && after.status !== 'SKIPPED') book.took(DELAY, '', published_at - after.scheduled_for)
    }
  },
}

const newRuns = (rows: Pick<WorkingSet, 'changesOf'>): ReadonlySet<string> =>
  new Set(rows.changesOf('runs').flatMap(({ before, after }) => (before === undefined ? [after.run_id] : [])))
