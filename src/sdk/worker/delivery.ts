// What a queue delivers. It reads the status of the answer alone, and delivers again what is not 2xx: so the answer waits
// until the API has said whether the attempt may start, and what cannot be said to the queue is said to the API.

import type { Dispatch, DispatchAnswer, DispatchRequest } from '../../api/contract/worker.js'
import type { Roster } from './roster.js'

/** Why an attempt is refused. */
export type Refusal = NonNullable<DispatchAnswer['error']>

type DeliveryDeps = {
  readonly roster: Pick<Roster, 'take' | 'asked'>
  /** Tells the API that this worker can never run it. Answers whether the API has heard. */
  readonly refuse: (dispatch: Dispatch, error: Refusal) => Promise<boolean>
}

/** `done`: the queue may forget it. `busy`: there is no room. `unsure`: the API has not answered, or this worker ends. */
export type Delivered = { readonly end: 'done' | 'busy' | 'unsure'; readonly answers: readonly DispatchAnswer[] }

export async function deliver({ roster, refuse }: DeliveryDeps, { dispatches }: DispatchRequest): Promise<Delivered> {
  const taken = dispatches.map((dispatch) => {
    const answer = roster.take(dispatch)
    return { answer, isHeard: isHeard(answer, dispatch) }
  })
  function isHeard(answer: DispatchAnswer, dispatch: Dispatch): Promise<boolean> {
    switch (answer.answer) {
      case 'BUSY':
        return Promise.resolve(true)
      case 'ACCEPTED':
        return roster.asked(answer.attempt_id)
      case 'REFUSED':
        return refuse(dispatch, answer.error ?? NO_REASON)
    }
  }
  const heard = await Promise.all(taken.map((each) => each.isHeard))
  const answers = taken.map(({ answer }) => answer)
  // Whichever of several is not done brings all of them again, which those that are done do not mind.
  if (answers.some(({ answer }) => answer === 'BUSY')) return { end: 'busy', answers }
  return { end: heard.every(Boolean) ? 'done' : 'unsure', answers }
}

const NO_REASON: Refusal = { code: 'REFUSED', message: 'The worker refused the attempt, and did not say why.' }
