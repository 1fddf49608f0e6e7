// Every controller, once. Here they get the workspace's secret, which makes ids that nobody can guess; they themselves
// know none, and decide nothing by it.

import { reconcileDispatch } from '../controllers/dispatch.js'
import { reconcileLost } from '../controllers/lost.js'
import { reconcilePlan } from '../controllers/plan.js'
import { reconcileSchedules } from '../controllers/schedules.js'
import { wakeAt } from '../controllers/wake.js'
import { attemptId, runId, type Secret } from '../core/run-id.js'
import type { Reconcile } from './reconcile.js'

export function createReconcile({ secret }: { readonly secret: Secret }): Reconcile {
  const identity = { secret_key_id: secret.secret_key_id, attemptIdOf: attemptId.bind(undefined, secret) }
  return {
    decide: (state) => [
      ...reconcileSchedules(state, { ...identity, runIdOf: runId.bind(undefined, secret, state.scope) }),
      ...reconcilePlan(state),
      ...reconcileLost(state),
      ...reconcileDispatch(state, identity),
    ],
    wakeAt,
  }
}
