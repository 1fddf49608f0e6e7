// Runs: requested once per run key, cancelled, and over when their last task is.

import { assert } from '../core/errors.js'
import { readTraceparent } from '../core/traceparent.js'
import type { EventOf } from '../events/event.js'
import { type FoldContext, liveRow, type Moment, notBefore, type Refusal, refusal } from './outcome.js'
import { runKeyExpiry } from './retention.js'
import type { RunRow, TaskRow } from './run-table.js'
import { isActive, isOver, nextStates, type OverState, RUN_MACHINE, type RunCause, type RunState, TASK_MACHINE } from './state-machine.js'
import type { KeyedRow } from './tables.js'
import { endTask, resolveEdges } from './task.js'
import { keysOfTrigger, recordRequest } from './triggers.js'
import type { WorkingSet } from './working-set.js'

type RunRequested = EventOf<'RunRequested'>

export const keysOfRun = (run_id: string): KeyedRow => ({ table: 'runs', key: [run_id] })

/** The run's own row too: where its derived key has expired, the run is still history. */
export function keysOfRunRequested(rows: WorkingSet, { payload }: RunRequested, hasRival: boolean): readonly KeyedRow[] {
  const { run_key, run_id, request_fingerprint } = payload
  const keys: KeyedRow[] = [keysOfRun(run_id), { table: 'run_key_index', key: [run_key] }, ...keysOfTrigger(payload.trigger)]
  const holder = rows.isKnown('run_key_index', [run_key]) ? rows.get('run_key_index', run_key) : undefined
  const mayConflict = hasRival || (holder !== undefined && holder.request_fingerprint !== request_fingerprint)
  if (mayConflict) keys.push({ table: 'run_key_conflicts', key: [run_key, request_fingerprint] })
  return keys
}

/** Who holds the run key is asked before anything else: it answers also for a request whose trigger was not applied. */
export function judgeRunKey(rows: WorkingSet, { payload }: RunRequested, context: FoldContext): 'free' | 'duplicate' | Refusal {
  const holder = liveRow(rows, context, 'run_key_index', payload.run_key)
  if (holder === undefined) return 'free'
  if (holder.request_fingerprint === payload.request_fingerprint) return 'duplicate'
  return refusal('RUN_KEY_CONFLICT', { run_key: payload.run_key, run_id: holder.run_id, request_fingerprint: holder.request_fingerprint })
}

/** One row for each other request that asked for the same key: the first run stands, and people can see both. */
export function recordRunKeyConflict(rows: WorkingSet, { payload }: RunRequested, moment: Moment): void {
  const { run_key, request_fingerprint } = payload
  const holder = liveRow(rows, moment.context, 'run_key_index', run_key)
  assert(holder, `The run key ${run_key} is in conflict with nothing.`)
  const known = rows.get('run_key_conflicts', run_key, request_fingerprint)
  // The same event may be stored twice, when its first segment was acknowledged late.
  if (known?.last_event_id === moment.event_id) return
  if (known !== undefined) {
    rows.put('run_key_conflicts', { ...known, seen_count: known.seen_count + 1, last_event_id: moment.event_id })
    return
  }
  rows.put('run_key_conflicts', {
    run_key,
    conflicting_fingerprint: request_fingerprint,
    run_id: holder.run_id,
    existing_fingerprint: holder.request_fingerprint,
    conflicting_event_id: moment.event_id,
    trigger: payload.trigger,
    assets: payload.assets,
    partitions: payload.partitions,
    tags: payload.tags,
    seen_count: 1,
    detected_at: notBefore(moment, holder.created_at),
    row_version: 0,
    last_event_id: moment.event_id,
  })
  recordRequest(rows, payload.trigger, { kind: 'conflicting' }, moment)
}

