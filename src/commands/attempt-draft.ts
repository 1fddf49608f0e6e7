// What several commands say of an attempt: its ids, and that it is lost by no fault of its code.

import { attemptLostKey } from '../core/keys.js'
import type { Draft } from '../events/draft.js'
import type { EventOf } from '../events/event.js'

type AttemptLost = EventOf<'AttemptLost'>
type AttemptIds = Pick<AttemptLost['payload'], 'run_id' | 'task_key' | 'attempt' | 'attempt_id'>

export const idsOf = ({ run_id, task_key, attempt, attempt_id }: AttemptIds): AttemptIds => ({ run_id, task_key, attempt, attempt_id })

/** Refused, given back or taken back: it is lost at once, and not after its deadline. */
export function handoverRefusedDraft(
  attempt: AttemptIds,
  task_state: AttemptLost['basis']['task_state'],
  details: Pick<AttemptLost['payload'], 'error' | 'released' | 'withdrawn'>,
): Draft {
  const ids = idsOf(attempt)
  return {
    event_type: 'AttemptLost',
    idempotency_key: attemptLostKey(ids),
    correlation_id: ids.run_id,
    basis: { task_state },
    payload: { ...ids, reason: 'HANDOVER_REFUSED', ...details },
  }
}
