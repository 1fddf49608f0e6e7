// Whether deadlines are held back: where a turn comes much later than something was due, the answers to it may be under
// way, because workers could not speak either. Once for every such gap, and never for long.

import { TURN_GAP_HOLD_MS_MAX, TURN_GAP_MS_MAX } from '../core/limits.js'
import type { TaskRow } from '../projections/run-table.js'
import type { WorkingSet } from '../projections/working-set.js'
import { type ArmedDeadline, earliestLoss } from './lost.js'

/** What the last revision recorded. */
export type Recorded = { readonly wake_at: number | null; readonly hold_until: number | null }

/** Until when no deadline is acted on; null: they are. */
export function holdUntil(rows: WorkingSet, now: number, { wake_at, hold_until }: Recorded): number | null {
  if (hold_until !== null && now < hold_until) return hold_until
  if (wake_at === null || now - wake_at <= TURN_GAP_MS_MAX) return null
  // The end of a hold is an instant to wake at, too: who comes late for that has been held back already.
  if (hold_until !== null && wake_at <= hold_until) return null
  const periods = rows.hotRows('tasks').flatMap((task) => passedPeriod(task, now))
  // Only attempts are held back: a retry that is due loses nothing.
  return periods.length === 0 ? null : now + Math.min(TURN_GAP_HOLD_MS_MAX, Math.max(...periods))
}

function passedPeriod(task: TaskRow, now: number): readonly number[] {
  const loss = earliestLoss(task)
  return loss === null || loss.deadline_at > now ? [] : [periodOf(task, loss)]
}

function periodOf(task: TaskRow, { reason }: ArmedDeadline): number {
  switch (reason) {
    case 'START_DEADLINE':
      return task.start_timeout_ms
    case 'HEARTBEAT':
      return task.heartbeat_timeout_ms
    case 'TIMEOUT':
      return task.timeout_ms ?? 0
    case 'CANCEL_GRACE':
      return task.cancel_grace_ms
    case 'HANDOVER_REFUSED':
      return 0
  }
}
