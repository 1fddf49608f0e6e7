// What a worker says of its attempt: started, alive, completed. Here it is checked against what is known, made durable and
// answered; whether it still counts is for the fold to say. A worker that is told to stop has nothing more to say.

import { taskFinishedKey, taskHeartbeatKey, taskStartedKey } from '../core/keys.js'
import { PROGRESS_MESSAGE_CHARACTERS_MAX } from '../core/limits.js'
import { cutText } from '../core/text.js'
import type { TokenClaims } from '../core/token.js'
import type { Draft } from '../events/draft.js'
import type { EventOf } from '../events/event.js'
import type { TaskRow } from '../projections/run-table.js'
import { isActive, isOver } from '../projections/state-machine.js'
import type { Current } from '../readers/current.js'
import { findTask } from '../readers/found.js'
import { handoverRefusedDraft, idsOf } from './attempt-draft.js'
import { type ExecutionDeps, executionFault, noteExecution, otherExecution, startGroupOf, stop } from './executions.js'
import { isProblem, type Problem, problem } from './problem.js'
import { claimStart } from './starts.js'
import { type Submit, submitDrafts } from './submit.js'
import { withdrawUnlessOwned } from './withdraw.js'

export type AttemptDeps = Submit &
  ExecutionDeps & {
    readonly current: Current
    /** How long one callback may wait for a revision that this process has not seen yet. */
    readonly revision_wait_ms?: number
  }

type Completed = Omit<Said<'TaskFinished'>, 'outcome'> & { readonly outcome: Said<'TaskFinished'>['outcome'] | GivenBack }
/** The worker ends, or can never run it and had it from a queue, to which it cannot say so. */
type GivenBack = 'RELEASED' | 'REFUSED'

type Said<Type extends 'TaskStarted' | 'TaskHeartbeat' | 'TaskFinished'> = Omit<
  EventOf<Type>['payload'],
  'run_id' | 'task_key' | 'attempt' | 'attempt_id'
> & { readonly sequence: number }

const REVISION_WAIT_MS = 10_000
/** How old may be what an attempt is started or goes on by: it may be over, or its run be cancelled. */
const VIEW_AGE_MS = 1_000

/** The task's row, if this attempt is its newest one. */
async function taskOf(
  { current, revision_wait_ms = REVISION_WAIT_MS }: AttemptDeps,
  claims: TokenClaims,
  sequence: number,
): Promise<TaskRow | Problem> {
  const view = await current.atLeast(sequence, revision_wait_ms)
  if (view === undefined) return problem('not-ready', `Revision ${sequence} is not to be seen here yet. Send the same again in a moment.`)
  const { run_id, task_key, attempt, attempt_id } = claims
  const found = await findTask(view, run_id, task_key)
  if (isProblem(found)) return found
  const { task } = found
  if (task.attempt_id === attempt_id) return task
  return stop(`Attempt ${attempt} of ${task_key} is over, and attempt ${task.attempt} has taken its place.`)
}

/** Of one that runs: it is the newest attempt, it is not over, and this execution was told to start it. */
async function runningTaskOf(deps: AttemptDeps, claims: TokenClaims, said: Execution): Promise<TaskRow | Problem> {
  const task = await taskOf(deps, claims, said.sequence)
  if (isProblem(task)) return task
  if (!isActive(task.state)) return overProblem(task)
  return (await executionFault(deps, { ...task, attempt_id: claims.attempt_id }, said.execution_id)) ?? task
}

type Execution = { readonly sequence: number; readonly execution_id: string }

const overProblem = ({ task_key, state }: TaskRow): Problem => stop(`This attempt of ${task_key} is over: the task is ${state}.`)

/** undefined: the attempt may log. What is stored of one that is over would be read by nobody's question. */
export async function logsFault(deps: AttemptDeps, claims: TokenClaims, said: Execution): Promise<Problem | undefined> {
  const task = await runningTaskOf(deps, claims, said)
  return isProblem(task) ? task : undefined
}

