// Tells the counters what workers answered, and which attempts have only waited for room so far. BUSY says that a worker does not
// have the attempt: nothing was lost, and the sweep that hands it over later mends nothing.

import { remember } from '../core/recent.js'
import type { DispatchOutboxRow } from '../projections/run-table.js'
import type { SendAnswer } from './dispatch.js'
import type { OutboxEntry } from './envelope.js'

export type AnswerSeen = {
  readonly answer: SendAnswer['answer']
  /** PENDING: nobody has recorded yet that a worker has it. */
  readonly outbox_status: DispatchOutboxRow['status']
  /** A queue had it from an earlier send, or a worker may have it since then that keeps it until a slot is free. */
  readonly was_there: boolean
  /** This process has sent it before, and each answer was that there is no room. */
  readonly waited_for_room: boolean
}

type Answered = { readonly entry: OutboxEntry; readonly answer: SendAnswer }

/** As many as the sweep looks at. */
const ATTEMPTS_MAX = 10_000

/** Call it once for each answer, in their order. */
export function createSeenAnswers(): (answered: readonly Answered[]) => readonly AnswerSeen[] {
  /** By attempt: whether each answer so far was BUSY. */
  const onlyBusy = new Map<string, boolean>()
  return (answered) =>
    answered.map(({ entry: { outbox }, answer }) => {
      const before = onlyBusy.get(outbox.attempt_id)
      remember(onlyBusy, outbox.attempt_id, answer.answer === 'BUSY' && before !== false, ATTEMPTS_MAX)
      return {
        answer: answer.answer,
        outbox_status: outbox.status,
        was_there: 'was_there' in answer || outbox.prefetched === true,
        waited_for_room: before === true,
      }
    })
}
