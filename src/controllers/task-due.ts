// When something is due about tasks without any event: a deadline that an attempt may miss, or a retry.

import { earliestLoss } from './lost.js'
import type { WakeState } from './nouns/noun.js'

/** A deadline that is held back counts as the end of that. */
export function nextTaskAt({ rows, now, hold_until }: WakeState): number {
  let earliest = Number.POSITIVE_INFINITY
  for (const task of rows.hotRows('tasks')) {
    const loss = earliestLoss(task, hold_until)
    if (loss !== null) earliest = Math.min(earliest, loss.due_at)
    // One that is due already is dispatched now, or waits for room: as a wish it would call for turn after turn.
    else if (task.state === 'RETRY_WAIT' && task.retry_at !== null && task.retry_at > now) earliest = Math.min(earliest, task.retry_at)
  }
  return earliest
}
