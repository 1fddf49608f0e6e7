// Attempts: dispatched by the turn, then whatever their worker says, until they end or are lost. A fact of any other
// attempt than the active one changes nothing.

import { assert } from '../core/errors.js'
import { PREFETCH_WAIT_MS_MAX } from '../core/limits.js'
import { instantMs } from '../core/time.js'
import type { EventOf } from '../events/event.js'
import { heartbeatDeadline, NO_ATTEMPT_DEADLINES, timeoutOf } from './deadline.js'
import { type AttemptFailure, recordFailedAttempt, storedError } from './failed-attempt.js'
import type { Hints } from './hint.js'
import { afterFailure, afterLoss } from './next-try.js'
import { closeOutbox, newOutboxRow, openOutboxRow } from './outbox.js'
import { type Moment, notBefore, type Refusal, refusal } from './outcome.js'
import { type AttemptEnd, keysOfPartitions, recordAttemptEnd } from './partition.js'
import { cappedTagsOf, dispatchPoolKeys, enterPools, fullPool, isWithoutSlot, leavePools, poolSourceOf } from './pool.js'
import { countEnded, keysOfRun, startRun } from './run.js'
import type { RunRow, TaskRow } from './run-table.js'
import { isActive, isOver, nextStates, OUTBOX_MACHINE, TASK_MACHINE, type TaskCause, type TaskState } from './state-machine.js'
import type { KeyedRow } from './tables.js'
import { endOf, endTask, moveTask, resolveEdges } from './task.js'
import type { WorkingSet } from './working-set.js'

type TaskName = { readonly run_id: string; readonly task_key: string }
type AttemptName = TaskName & { readonly attempt: number; readonly attempt_id: string; readonly execution_id?: string }

/** All of an open run is in memory. Of an attempt's outbox row only the open one is ever read, and that is hot. */
export const keysOfTask = (rows: WorkingSet, { run_id, task_key }: TaskName): readonly KeyedRow[] =>
  rows.isRunOpen(run_id) ? NONE : [keysOfRun(run_id), { table: 'tasks', key: [run_id, task_key] }]

const NONE: readonly never[] = []

export const keysOfAttemptEnd = (rows: WorkingSet, task: TaskName, hints: Hints): readonly KeyedRow[] => [
  ...keysOfTask(rows, task),
  ...keysOfPartitions(rows, task, hints),
]

function runOf(rows: WorkingSet, { run_id }: TaskName): RunRow {
  const run = rows.get('runs', run_id)
  assert(run, `A task of run ${run_id} has no run.`)
  return run
}

/** The task, if this is its active attempt. What is not the active attempt any more is answered in a fixed order. */
function activeTask(rows: WorkingSet, name: AttemptName, without: 'BASIS_MISSING' | 'UNKNOWN_ENTITY'): TaskRow | Refusal {
  const { run_id, task_key, attempt, attempt_id, execution_id } = name
  const task = rows.get('tasks', run_id, task_key)
  if (task === undefined) return refusal(without, { run_id, task_key })
  if (attempt > task.attempt)
    return refusal(without === 'BASIS_MISSING' ? without : 'STALE_BASIS', { run_id, task_key, attempt: task.attempt })
  if (attempt < task.attempt || attempt_id !== task.attempt_id) return refusal('STALE_ATTEMPT', { run_id, task_key, attempt: task.attempt })
  if (!isActive(task.state)) return refusal('ATTEMPT_OVER', { run_id, task_key, task_state: task.state })
  const isOther = execution_id !== undefined && task.execution_id !== null && task.execution_id !== execution_id
  return isOther ? refusal('OTHER_EXECUTION', { run_id, task_key, execution_id: task.execution_id }) : task
}

const isRefused = (task: TaskRow | Refusal): task is Refusal => 'reason' in task

const illegal = (task: TaskRow): Refusal =>
  refusal('ILLEGAL_TRANSITION', { run_id: task.run_id, task_key: task.task_key, task_state: task.state })