export function foldRunRequested(rows: WorkingSet, { payload, traceparent }: RunRequested, moment: Moment): Refusal | undefined {
  const { run_key, run_id, request_fingerprint } = payload
  const history = rows.get('runs', run_id)
  if (history !== undefined) return refusal(isOver(history.state) ? 'TERMINAL' : 'ILLEGAL_TRANSITION', { run_id, run_state: history.state })
  rows.put('runs', { ...newRun(payload, moment), traceparent: readTraceparent(traceparent) ?? null })
  rows.put('run_key_index', {
    run_key,
    run_id,
    request_fingerprint,
    request_event_id: moment.event_id,
    created_at: moment.at,
    expires_at: runKeyExpiry(run_key, moment.context.fold_time, moment.context.retention),
    row_version: 0,
    last_event_id: moment.event_id,
  })
  recordRequest(rows, payload.trigger, { kind: 'started', run_id }, moment)
  return undefined
}

const newRun = (payload: RunRequested['payload'], { at, event_id }: Moment): RunRow => ({
  run_id: payload.run_id,
  run_key: payload.run_key,
  secret_key_id: payload.secret_key_id,
  request_fingerprint: payload.request_fingerprint,
  request_event_id: event_id,
  trigger_type: payload.trigger.type,
  schedule_id: payload.trigger.schedule_id ?? null,
  tick_id: payload.trigger.tick_id ?? null,
  sensor_id: payload.trigger.sensor_id ?? null,
  eval_id: payload.trigger.eval_id ?? null,
  backfill_id: payload.trigger.backfill_id ?? null,
  chunk_index: payload.trigger.chunk_index ?? null,
  parent_run_id: payload.parent_run_id ?? null,
  root_run_id: payload.root_run_id ?? null,
  rerun_mode: payload.rerun_mode ?? null,
  requested_by: payload.requested_by ?? null,
  reason: payload.reason ?? null,
  assets: payload.assets,
  asset_count: 'keys' in payload.assets ? payload.assets.keys.length : payload.assets.list.count,
  partitions: payload.partitions,
  partition_end_offset: payload.partition_end_offset ?? null,
  tags: payload.tags,
  priority: payload.priority,
  definition_pins: payload.definition_pins ?? null,
  state: 'PENDING',
  error: null,
  requested_at: at,
  planned_at: null,
  started_at: null,
  finished_at: null,
  cancel_requested_at: null,
  cancel_requested_by: null,
  cancel_reason: null,
  traceparent: null,
  tasks_total: 0,
  tasks_open: 0,
  tasks_succeeded: 0,
  tasks_failed: 0,
  tasks_skipped: 0,
  tasks_cancelled: 0,
  row_version: 0,
  last_event_id: event_id,
})

export function foldRunCancelRequested(rows: WorkingSet, { payload }: EventOf<'RunCancelRequested'>, moment: Moment): Refusal | undefined {
  const { run_id } = payload
  const run = rows.get('runs', run_id)
  if (run === undefined) return refusal('UNKNOWN_ENTITY', { run_id })
  const state = nextStates(RUN_MACHINE, run.state, 'CANCEL_REQUESTED')[0]
  if (state === undefined) return refusal('TERMINAL', { run_id, run_state: run.state })
  if (state === run.state) return undefined
  const cancel_requested_by = payload.requested_by ?? null
  const cancel_reason = payload.reason ?? null
  const cancel_requested_at = notBefore(moment, run.requested_at)
  const finished_at = isOver(state) ? cancel_requested_at : null
  const cancelling = moveRun(
    rows,
    run,
    'CANCEL_REQUESTED',
    state,
    { cancel_requested_at, cancel_requested_by, cancel_reason, finished_at },
    moment,
  )
  if (!isOver(state)) countEnded(rows, cancelling, cancelTasks(rows, cancelling, moment), moment)
  return undefined
}

/** What has not been handed over ends at once; the others are asked to, and get a deadline for it. */
function cancelTasks(rows: WorkingSet, { run_id, planned_at, cancel_requested_at }: RunRow, moment: Moment): readonly TaskRow[] {
  const ended: TaskRow[] = []
  const ended_at = notBefore(moment, planned_at, cancel_requested_at)
  for (const task of rows.tasksOf(run_id)) {
    if (nextStates(TASK_MACHINE, task.state, 'RUN_CANCELLED').length > 0) {
      ended.push(
        endTask(rows, task, 'RUN_CANCELLED', 'CANCELLED', { cancel_requested_at, outcome_reason: 'RUN_CANCELLED' }, moment, ended_at),
      )
    } else if (isActive(task.state)) {
      const cancel_deadline_at = moment.at + task.cancel_grace_ms
      rows.put('tasks', { ...task, cancel_requested_at, cancel_deadline_at, last_event_id: moment.event_id })
    }
  }
  return resolveEdges(rows, ended, moment)
}

