// What virtual code did, written down by the workers that ran it and by the queues that carried it. The system under test
// never reads it, and nothing in it was said by the system: checks compare the two.

import type { Dispatch } from '../../../src/api/contract/worker.js'
import type { AttemptIds } from '../../../src/core/keys.js'

export type CodeStart = AttemptIds & {
  readonly execution_id: string
  readonly worker: string
  /** The world's time when the code began, and when the API took the question that it answered with "start". */
  readonly at: number
  readonly asked_at: number
  readonly upstream: Dispatch['upstream']
}

/** How code ended, whether anybody ever heard of it or not. */
export type CodeEnd = AttemptIds & {
  readonly execution_id: string
  readonly outcome: string
  readonly materialization_id: string | undefined
}

/** A lie that was answered as if it were true. */
export type Believed = { readonly attempt_id: string; readonly lie: string; readonly status: number }

/** An attempt that its worker is told to stop, when that was sent. */
export type Told = { readonly attempt_id: string; readonly run_id: string | undefined; readonly at: number }

/** A cancel that was asked for when nothing went wrong any more, and the grace that its tasks have. */
export type CalmCancel = { readonly run_id: string; readonly asked_at: number }

export type Witness = {
  readonly starts: CodeStart[]
  readonly ends: CodeEnd[]
  readonly believed: Believed[]
  readonly told: Told[]
  readonly calm_cancels: CalmCancel[]
  /** Attempts that were started with the word to cancel: none of their code ran. */
  readonly cancelled_starts: string[]
  /** Runs that were accepted: their ids. */
  readonly accepted: Set<string>
  /** From here on every worker lives, speaks and is heard; undefined: that is not known. */
  calm_since: number | undefined
}

export const createWitness = (): Witness => ({
  starts: [],
  ends: [],
  believed: [],
  told: [],
  calm_cancels: [],
  cancelled_starts: [],
  accepted: new Set(),
  calm_since: undefined,
})