export function foldDispatchRequested(
  rows: WorkingSet,
  { payload, basis }: EventOf<'DispatchRequested'>,
  moment: Moment,
): Refusal | undefined {
  const { run_id, task_key, attempt, attempt_id, location_name, worker_queue } = payload
  const task = rows.get('tasks', run_id, task_key)
  if (task === undefined) return refusal('UNKNOWN_ENTITY', { run_id, task_key })
  const run = runOf(rows, payload)
  const { state: run_state } = run
  if (run_state === 'CANCELLING' || isOver(run_state)) return refusal('TERMINAL', { run_id, run_state })
  const isStale =
    task.state !== basis.task_state ||
    task.attempt !== basis.previous_attempt ||
    task.definition_hash !== basis.definition_hash ||
    attempt !== task.attempt + 1
  if (isStale) return refusal('STALE_BASIS', { run_id, task_key, task_state: task.state, attempt: task.attempt })
  const isAllowed = nextStates(TASK_MACHINE, task.state, 'DISPATCHED').length > 0
  if (!isAllowed || (task.retry_at !== null && task.retry_at > moment.at)) return illegal(task)
  const source = poolSourceOf(rows)
  const pool_keys = dispatchPoolKeys(task, location_name, cappedTagsOf(source, run))
  const full = fullPool(source, pool_keys)
  if (full !== undefined) return full
  const prefetched = isWithoutSlot(source, location_name)

  const dispatched_at = endOf(task, moment)
  const dispatched = moveTask(
    rows,
    task,
    'DISPATCHED',
    'DISPATCHED',
    {
      attempt,
      attempt_id,
      location_name,
      worker_queue,
      pool_keys,
      dispatched_at,
      // An attempt that has not started has nothing of what the one before it had, but for how that one ended.
      execution_id: null,
      worker_id: null,
      started_at: null,
      last_heartbeat_at: null,
      heartbeat_seq: null,
      progress: null,
      // One that waits for a slot is taken back before: its worker lives, and is busy.
      start_deadline_at: moment.at + task.start_timeout_ms + (prefetched ? PREFETCH_WAIT_MS_MAX : 0),
      retry_at: null,
      attempt_ended_at: null,
    },
    moment,
  )
  enterPools(rows, dispatched, moment)
  rows.put('dispatch_outbox', newOutboxRow(payload, prefetched, dispatched_at, moment))
  return undefined
}

export function foldDispatchEnqueued(rows: WorkingSet, { payload }: EventOf<'DispatchEnqueued'>, moment: Moment): Refusal | undefined {
  const task = activeTask(rows, payload, 'BASIS_MISSING')
  if (isRefused(task)) return task
  // Once the task runs, its outbox row is closed, and may have left memory.
  if (task.state !== 'DISPATCHED') return illegal(task)
  const outbox = openOutboxRow(rows, task)
  const status = nextStates(OUTBOX_MACHINE, outbox.status, 'ENQUEUED')[0]
  if (status === undefined) return illegal(task)
  const enqueued_at = notBefore(moment, outbox.requested_at)
  rows.put('dispatch_outbox', { ...outbox, status, port: payload.port, enqueued_at, last_event_id: moment.event_id })
  return undefined
}

export function foldTaskStarted(rows: WorkingSet, { payload }: EventOf<'TaskStarted'>, moment: Moment): Refusal | undefined {
  const task = activeTask(rows, payload, 'BASIS_MISSING')
  if (isRefused(task)) return task
  if (nextStates(TASK_MACHINE, task.state, 'STARTED').length === 0) return illegal(task)
  const started_at = notBefore(moment, task.dispatched_at, closeOutbox(rows, task, 'STARTED', 'STARTED', moment))
  const { execution_id, worker_id } = payload
  const changes = {
    execution_id,
    worker_id,
    code_version: payload.code_version ?? task.code_version,
    started_at,
    start_deadline_at: null,
    heartbeat_deadline_at: heartbeatDeadline(task, moment.at),
    timeout_at: timeoutOf(task, moment.at),
  }
  moveTask(rows, task, 'STARTED', 'RUNNING', changes, moment)
  startRun(rows, runOf(rows, payload), started_at, moment)
  return undefined
}

export function foldTaskHeartbeat(rows: WorkingSet, { payload }: EventOf<'TaskHeartbeat'>, moment: Moment): Refusal | undefined {
  const task = activeTask(rows, payload, 'BASIS_MISSING')
  if (isRefused(task)) return task
  if (task.state !== 'RUNNING') return illegal(task)
  // Overtaken by a later beat.
  if (task.heartbeat_seq !== null && payload.seq <= task.heartbeat_seq) return undefined
  rows.put('tasks', {
    ...task,
    last_heartbeat_at: notBefore(moment, task.started_at, task.last_heartbeat_at),
    heartbeat_seq: payload.seq,
    progress: payload.progress ?? task.progress,
    heartbeat_deadline_at: heartbeatDeadline(task, moment.at),
    last_event_id: moment.event_id,
  })
  return undefined
}