export function foldPlanFailed(rows: WorkingSet, { payload, basis }: EventOf<'PlanFailed'>, moment: Moment): Refusal | undefined {
  const run = rows.get('runs', payload.run_id)
  const stale = stalePlan(run, payload.run_id, basis.request_event_id)
  if (stale !== undefined || run === undefined) return stale
  moveRun(rows, run, 'PLAN_FAILED', 'FAILED', { error: payload.error, finished_at: notBefore(moment, run.requested_at) }, moment)
  return undefined
}

/** A plan is for the request that it read, as long as nobody has planned or cancelled the run. */
export function stalePlan(run: RunRow | undefined, run_id: string, request_event_id: string): Refusal | undefined {
  if (run === undefined) return refusal('UNKNOWN_ENTITY', { run_id })
  if (run.state === 'PENDING' && run.request_event_id === request_event_id) return undefined
  return refusal('STALE_BASIS', { run_id, run_state: run.state, request_event_id: run.request_event_id })
}

type RunChanges = Partial<Omit<RunRow, 'run_id' | 'run_key' | 'state' | 'row_version' | 'last_event_id'>>

export function moveRun(rows: WorkingSet, run: RunRow, by: RunCause, state: RunState, changes: RunChanges, moment: Moment): RunRow {
  assert(nextStates(RUN_MACHINE, run.state, by).includes(state), `A run moved from ${run.state} to ${state} by ${by}.`)
  const moved: RunRow = { ...run, ...changes, state, last_event_id: moment.event_id }
  rows.put('runs', moved)
  return moved
}

/** The run's first task is with a worker since then; by now the run may be cancelling. */
export function startRun(rows: WorkingSet, run: RunRow, task_at: number, moment: Moment): RunRow {
  const started_at = notBefore(moment, run.planned_at, task_at)
  if (run.state === 'PLANNED') return moveRun(rows, run, 'TASK_STARTED', 'RUNNING', { started_at }, moment)
  if (run.started_at !== null) return run
  const started: RunRow = { ...run, started_at, last_event_id: moment.event_id }
  rows.put('runs', started)
  return started
}

/** Counts tasks that are over now. With the last one the run is over, and its rows leave memory: put them before. */
export function countEnded(rows: WorkingSet, run: RunRow, ended: readonly TaskRow[], moment: Moment): void {
  if (ended.length === 0) return
  const count = (state: OverState) => ended.reduce((sum, task) => sum + (task.state === state ? 1 : 0), 0)
  const counted: RunRow = {
    ...run,
    tasks_open: run.tasks_open - ended.length,
    tasks_succeeded: run.tasks_succeeded + count('SUCCEEDED'),
    tasks_failed: run.tasks_failed + count('FAILED'),
    tasks_skipped: run.tasks_skipped + count('SKIPPED'),
    tasks_cancelled: run.tasks_cancelled + count('CANCELLED'),
    last_event_id: moment.event_id,
  }
  assert(counted.tasks_open >= 0, `The run ${run.run_id} counts ${counted.tasks_open} open tasks.`)
  if (counted.tasks_open > 0) rows.put('runs', counted)
  else moveRun(rows, counted, 'LAST_TASK_OVER', outcomeOf(counted), { finished_at: endOfRun(rows, run.run_id, moment) }, moment)
}

/** Not before the end of any of its tasks, whichever process said it. */
function endOfRun(rows: WorkingSet, run_id: string, { at }: Moment): number {
  let ended_at = at
  for (const { finished_at } of rows.tasksOf(run_id)) ended_at = Math.max(ended_at, finished_at ?? 0)
  return ended_at
}

function outcomeOf({ state, tasks_failed, tasks_cancelled }: RunRow): Exclude<OverState, 'SKIPPED'> {
  if (state === 'CANCELLING' && tasks_cancelled > 0) return 'CANCELLED'
  if (tasks_failed > 0) return 'FAILED'
  return tasks_cancelled > 0 ? 'CANCELLED' : 'SUCCEEDED'
}
