// Whose an attempt is. The start claim says it; this process remembers the claims that it made or read, and when each of
// these executions was last heard of in the ledger. Forgotten, a claim is read again.

import { assert } from '../core/errors.js'
import type { StartGroup } from '../core/keys.js'
import { remember } from '../core/recent.js'
import type { TaskRow } from '../projections/run-table.js'
import { type Problem, problem } from './problem.js'
import { readStart, type StartDeps } from './starts.js'

type Executions = Map<string, Execution>
type Execution = { readonly execution_id: string; readonly beat_at?: number }

export type ExecutionDeps = StartDeps & { readonly executions: Executions }

/** Attempts that are remembered: those that run now, and some. */
const EXECUTIONS_MAX = 10_000

export function noteExecution({ executions }: ExecutionDeps, attempt_id: string, execution: Execution): void {
  remember(executions, attempt_id, execution, EXECUTIONS_MAX)
}

export const stop = (detail: string): Problem => problem('attempt-over', `${detail} Stop working on it.`)

export const otherExecution = (task_key: string, execution_id: string): Problem =>
  stop(`Another execution of this attempt of ${task_key} runs already: ${execution_id}.`)

type Attempt = Pick<TaskRow, 'task_key' | 'execution_id' | 'location_name' | 'dispatched_at'> & { readonly attempt_id: string }

/** undefined: the attempt is this execution's. Whoever has not been told to start is told to stop. */
export async function executionFault(deps: ExecutionDeps, task: Attempt, execution_id: string): Promise<Problem | undefined> {
  const { attempt_id, task_key } = task
  const owner = task.execution_id ?? deps.executions.get(attempt_id)?.execution_id ?? (await readOwner(deps, task))
  if (owner === undefined) return stop(`This attempt of ${task_key} has not been started: code runs only after started was answered.`)
  return owner === execution_id ? undefined : otherExecution(task_key, owner)
}

/** The start may be durable and not folded yet, and another process may have answered it. */
async function readOwner(deps: ExecutionDeps, task: Attempt): Promise<string | undefined> {
  const { attempt_id } = task
  const claim = await readStart(deps, startGroupOf(task), attempt_id)
  if (claim === undefined) return undefined
  noteExecution(deps, attempt_id, { execution_id: claim.execution_id })
  return claim.execution_id
}

/** An attempt that is active has been dispatched. */
export function startGroupOf({ task_key, location_name, dispatched_at }: Omit<Attempt, 'attempt_id'>): StartGroup {
  assert(dispatched_at !== null, `Task ${task_key} is active, and was never dispatched.`)
  return { location_name, dispatched_at }
}
