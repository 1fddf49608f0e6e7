// The port by which attempts reach workers. An adapter sends and says what it was told; it never decides what that means
// for the attempt, and never retries by itself: the sweep sends again what has not started.

import type { Dispatch } from '../api/contract/worker.js'
import type { ErrorValue } from '../events/value.js'

export type SendAnswer =
  /** `was_there`: by an earlier send, as only a queue knows. */
  | { readonly answer: 'ACCEPTED'; readonly was_there?: true }
  /** No room now: nothing is wrong, and it is sent again. */
  | { readonly answer: 'BUSY' }
  /** Nobody answered, or not in a way that says anything about the attempt: it is sent again. */
  | { readonly answer: 'UNREACHABLE'; readonly problem: string }
  /** The way itself is set up wrongly, for every attempt alike: nothing is lost until its start deadline, and somebody has to
   *  mend it. One `code` is one thing to mend, whatever the words. */
  | { readonly answer: 'BLOCKED'; readonly code: string; readonly problem: string }
  /** Sending it again would not help. */
  | { readonly answer: 'REFUSED'; readonly error: ErrorValue }

export type DispatchPort = {
  readonly port: 'DIRECT' | 'CLOUD_TASKS'
  /** Attempts of one location, answered in their order; with them the names that the outbox has for a queue. It never
   *  throws. While the way is set up wrongly it asks less and less often, and answers with what it heard last;
   *  `location_version` tells it of a deploy, which may have mended it. */
  readonly send: (
    worker_url: string,
    dispatches: readonly Dispatch[],
    queue_task_names: readonly string[],
    location_version: number,
  ) => Promise<readonly SendAnswer[]>
}
