// What follows an attempt that did not succeed: another try, when, and on whose account; or none.

import { RELEASES_FREE_MAX } from '../core/limits.js'
import { floorTo, SECOND_MS } from '../core/time.js'
import type { EventOf } from '../events/event.js'
import { retryAfterLoss, retryAt } from './deadline.js'
import type { Moment } from './outcome.js'
import type { TaskRow } from './run-table.js'

type NextTry = { readonly state: 'RETRY_WAIT' | 'FAILED' | 'CANCELLED' } & Pick<
  TaskRow,
  'failures' | 'infra_losses' | 'releases' | 'retry_at'
>

type LossReason = EventOf<'AttemptLost'>['payload']['reason']

/** No other try. */
const over = (task: TaskRow, state: 'FAILED' | 'CANCELLED', counted: Partial<NextTry>): NextTry => ({
  ...countsOf(task),
  ...counted,
  state,
  retry_at: null,
})

const again = (task: TaskRow, retry_at: number, counted: Partial<NextTry>): NextTry => ({
  ...countsOf(task),
  ...counted,
  state: 'RETRY_WAIT',
  retry_at,
})

const countsOf = ({ failures, infra_losses, releases }: TaskRow) => ({ failures, infra_losses, releases })

/** A failure of the code: tried again while it has attempts left, wants to be, and nobody asked to cancel. */
export function afterFailure(task: TaskRow, isRetryable: boolean, retry_after_seconds: number | undefined, moment: Moment): NextTry {
  const counted = { failures: task.failures + 1 }
  if (task.cancel_requested_at !== null) return over(task, 'CANCELLED', counted)
  if (!isRetryable || counted.failures >= task.max_attempts) return over(task, 'FAILED', counted)
  return again(task, retryAt(task, counted.failures, moment.at, retry_after_seconds), counted)
}

/** A loss that is not the code's fault: tried again up to a bound of its own. */
function infraLossOf(task: TaskRow, reason: LossReason, moment: Moment): NextTry {
  const counted = { infra_losses: task.infra_losses + 1 }
  if (task.cancel_requested_at !== null) return over(task, 'CANCELLED', counted)
  if (counted.infra_losses > task.max_infra_losses) return over(task, 'FAILED', counted)
  return again(task, retryAfterLoss(task, counted.infra_losses, reason === 'HEARTBEAT', moment.at), counted)
}

/** Its worker ended, and gave it back: nobody's fault, and tried again at once. */
function releaseOf(task: TaskRow, moment: Moment): NextTry {
  const counted = { releases: (task.releases ?? 0) + 1 }
  if (counted.releases > RELEASES_FREE_MAX) return infraLossOf(task, 'HANDOVER_REFUSED', moment)
  if (task.cancel_requested_at !== null) return over(task, 'CANCELLED', counted)
  // The clock of the process that says it may be ahead of the turn's by less than a second: with the fraction it would wait.
  return again(task, floorTo(moment.at, SECOND_MS), counted)
}

/** No code of it ever ran, so it counts as nothing, and is tried again as soon as there is room for it. */
function withdrawalOf(task: TaskRow, moment: Moment): NextTry {
  if (task.cancel_requested_at !== null) return over(task, 'CANCELLED', {})
  return again(task, floorTo(moment.at, SECOND_MS), {})
}

/** What was lost is the code's fault where it took too long, and nobody's where its worker gave it back. */
export function afterLoss(task: TaskRow, payload: EventOf<'AttemptLost'>['payload'], moment: Moment): NextTry {
  const { reason, released, withdrawn, error } = payload
  if (withdrawn === true) return withdrawalOf(task, moment)
  if (reason === 'TIMEOUT') return afterFailure(task, error?.retryable !== false, undefined, moment)
  return released === true ? releaseOf(task, moment) : infraLossOf(task, reason, moment)
}