/** `cancel`: it is this execution's, and its code is not to begin, because its run is to be cancelled. */
type Started = { readonly attempt_id: string; readonly heartbeat_interval_ms: number; readonly cancel?: true }

/** Code may run once this has answered without a problem, and never before. The same execution is answered the same, however
 *  often it asks: of two requests nobody knows which answer it has. */
export async function sayStarted(deps: AttemptDeps, claims: TokenClaims, said: Said<'TaskStarted'>): Promise<Started | Problem> {
  const { sequence, ...facts } = said
  // A worker that was stopped for a while may ask for an attempt that was given up long ago.
  await deps.current.recent(VIEW_AGE_MS)
  const task = await taskOf(deps, claims, sequence)
  if (isProblem(task)) return task
  const { execution_id, worker_id } = facts
  if (!isActive(task.state)) return overProblem(task)
  const ids = idsOf(claims)
  const isCancelled = task.cancel_requested_at !== null
  const claim = { ...ids, execution_id, worker_id, sequence }
  const owner = isCancelled
    ? await withdrawUnlessOwned(deps, sequence, { ...task, attempt_id: claims.attempt_id })
    : (task.execution_id ?? (await claimStart(deps, startGroupOf(task), claim)).execution_id)
  if (owner === undefined) return stop(`The run of ${task.task_key} is to be cancelled.`)
  if (owner !== execution_id) return otherExecution(task.task_key, owner)
  const payload = { ...ids, ...facts }
  await submitDrafts(
    deps,
    [{ ...draftOf(ids.run_id, sequence), event_type: 'TaskStarted', idempotency_key: taskStartedKey(ids), payload }],
    'servo/callback',
    'soon',
  )
  noteExecution(deps, ids.attempt_id, { execution_id, beat_at: deps.clock.elapsed() })
  return { attempt_id: ids.attempt_id, heartbeat_interval_ms: beatEvery(task), ...(isCancelled ? { cancel: true as const } : {}) }
}

/** Said at most one a third of the timeout, so that one lost beat loses no attempt. */
const beatEvery = ({ heartbeat_timeout_ms }: TaskRow): number => Math.max(1, Math.floor(heartbeat_timeout_ms / 3))

const draftOf = (run_id: string, sequence: number) => ({ correlation_id: run_id, basis: { sequence } })

export async function sayAlive(
  deps: AttemptDeps,
  claims: TokenClaims,
  said: Said<'TaskHeartbeat'>,
): Promise<{ readonly cancel: boolean } | Problem> {
  const { sequence, ...facts } = said
  await deps.current.recent(VIEW_AGE_MS)
  const task = await runningTaskOf(deps, claims, said)
  if (isProblem(task)) return task
  if (isBeatDue(deps, claims.attempt_id, beatEvery(task))) {
    const ids = idsOf(claims)
    const payload = { ...ids, ...withShortMessage(facts) }
    const idempotency_key = taskHeartbeatKey(payload)
    await submitDrafts(
      deps,
      [{ ...draftOf(ids.run_id, sequence), event_type: 'TaskHeartbeat', idempotency_key, payload }],
      'servo/callback',
      'soon',
    )
    // Only once it is durable: a beat that failed is said again.
    noteExecution(deps, claims.attempt_id, { execution_id: facts.execution_id, beat_at: deps.clock.elapsed() })
  }
  return { cancel: task.cancel_requested_at !== null }
}

/** A little early is on time: the worker counts the same third. */
const BEAT_EARLY = 0.8

function isBeatDue({ executions, clock }: AttemptDeps, attempt_id: string, every_ms: number): boolean {
  const last = executions.get(attempt_id)?.beat_at
  return last === undefined || clock.elapsed() - last >= every_ms * BEAT_EARLY
}

function withShortMessage(facts: Omit<Said<'TaskHeartbeat'>, 'sequence'>): Omit<Said<'TaskHeartbeat'>, 'sequence'> {
  const { progress } = facts
  if (progress?.message === undefined) return facts
  return { ...facts, progress: { ...progress, message: cutText(progress.message, PROGRESS_MESSAGE_CHARACTERS_MAX) } }
}