/** How an attempt ended, and what that makes of its task. */
type Ending = {
  readonly by: TaskCause
  readonly state: TaskState
  readonly changes: Partial<TaskRow>
  /** How long it had a slot, as its worker measured it. */
  readonly slot_ms?: number | undefined
  /** What it says of its partitions; null: nothing, because the attempt was taken back before anybody began it. */
  readonly attempt: AttemptEnd | null
  /** Left out of a success. */
  readonly failure?: AttemptFailure
}

export function foldTaskFinished(rows: WorkingSet, { payload }: EventOf<'TaskFinished'>, moment: Moment): Refusal | undefined {
  const task = activeTask(rows, payload, 'BASIS_MISSING')
  if (isRefused(task)) return task
  const ended_at = notBefore(moment, endOf(task, moment), closeOutbox(rows, task, 'FINISHED', 'FINISHED', moment))
  const run = payload.withdrawn === true ? runOf(rows, payload) : startRun(rows, runOf(rows, payload), ended_at, moment)
  endAttempt(rows, run, task, { ...finishOf(task, payload, moment), slot_ms: payload.slot_ms }, ended_at, moment)
  return undefined
}

function finishOf(task: TaskRow, payload: EventOf<'TaskFinished'>['payload'], moment: Moment): Ending {
  const { outcome, execution_id } = payload
  const code_version = payload.code_version ?? task.code_version
  const metadata = payload.metadata ?? null
  const error = storedError(payload.error)
  const attempt: AttemptEnd = { outcome, error_code: error?.code ?? null, materialization: null }
  // A finish may come before the start, which is refused then: the finish says who ran it.
  switch (outcome) {
    case 'SUCCEEDED': {
      const { materialization_id, data_version = null } = payload
      assert(materialization_id !== undefined, 'A success without a materialization does not parse.')
      const materialization = { materialization_id, code_version, data_version }
      const changes = { execution_id, code_version, metadata, error, materialization_id, outcome_reason: null }
      return {
        by: 'FINISHED_SUCCEEDED',
        state: 'SUCCEEDED',
        changes,
        attempt: { outcome, error_code: attempt.error_code, materialization },
      }
    }
    case 'SKIPPED': {
      const skip_reason = payload.skip_reason ?? null
      const changes = { execution_id, code_version, metadata, error, skip_reason, outcome_reason: 'WORKER_SKIPPED' }
      return { by: 'FINISHED_SKIPPED', state: 'SKIPPED', changes, attempt, failure: { outcome, reason: skip_reason, error, execution_id } }
    }
    case 'CANCELLED': {
      // What was taken back ended with its run, as what was never dispatched does: no worker ran it.
      if (payload.withdrawn === true) {
        const failure: AttemptFailure = { outcome, reason: 'RUN_CANCELLED', error }
        return { by: 'FINISHED_CANCELLED', state: 'CANCELLED', changes: { error, outcome_reason: failure.reason }, attempt, failure }
      }
      const failure: AttemptFailure = { outcome, reason: 'WORKER_CANCELLED', error, execution_id }
      const changes = { execution_id, code_version, metadata, error, outcome_reason: failure.reason }
      return { by: 'FINISHED_CANCELLED', state: 'CANCELLED', changes, attempt, failure }
    }
    case 'FAILED': {
      const { state, failures, retry_at } = afterFailure(task, error?.retryable !== false, payload.retry_after_seconds, moment)
      const changes = { execution_id, code_version, metadata, error, failures, retry_at, outcome_reason: 'ERROR' }
      return { by: 'FINISHED_FAILED', state, changes, attempt, failure: { outcome, reason: null, error, execution_id } }
    }
  }
}

