// What happened to a run, in order, as far as its rows say: rows keep the newest heartbeat alone. How an attempt ended that
// did not succeed is in a row of its own, or, where it ended before fold version 5, in the outbox. The times of rows of
// before that version may go back, and are shown as they are. Pure.

import { compareText } from '../core/order.js'
import type { RefusalRow } from '../projections/outcome-table.js'
import type { DispatchOutboxRow, FailedAttemptRow, RunRow, TaskRow } from '../projections/run-table.js'

type TimelineEntry = {
  readonly event_type: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly task_key?: string
  readonly attempt?: number
  readonly detail?: Readonly<Record<string, unknown>>
}

export type TimelineRows = {
  readonly run: RunRow
  readonly tasks: readonly TaskRow[]
  readonly outbox: readonly DispatchOutboxRow[]
  readonly failures: readonly FailedAttemptRow[]
  readonly refusals: readonly RefusalRow[]
}

/** What comes first of what happened to one task, or to the run, in the same millisecond. */
const ORDER = [
  'RunRequested',
  'PlanCreated',
  'PlanFailed',
  'DispatchRequested',
  'DispatchEnqueued',
  'TaskStarted',
  'TaskHeartbeat',
  'TaskFinished',
  'AttemptLost',
  'RunCancelRequested',
]

export function timelineOf({ run, tasks, outbox, failures, refusals }: TimelineRows): readonly TimelineEntry[] {
  const started = new Set(outbox.filter(({ close_reason }) => close_reason === 'STARTED').map(attemptText))
  const failed = new Set(failures.map(attemptText))
  const entries = [
    ...runEntries(run),
    ...outbox.flatMap(outboxEntries).filter((entry) => entry.event_type !== 'AttemptLost' || !isOf(failed, entry)),
    ...failures.flatMap((row) => failureEntries(row, started.has(attemptText(row)))),
    ...tasks.flatMap((task) => taskEntries(task, started.has(attemptText(task)), failed.has(attemptText(task)))),
    ...refusals.map(refusalEntry),
  ]
  const numbers = new Map(tasks.map(({ task_key, task_index }) => [task_key, task_index]))
  return entries.sort((left, right) => left.at - right.at || compareEntries(numbers, left, right))
}

const isOf = (attempts: ReadonlySet<string>, { task_key = '', attempt = 0 }: TimelineEntry): boolean =>
  attempts.has(attemptText({ task_key, attempt }))

const attemptText = ({ task_key, attempt }: { readonly task_key: string; readonly attempt: number }): string => `${task_key}/${attempt}`

/** No row says that something happened before its cause (I33), but both may have happened in one millisecond. A task needs none
 *  that comes after it in the plan, so all of one is before all of the next. */
function compareEntries(numbers: ReadonlyMap<string, number>, left: TimelineEntry, right: TimelineEntry): number {
  const placeOf = (entry: TimelineEntry): number => {
    if (isRefused(entry)) return Number.POSITIVE_INFINITY
    if (entry.task_key !== undefined) return numbers.get(entry.task_key) ?? Number.MAX_SAFE_INTEGER
    return entry.event_type === 'RunCancelRequested' ? Number.MAX_SAFE_INTEGER : -1
  }
  const [one, other] = [placeOf(left), placeOf(right)]
  return (
    (one === other ? 0 : one - other) ||
    (left.attempt ?? 0) - (right.attempt ?? 0) ||
    ORDER.indexOf(left.event_type) - ORDER.indexOf(right.event_type) ||
    compareText(left.task_key ?? '', right.task_key ?? '')
  )
}

/** What was refused may be of any kind, and comes last. */
const isRefused = ({ detail }: TimelineEntry): boolean => detail !== undefined && 'refused' in detail

function runEntries(run: RunRow): readonly TimelineEntry[] {
  const { requested_at, requested_by, planned_at, finished_at, error, tasks_total, cancel_requested_at, cancel_requested_by } = run
  const isPlanFailed = planned_at === null && finished_at !== null && error !== null
  return [
    { event_type: 'RunRequested', at: requested_at, detail: { asset_count: run.asset_count, ...by(requested_by) } },
    ...(planned_at === null ? [] : [{ event_type: 'PlanCreated', at: planned_at, detail: { tasks_total } }]),
    ...(isPlanFailed ? [{ event_type: 'PlanFailed', at: finished_at, detail: { error } }] : []),
    ...(cancel_requested_at === null
      ? []
      : [{ event_type: 'RunCancelRequested', at: cancel_requested_at, detail: by(cancel_requested_by) }]),
  ]
}

