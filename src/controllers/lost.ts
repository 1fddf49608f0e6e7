// Declares attempts lost whose deadline has passed. It never does while facts of workers may lie unread, and never before
// the instant until which a turn that came late holds deadlines back.

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

/** The first deadline that the active attempt can miss; null: no attempt is active, or it may take as long as it likes. */
export function earliestLoss(task: TaskRow): ArmedDeadline | null {
  if (!isActive(task.state)) return null
  let earliest: ArmedDeadline | null = null
  const arm = (reason: LossReason, deadline_at: number | null) => {
    if (deadline_at !== null && (earliest === null || deadline_at < earliest.deadline_at)) earliest = { reason, deadline_at }
  }
  // Of two at one instant the first one here is said. A cancel comes first: what it ends is not tried again.
  arm('CANCEL_GRACE', task.cancel_deadline_at)
  arm('START_DEADLINE', task.start_deadline_at)
  arm('HEARTBEAT', task.heartbeat_deadline_at)
  arm('TIMEOUT', task.timeout_at)
  return earliest
}

export function reconcileLost({ rows, now, lag_ms, hold_until }: ReconcileState): readonly Decision[] {
  if (lag_ms > LOSS_LAG_MS_MAX || (hold_until !== null && now < hold_until)) return []
  const passed: { readonly task: TaskRow; readonly loss: ArmedDeadline }[] = []
  for (const task of rows.hotRows('tasks')) {
    const loss = earliestLoss(task)
    if (loss !== null && loss.deadline_at <= now) passed.push({ task, loss })
  }
  passed.sort(
    (left, right) =>
      left.loss.deadline_at - right.loss.deadline_at ||
      compareText(left.task.run_id, right.task.run_id) ||
      left.task.task_index - right.task.task_index,
  )
  return passed.map(({ task, loss }) => ({ said_by: 'lost', drafts: [lost(task, loss)] }))
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
