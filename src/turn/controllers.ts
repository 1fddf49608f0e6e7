// The controllers of every noun. Here they get the workspace's secret, which makes ids that nobody can guess; they themselves
// know none, and decide nothing by it.

import { EVERY_NOUN } from '../controllers/nouns/every.js'
import { wakeAt } from '../controllers/wake.js'
import { attemptId, runId, type Secret } from '../core/run-id.js'
import type { Reconcile } from './reconcile.js'

export function createReconcile({ secret }: { readonly secret: Secret }): Reconcile {
  const { secret_key_id } = secret
  const attemptIdOf = attemptId.bind(undefined, secret)
  return {
    decide(state) {
      const identity = { secret_key_id, attemptIdOf, runIdOf: runId.bind(undefined, secret, state.scope) }
      return EVERY_NOUN.flatMap(([, noun]) => noun.reconcile?.(state, identity) ?? [])
    },
    wakeAt,
  }
}
