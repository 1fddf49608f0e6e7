// An attempt that this worker can never run and had from a queue, which cannot be told: the worker starts it, so that nobody
// else does, and gives it up at once with the reason.

import type { CompletedRequest, Dispatch } from '../../api/contract/worker.js'
import { instantMs } from '../../core/time.js'
import { newUlid } from '../../core/ulid.js'
import { type AttemptDeps, RETRY_FIRST_MS, RETRY_LONGEST_MS } from './attempt.js'
import { createPost, describe, isTaken, repeat } from './call.js'
import type { Refusal } from './delivery.js'
import { type CallAnswer, isWorthRepeating } from './post-json.js'

/** Answers whether the API has heard of it: with its word that the attempt is somebody else's, or over, it has. */
export async function refuseAttempt(deps: AttemptDeps, dispatch: Dispatch, error: Refusal): Promise<boolean> {
  const { clock, random, closed, worker_id } = deps
  const post = createPost({ ...dispatch, ...deps, line: deps.lineTo(dispatch.callbacks_url) })
  const said = { execution_id: newUlid(clock.now(), random), sequence: dispatch.sequence }
  const deadline = instantMs(dispatch.start_deadline_at)
  const patience = { random, signal: closed, isDue: () => clock.now() < deadline, first_ms: RETRY_FIRST_MS, longest_ms: RETRY_LONGEST_MS }
  const say = (answer: CallAnswer, what: string) =>
    deps.log(
      `${dispatch.run_id} ${dispatch.task_key}, attempt ${dispatch.attempt}: it is refused (${error.code}), and ${what} ${describe(answer)}`,
    )
  const started = await repeat(() => post('started', { ...said, worker_id }), patience)
  if (!isTaken(started)) {
    say(started, 'started')
    return !isWorthRepeating(started)
  }
  const body: CompletedRequest = { ...said, outcome: 'REFUSED', error }
  const completed = await repeat(() => post('completed', body), patience)
  if (!isTaken(completed)) say(completed, 'completed')
  return !isWorthRepeating(completed)
}
