// Keeps each attempt that ended without a success as a row of its own. The task's row goes on to the next attempt, so that
// without this row nobody could say later why the earlier one failed.

import { assert } from '../core/errors.js'
import { ERROR_CODE_CHARACTERS_MAX, ERROR_STACK_CHARACTERS_MAX, SHORT_TEXT_CHARACTERS_MAX } from '../core/limits.js'
import { cutText } from '../core/text.js'
import type { ErrorValue } from '../events/value.js'
import type { Moment } from './outcome.js'
import type { FailedAttemptRow, TaskRow } from './run-table.js'
import type { WorkingSet } from './working-set.js'

/** `execution_id` of a finish that overtook its start; the task has that of a start. */
export type AttemptFailure = Pick<FailedAttemptRow, 'outcome' | 'reason' | 'error'> & { readonly execution_id?: string }

/** Written and never read by the fold: an attempt ends once, so that no key has to be looked up for it. */
export function recordFailedAttempt(
  rows: WorkingSet,
  task: TaskRow,
  failure: AttemptFailure,
  finished_at: number,
  { event_id }: Moment,
): void {
  const { run_id, task_key, attempt, attempt_id, worker_id, dispatched_at, started_at } = task
  assert(attempt_id !== null && dispatched_at !== null, `Attempt ${attempt} of ${task_key} ended and was never dispatched.`)
  rows.put('failed_attempts', {
    run_id,
    task_key,
    attempt,
    attempt_id,
    execution_id: task.execution_id ?? failure.execution_id ?? null,
    worker_id,
    outcome: failure.outcome,
    reason: failure.reason === null ? null : cutText(failure.reason, SHORT_TEXT_CHARACTERS_MAX),
    error: failure.error,
    dispatched_at,
    started_at,
    finished_at,
    row_version: 0,
    last_event_id: event_id,
  })
}

/** What rows keep of an error. The message has its limit in the event; the other texts are whatever a worker sent. */
export function storedError(error: ErrorValue | undefined): ErrorValue | null {
  if (error === undefined) return null
  const { code, message, stack, retryable } = error
  return {
    code: cutText(code, ERROR_CODE_CHARACTERS_MAX),
    message,
    ...(stack === undefined ? {} : { stack: cutText(stack, ERROR_STACK_CHARACTERS_MAX) }),
    ...(retryable === undefined ? {} : { retryable }),
  }
}
