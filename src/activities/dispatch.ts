// The port by which attempts reach workers. An adapter sends and says what it was told; it never decides what that means
// for the attempt, and never retries by itself: the sweep sends again what has not started.

import type { Dispatch } from '../api/contract/worker.js'
import type { LocationFailure } from './location-client.js'

export type SendAnswer =
  /** `was_there`: by an earlier send, as only a queue knows. */
  { readonly answer: 'ACCEPTED'; readonly was_there?: true } | LocationFailure

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
