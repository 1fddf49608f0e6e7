// Asks for runs to be cancelled: one by its id, or all open ones that fit a filter, in one batch.

import { runCancelKey } from '../core/keys.js'
import type { Draft } from '../events/draft.js'
import type { RunRow } from '../projections/run-table.js'
import { isOver } from '../projections/state-machine.js'
import { type By, by } from './by.js'
import { type Problem, problem } from './problem.js'

export const cancelDraft = (run_id: string, asked: By, request_id: string): Draft => ({
  event_type: 'RunCancelRequested',
  idempotency_key: runCancelKey({ run_id }, request_id),
  correlation_id: run_id,
  payload: { run_id, ...by(asked) },
})

/** undefined: it can be asked for. A run that is being cancelled may be asked again. */
export function cancelProblem({ run_id, state }: RunRow): Problem | undefined {
  if (!isOver(state)) return undefined
  return problem('conflict', `Run ${run_id} is over: it is ${state}, and nothing of it is left to cancel.`, { members: { state } })
}