const by = (requested_by: string | null) => (requested_by === null ? {} : { requested_by })

const NOT_LOST = ['STARTED', 'FINISHED']

/** Of an attempt that never started, the loss is here; one that started and was lost is in the task's row, while it is the newest. */
function outboxEntries(row: DispatchOutboxRow): readonly TimelineEntry[] {
  const { task_key, attempt, requested_at, enqueued_at, port, closed_at, close_reason } = row
  const of = { task_key, attempt }
  const closed = closed_at === null || close_reason === null ? undefined : { at: closed_at, reason: close_reason }
  return [
    { ...of, event_type: 'DispatchRequested', at: requested_at },
    ...(enqueued_at === null ? [] : [{ ...of, event_type: 'DispatchEnqueued', at: enqueued_at, detail: { port } }]),
    ...(closed?.reason === 'STARTED' ? [{ ...of, event_type: 'TaskStarted', at: closed.at }] : []),
    ...(closed === undefined || NOT_LOST.includes(closed.reason)
      ? []
      : [{ ...of, event_type: 'AttemptLost', at: closed.at, detail: { reason: closed.reason } }]),
  ]
}

/** All of an attempt that did not succeed but its dispatch and its heartbeats. */
function failureEntries(row: FailedAttemptRow, isStartTold: boolean): readonly TimelineEntry[] {
  const { task_key, attempt, started_at, finished_at, outcome, reason, error } = row
  const of = { task_key, attempt }
  const why = { ...(reason === null ? {} : { reason }), ...(error === null ? {} : { error }) }
  return [
    ...(started_at === null || isStartTold ? [] : [{ ...of, event_type: 'TaskStarted', at: started_at }]),
    outcome === 'LOST'
      ? { ...of, event_type: 'AttemptLost', at: finished_at, detail: why }
      : { ...of, event_type: 'TaskFinished', at: finished_at, detail: { state: outcome, ...why } },
  ]
}

const LOSSES = ['HEARTBEAT', 'TIMEOUT', 'CANCEL_GRACE']

/** `isFailed`: its attempt has a row of its own, which says the rest. */
function taskEntries(task: TaskRow, isStartTold: boolean, isFailed: boolean): readonly TimelineEntry[] {
  const { task_key, attempt, started_at, last_heartbeat_at, finished_at, state, outcome_reason, error, progress } = task
  if (attempt === 0) return []
  const of = { task_key, attempt }
  const failed = error === null ? {} : { error }
  const isLost = outcome_reason !== null && LOSSES.includes(outcome_reason)
  // Not started, its loss is told by the outbox; ended with its run, nothing was said of it.
  const isFinished =
    !isFailed && finished_at !== null && (outcome_reason === null || outcome_reason.startsWith('WORKER_') || outcome_reason === 'ERROR')
  return [
    ...(started_at === null || isStartTold || isFailed ? [] : [{ ...of, event_type: 'TaskStarted', at: started_at }]),
    ...(last_heartbeat_at === null
      ? []
      : [{ ...of, event_type: 'TaskHeartbeat', at: last_heartbeat_at, detail: progress === null ? {} : { progress } }]),
    ...(isFinished ? [{ ...of, event_type: 'TaskFinished', at: finished_at, detail: { state, ...failed } }] : []),
    ...(isLost && !isFailed && finished_at !== null
      ? [{ ...of, event_type: 'AttemptLost', at: finished_at, detail: { reason: outcome_reason, ...failed } }]
      : []),
  ]
}

function refusalEntry({ event_type, refused_at, reason, detail, entity_kind, entity_id }: RefusalRow): TimelineEntry {
  const task_key = entity_kind === 'TASK' ? { task_key: entity_id.slice(entity_id.indexOf('/') + 1) } : {}
  return { event_type, at: refused_at, ...task_key, detail: { refused: reason, ...(detail === null ? {} : { because: detail }) } }
}
