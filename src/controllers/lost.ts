// Declares attempts lost whose deadline has passed. It never does while facts of workers may lie unread, and never before
// the instant until which a turn that came late holds deadlines back. The grace of a cancel is not held back: what it ends
// is not tried again, so a worker that lives loses nothing by it.

import { assert } from '../core/errors.js'
import { attemptLostKey } from '../core/keys.js'
import { LOSS_LAG_MS_MAX } from '../core/limits.js'
import { compareText } from '../core/order.js'
import { instantText } from '../core/time.js'
import type { Draft } from '../events/draft.js'
import type { EventOf } from '../events/event.js'
import type { TaskRow } from '../projections/run-table.js'
import { isActive } from '../projections/state-machine.js'
import type { Decision, ReconcileState } from './decision.js'

type LossReason = EventOf<'AttemptLost'>['payload']['reason']

export type ArmedDeadline = { readonly deadline_at: number; readonly reason: LossReason }
/** `due_at`: when it is acted on, which is later than the deadline where that is held back. */
type DueDeadline = ArmedDeadline & { readonly due_at: number }

/** The first deadline that the active attempt can miss; null: no attempt is active, or it may take as long as it likes. */
export function earliestLoss(task: TaskRow, hold_until: number | null): DueDeadline | null {
  const held = earliestHeld(task)
  const held_due_at = held === null ? Number.POSITIVE_INFINITY : Math.max(held.deadline_at, hold_until ?? held.deadline_at)
  const grace_at = isActive(task.state) ? task.cancel_deadline_at : null
  // Of two at one instant a cancel comes first: what it ends is not tried again.
  if (grace_at !== null && grace_at <= held_due_at) return { reason: 'CANCEL_GRACE', deadline_at: grace_at, due_at: grace_at }
  return held === null ? null : { ...held, due_at: held_due_at }
}

/** The same of those that a hold delays. */
export function earliestHeld(task: TaskRow): ArmedDeadline | null {
  if (!isActive(task.state)) return null
  let earliest: ArmedDeadline | null = null
  const arm = (reason: LossReason, deadline_at: number | null) => {
    if (deadline_at !== null && (earliest === null || deadline_at < earliest.deadline_at)) earliest = { reason, deadline_at }
  }
  // Of two at one instant the first one here is said.
  arm('START_DEADLINE', task.start_deadline_at)
  arm('HEARTBEAT', task.heartbeat_deadline_at)
  arm('TIMEOUT', task.timeout_at)
  return earliest
}

export function reconcileLost({
  rows,
  now,
  lag_ms,
  hold_until,
}: Omit<ReconcileState, 'scope' | 'publish_interval_ms'>): readonly Decision[] {
  if (lag_ms > LOSS_LAG_MS_MAX) return []
  const passed: { readonly task: TaskRow; readonly loss: DueDeadline }[] = []
  for (const task of rows.hotRows('tasks')) {
    const loss = earliestLoss(task, hold_until)
    if (loss !== null && loss.due_at <= now) passed.push({ task, loss })
  }
  passed.sort(
    (left, right) =>
      left.loss.deadline_at - right.loss.deadline_at ||
      compareText(left.task.run_id, right.task.run_id) ||
      left.task.task_index - right.task.task_index,
  )
  return passed.map(({ task, loss }) => ({
    said_by: 'lost',
    drafts: [lost(task, loss)],
    due: { by: 'time', at: loss.deadline_at, holds_after_folds: true },
  }))
}

function lost({ run_id, task_key, attempt, attempt_id, state }: TaskRow, { reason, deadline_at }: ArmedDeadline): Draft {
  assert(attempt_id !== null, `The active attempt of ${task_key} has no id.`)
  return {
    event_type: 'AttemptLost',
    idempotency_key: attemptLostKey({ run_id, task_key, attempt }),
    correlation_id: run_id,
    basis: { task_state: state === 'RUNNING' ? 'RUNNING' : 'DISPATCHED', deadline_at: instantText(deadline_at) },
    payload: { run_id, task_key, attempt, attempt_id, reason },
  }
}
