// When the next turn is due without any event. It counts instants that lie in rows, and nothing that waits for an event:
// a task that waits for room is woken by the end of another.

import type { ReconcileState } from './decision.js'
import { earliestLoss } from './lost.js'
import { nextScheduleAt } from './schedule-due.js'

/** The earliest deadline, retry or fire; null: nothing is due. A deadline that is held back counts as the end of that. */
export function wakeAt({ rows, now, hold_until }: Pick<ReconcileState, 'rows' | 'now' | 'hold_until'>): number | null {
  let earliest = nextScheduleAt(rows, now)
  for (const task of rows.hotRows('tasks')) {
    const loss = earliestLoss(task, hold_until)
    if (loss !== null) earliest = Math.min(earliest, loss.due_at)
    // One that is due already is dispatched now, or waits for room: as a wish it would call for turn after turn.
    else if (task.state === 'RETRY_WAIT' && task.retry_at !== null && task.retry_at > now) earliest = Math.min(earliest, task.retry_at)
  }
  return Number.isFinite(earliest) ? earliest : null
}
