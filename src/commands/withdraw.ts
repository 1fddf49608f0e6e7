// Takes back attempts whose code has not started: those of a run that is to be cancelled, and those that were prefetched and found
// no slot soon. The start claim is taken in place of an execution, so that none can start any more; only then is the attempt's
// end said. Who comes after a crash between the two finds the claim, and says the same.

import { taskFinishedKey, withdrawnExecutionId } from '../core/keys.js'
import type { Draft } from '../events/draft.js'
import type { TaskRow } from '../projections/run-table.js'
import { handoverRefusedDraft, idsOf } from './attempt-draft.js'
import { startGroupOf } from './executions.js'
import { claimStart, type StartDeps } from './starts.js'
import { type Submit, submitDrafts } from './submit.js'

type WithdrawDeps = Submit & StartDeps

/** A task that is DISPATCHED, as a published revision has it. */
export type DispatchedTask = TaskRow & { readonly attempt_id: string }

/** cancelled: its run is, and the task ends with it. not_started: the task is dispatched again when there is room. */
type WithdrawReason = 'cancelled' | 'not_started'

/** Well within a batch. */
const DRAFTS_AT_ONCE = 500
/** For whoever reads the log of starts. */
const WORKER_ID = 'servo/withdrawn'

/** Answers how many it took back. What an execution has is left to it: it learns of a cancel by its heartbeats. */
export async function withdrawAttempts(
  deps: WithdrawDeps,
  sequence: number,
  tasks: readonly DispatchedTask[],
  reason: WithdrawReason,
): Promise<number> {
  const owners = await Promise.all(tasks.map((task) => ownerOf(deps, sequence, task)))
  const drafts = tasks.flatMap((task, index) => {
    const execution_id = withdrawnExecutionId(task.attempt_id)
    if (owners[index] !== execution_id) return []
    return [reason === 'cancelled' ? withdrawnDraft(task, sequence, execution_id) : notStartedDraft(task)]
  })
  for (let start = 0; start < drafts.length; start += DRAFTS_AT_ONCE) {
    await submitDrafts(deps, drafts.slice(start, start + DRAFTS_AT_ONCE), 'servo/handover')
  }
  return drafts.length
}

/** One execution asks to start. Answers whose the attempt is; undefined: nobody's. Its end is said then: none can start
 *  it any more. Where it is the asker's, it may have been told to start, and its code may run: this may be its request once more, by
 *  a network that repeats, whether or not its start is published (ADR 0052). */
export async function withdrawUnlessOwned(deps: WithdrawDeps, sequence: number, task: DispatchedTask): Promise<string | undefined> {
  const owner = task.execution_id ?? (await ownerOf(deps, sequence, task))
  if (owner !== withdrawnExecutionId(task.attempt_id)) return owner
  await submitDrafts(deps, [withdrawnDraft(task, sequence, owner)], 'servo/callback')
  return undefined
}

async function ownerOf(deps: WithdrawDeps, sequence: number, task: DispatchedTask): Promise<string> {
  const claim = { ...idsOf(task), execution_id: withdrawnExecutionId(task.attempt_id), worker_id: WORKER_ID, sequence }
  return (await claimStart(deps, startGroupOf(task), claim)).execution_id
}

const notStartedDraft = (task: DispatchedTask): Draft => handoverRefusedDraft(task, 'DISPATCHED', { withdrawn: true })

function withdrawnDraft(task: DispatchedTask, sequence: number, execution_id: string): Draft {
  const ids = idsOf(task)
  return {
    event_type: 'TaskFinished',
    idempotency_key: taskFinishedKey(ids),
    correlation_id: ids.run_id,
    basis: { sequence },
    payload: { ...ids, execution_id, outcome: 'CANCELLED', withdrawn: true },
  }
}