export async function sayCompleted(
  deps: AttemptDeps,
  claims: TokenClaims,
  { outcome, ...said }: Completed,
): Promise<{ readonly accepted_event_id: string } | Problem> {
  if (outcome === 'RELEASED' || outcome === 'REFUSED') return giveBack(deps, claims, outcome, said)
  const { sequence, ...rest } = said
  const facts = { outcome, ...rest }
  // It may have been given up meanwhile, while nobody asked this process for anything.
  await deps.current.recent(VIEW_AGE_MS)
  const task = await taskOf(deps, claims, sequence)
  if (isProblem(task)) return task
  const isRepeat = isSaidAgain(task, facts)
  if (!isActive(task.state) && !isRepeat) return overProblem(task)
  const fault = isRepeat ? undefined : await executionFault(deps, { ...task, attempt_id: claims.attempt_id }, facts.execution_id)
  if (fault !== undefined) return fault
  const ids = idsOf(claims)
  const draft: Draft = {
    ...draftOf(ids.run_id, sequence),
    event_type: 'TaskFinished',
    idempotency_key: taskFinishedKey(ids),
    payload: { ...ids, ...facts },
  }
  const { events } = await submitDrafts(deps, [draft], 'servo/callback')
  return { accepted_event_id: events[0]?.event_id as string }
}

/** What the row of an attempt says that ended by its worker's word. One that was given up keeps its execution, and has another
 *  reason: nobody has said how it ended, and what comes of it now is late. */
const ENDED_BY = { SUCCEEDED: null, FAILED: 'ERROR', SKIPPED: 'WORKER_SKIPPED', CANCELLED: 'WORKER_CANCELLED' } as const

/** The same again, because its answer was lost: it is said once more, and changes nothing. */
function isSaidAgain(task: TaskRow, { outcome, execution_id, materialization_id }: Omit<Said<'TaskFinished'>, 'sequence'>): boolean {
  if (!isOver(task.state) || task.execution_id !== execution_id || task.outcome_reason !== ENDED_BY[outcome]) return false
  return outcome !== 'SUCCEEDED' || (task.state === 'SUCCEEDED' && task.materialization_id === materialization_id)
}

/** Lost, by no fault of the code, at once and not after its deadline. What was refused counts as a hand-over that was. */
async function giveBack(
  deps: AttemptDeps,
  claims: TokenClaims,
  outcome: GivenBack,
  { sequence, execution_id, error }: Omit<Completed, 'outcome'>,
): Promise<{ readonly accepted_event_id: string } | Problem> {
  const asked = await runningTaskOf(deps, claims, { sequence, execution_id })
  if (isProblem(asked)) return asked
  const task = await startedTaskOf(deps, claims, sequence)
  if (isProblem(task)) return task
  if (!isActive(task.state)) return overProblem(task)
  const draft = handoverRefusedDraft(claims, 'RUNNING', {
    ...(outcome === 'RELEASED' ? { released: true } : {}),
    ...(error === undefined ? {} : { error }),
  })
  const { events } = await submitDrafts(deps, [draft], 'servo/callback')
  return { accepted_event_id: events[0]?.event_id as string }
}

const STARTED_POLL_MS = 20

/** What is given back has been started, and the loss rests on that: it is waited for until the start is published. */
async function startedTaskOf(deps: AttemptDeps, claims: TokenClaims, sequence: number): Promise<TaskRow | Problem> {
  const { clock, current, poke, revision_wait_ms = REVISION_WAIT_MS } = deps
  const asked_at = clock.elapsed()
  for (;;) {
    const task = await taskOf(deps, claims, sequence)
    if (isProblem(task) || task.execution_id !== null || !isActive(task.state)) return task
    if (clock.elapsed() - asked_at > revision_wait_ms) {
      return problem(
        'not-ready',
        `The start of this attempt of ${task.task_key} is not to be seen here yet. Send the same again in a moment.`,
      )
    }
    poke('now')
    await clock.sleep(STARTED_POLL_MS)
    await current.latest()
  }
}
