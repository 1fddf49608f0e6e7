// Deadlines are columns: nobody can forget to arm them. All count from the timestamp of the event that sets them.

import { retryDelayMs } from '../core/retry-delay.js'
import { SECOND_MS } from '../core/time.js'
import type { TaskRow } from './run-table.js'

/** Of beats that come at most one a third of the timeout, a whole one may be late by that third. */
const HEARTBEAT_SLACK = 4 / 3
const INFRA_BACKOFF_MS = 5 * SECOND_MS
const INFRA_BACKOFF_MS_MAX = 60 * SECOND_MS

/** What an attempt that has ended, or has not begun, waits for. */
export const NO_ATTEMPT_DEADLINES = {
  start_deadline_at: null,
  heartbeat_deadline_at: null,
  timeout_at: null,
  cancel_deadline_at: null,
} as const

type Beating = Pick<TaskRow, 'heartbeat_timeout_ms'>

const silenceAllowed = ({ heartbeat_timeout_ms }: Beating): number => Math.floor(heartbeat_timeout_ms * HEARTBEAT_SLACK)

export const heartbeatDeadline = (task: Beating, beat_at: number): number => beat_at + silenceAllowed(task)

export const timeoutOf = ({ timeout_ms }: Pick<TaskRow, 'timeout_ms'>, started_at: number): number | null =>
  timeout_ms === null ? null : started_at + timeout_ms

/** After a failure that is the code's own. A worker that knows better says how long to wait. */
export function retryAt(task: TaskRow, failures: number, failed_at: number, retry_after_seconds: number | undefined): number {
  if (retry_after_seconds !== undefined) return failed_at + Math.floor(retry_after_seconds * SECOND_MS)
  return failed_at + retryDelayMs(task.retry, failures, task.attempt_id ?? '')
}

/** Losses that are not the code's fault are tried again soon. */
export const infraDelay = (infra_losses: number): number =>
  Math.min(INFRA_BACKOFF_MS_MAX, INFRA_BACKOFF_MS * 2 ** Math.min(infra_losses - 1, 10))

/** After such a loss. Of one that fell silent the delay counts from when it was last heard: that it was waited for has kept
 *  the next try off already (ADR 0046). The deadline says when that was; the columns of its start and its beats may be later,
 *  because they follow what they rest on. */
export function retryAfterLoss(task: TaskRow, infra_losses: number, isSilent: boolean, lost_at: number): number {
  const { heartbeat_deadline_at } = task
  const heard_at = isSilent && heartbeat_deadline_at !== null ? heartbeat_deadline_at - silenceAllowed(task) : lost_at
  return Math.max(lost_at, heard_at + infraDelay(infra_losses))
}

/** The first instant at which something is due for the task without any event; null: it waits for events alone. */
export function earliestDeadline(task: TaskRow): number | null {
  let earliest: number | null = null
  for (const deadline of [task.start_deadline_at, task.heartbeat_deadline_at, task.timeout_at, task.retry_at, task.cancel_deadline_at]) {
    if (deadline !== null && (earliest === null || deadline < earliest)) earliest = deadline
  }
  return earliest
}