export function foldAttemptLost(rows: WorkingSet, { payload, basis }: EventOf<'AttemptLost'>, moment: Moment): Refusal | undefined {
  const task = activeTask(rows, payload, 'UNKNOWN_ENTITY')
  if (isRefused(task)) return task
  const { reason } = payload
  const deadline = lostDeadline(task, reason)
  const basisDeadline = basis.deadline_at === undefined ? null : instantMs(basis.deadline_at)
  const isStale = task.state !== basis.task_state || (reason !== 'HANDOVER_REFUSED' && (deadline === null || deadline !== basisDeadline))
  if (isStale) {
    return refusal('STALE_BASIS', { run_id: task.run_id, task_key: task.task_key, task_state: task.state, deadline_at: deadline })
  }
  const isRefusedByWorker = reason === 'HANDOVER_REFUSED' && payload.withdrawn !== true
  const close_reason = payload.withdrawn === true ? 'WITHDRAWN' : reason
  const closed_at = closeOutbox(rows, task, isRefusedByWorker ? 'HANDOVER_REFUSED' : 'LOST', close_reason, moment)
  const ended_at = notBefore(moment, endOf(task, moment), closed_at)
  endAttempt(rows, runOf(rows, payload), task, lossOf(task, payload, moment), ended_at, moment)
  return undefined
}

type LossReason = EventOf<'AttemptLost'>['payload']['reason']

/** The deadline that this reason is about, as the row has it now: a beat may have moved it. */
function lostDeadline(task: TaskRow, reason: LossReason): number | null {
  switch (reason) {
    case 'START_DEADLINE':
      return task.start_deadline_at
    case 'HEARTBEAT':
      return task.heartbeat_deadline_at
    case 'TIMEOUT':
      return task.timeout_at
    case 'CANCEL_GRACE':
      return task.cancel_deadline_at
    case 'HANDOVER_REFUSED':
      return null
  }
}

function lossOf(task: TaskRow, payload: EventOf<'AttemptLost'>['payload'], moment: Moment): Ending {
  const { reason } = payload
  if (payload.withdrawn === true) {
    const { state, ...counted } = afterLoss(task, payload, moment)
    const failure: AttemptFailure = { outcome: 'LOST', reason: 'WITHDRAWN', error: null }
    return { by: `LOST_${reason}`, state, changes: { outcome_reason: failure.reason, ...counted }, attempt: null, failure }
  }
  const error = storedError(payload.error)
  const outcome_reason = payload.released === true ? 'RELEASED' : reason
  const error_code = error?.code ?? outcome_reason
  const failure: AttemptFailure = { outcome: 'LOST', reason: outcome_reason, error }
  if (reason === 'CANCEL_GRACE') {
    const attempt: AttemptEnd = { outcome: 'CANCELLED', error_code, materialization: null }
    return { by: 'LOST_CANCEL_GRACE', state: 'CANCELLED', changes: { error, outcome_reason }, attempt, failure }
  }
  const attempt: AttemptEnd = { outcome: 'FAILED', error_code, materialization: null }
  const { state, ...counted } = afterLoss(task, payload, moment)
  return { by: `LOST_${reason}`, state, changes: { error, outcome_reason, ...counted }, attempt, failure }
}

/** How long the attempt had a slot of its location. What its worker says includes the question whether it may start, of which the
 *  API's instants see a part. One that was taken back waited in vain for a slot, and counts as the longest wait: the location is
 *  prefetched less until short attempts outweigh it. null: it was never said to have begun. */
function slotMs({ started_at }: TaskRow, { attempt, slot_ms }: Ending, ended_at: number): number | null {
  if (attempt === null) return PREFETCH_WAIT_MS_MAX
  if (started_at === null) return null
  return slot_ms ?? ended_at - started_at
}

/** The run comes last: with its last task over, its rows leave memory. */
function endAttempt(rows: WorkingSet, run: RunRow, task: TaskRow, ending: Ending, ended_at: number, moment: Moment): void {
  const { by, state, changes, attempt, failure } = ending
  leavePools(rows, task, slotMs(task, ending, ended_at), moment)
  if (attempt !== null) recordAttemptEnd(rows, task, attempt, ended_at, moment)
  if (failure !== undefined) recordFailedAttempt(rows, task, failure, ended_at, moment)
  if (!isOver(state)) {
    moveTask(rows, task, by, state, { ...changes, attempt_ended_at: ended_at }, moment, NO_ATTEMPT_DEADLINES)
    return
  }
  const ended = endTask(rows, task, by, state, changes, moment, ended_at)
  countEnded(rows, run, resolveEdges(rows, [ended], moment), moment)
}
