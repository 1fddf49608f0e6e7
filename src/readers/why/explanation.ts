// What explainers are given, and what they answer.

import type { NotFound } from '../not-found.js'
import type { View } from '../reader.js'
import type { WorkerState } from './worker.js'

/** What every explanation says. */
export type Explanation = {
  readonly code: string
  /** The same for people. Instants in it are those of RFC 3339. */
  readonly sentence: string
  /** When it came to be so; null where no row says it. */
  readonly since_at: number | null
  /** When it changes by itself: a retry, or a deadline. */
  readonly due_at: number | null
}

export type Around = {
  readonly now: number
  /** Left out: no worker is asked. */
  readonly askWorker?: ((worker_url: string) => Promise<WorkerState>) | undefined
}

export type Explainer<Id> = (view: View | undefined, id: Id, around: Around) => Promise<Explanation | NotFound>
