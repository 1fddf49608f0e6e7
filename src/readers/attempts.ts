// Lists the attempts of a run: those that did not succeed, which have rows of their own, and the newest of each task, which
// is in the task's row.

import { compareText } from '../core/order.js'
import type { FailedAttemptRow, TaskRow } from '../projections/run-table.js'
import { isActive } from '../projections/state-machine.js'
import type { Condition } from '../tables/table-files.js'
import { findTask } from './found.js'
import { type NotFound, notFound } from './not-found.js'
import type { View } from './reader.js'

/** As it is stored. */
export type FailedAttempt = FailedAttemptRow

export type Attempt = Pick<
  FailedAttemptRow,
  'run_id' | 'task_key' | 'attempt' | 'attempt_id' | 'execution_id' | 'worker_id' | 'reason' | 'error' | 'started_at'
> & {
  /** How it ended, or that it is with a worker, or on its way to one. */
  readonly state: FailedAttemptRow['outcome'] | 'SUCCEEDED' | 'DISPATCHED' | 'RUNNING'
  readonly dispatched_at: number | null
  readonly finished_at: number | null
}

/** task_key and attempt. */
export type AttemptPlace = readonly [string, number]

type AttemptQuery = {
  readonly run_id: string
  readonly task_key: string | undefined
  readonly after: AttemptPlace | undefined
  readonly limit: number
}

type AttemptPage = { readonly attempts: readonly Attempt[]; readonly next: AttemptPlace | undefined }

/** In the order of task and attempt. */
export async function readAttempts(view: View, { run_id, task_key, after, limit }: AttemptQuery): Promise<AttemptPage> {
  const where: readonly Condition[] = [
    { column: 'run_id', is: '=', value: run_id },
    ...(task_key === undefined ? [] : [{ column: 'task_key', is: '=', value: task_key } as const]),
  ]
  // The task of the last attempt that was shown may have a later one. It is one row more than a page needs.
  const tried: readonly Condition[] = [
    ...where,
    { column: 'attempt', is: '>', value: 0 },
    ...(after === undefined ? [] : [{ column: 'task_key', is: '>=', value: after[0] } as const]),
  ]
  const [failed, tasks] = await Promise.all([
    view.page('failed_attempts', { where, limit: limit + 1, ...(after === undefined ? {} : { after: [run_id, ...after] }) }),
    view.page('tasks', { where: tried, limit: limit + 2 }),
  ])
  const failures = (failed.rows as readonly FailedAttemptRow[]).map(attemptOfFailure)
  const newest = (tasks.rows as readonly TaskRow[]).map(attemptOfTask)
  // Beyond the end of a page that is full, the other one may lack what belongs between.
  const ends = [failed.is_last ? undefined : placeOf(failures.at(-1)), tasks.is_last ? undefined : placeOf(newest.at(-1))]
  const isWithin = (place: AttemptPlace) =>
    (after === undefined || comparePlaces(place, after) > 0) && ends.every((end) => end === undefined || comparePlaces(place, end) <= 0)
  const known = new Set(failures.map(textOf))
  const found = [...failures, ...newest.filter((attempt) => !known.has(textOf(attempt)))]
    .filter((attempt) => isWithin(placeOf(attempt)))
    .sort((left, right) => comparePlaces(placeOf(left), placeOf(right)))
  const attempts = found.slice(0, limit)
  return { attempts, next: found.length > limit ? placeOf(attempts.at(-1)) : undefined }
}

type AttemptName = {
  readonly run_id: string
  readonly task_key: string
  /** undefined: the newest. */
  readonly attempt: number | undefined
}

type FoundAttempt = {
  readonly attempt: number
  readonly attempt_id: string
  /** Why it ended; undefined: it succeeded, is not over, or ended before fold version 5. */
  readonly failure: FailedAttempt | undefined
}

export async function findAttempt(
  view: View | undefined,
  { run_id, task_key, attempt: named }: AttemptName,
): Promise<FoundAttempt | NotFound> {
  const found = await findTask(view, run_id, task_key)
  if ('problem' in found) return found
  const { task } = found
  const attempt = named ?? task.attempt
  const key = [run_id, task_key, attempt]
  const [failure, dispatch] = await Promise.all([found.view.row('failed_attempts', key), found.view.row('dispatch_outbox', key)])
  // The outbox forgets attempts after a while.
  const attempt_id = attempt === task.attempt ? task.attempt_id : (failure?.attempt_id ?? dispatch?.attempt_id)
  if (typeof attempt_id === 'string') return { attempt, attempt_id, failure }
  return notFound(
    attempt === 0
      ? `${task_key} has no attempt yet, and so no log.`
      : `${task_key} has no attempt ${attempt}; the newest is ${task.attempt}.`,
  )
}

function placeOf(attempt: Attempt): AttemptPlace
function placeOf(attempt: Attempt | undefined): AttemptPlace | undefined
function placeOf(attempt: Attempt | undefined): AttemptPlace | undefined {
  return attempt === undefined ? undefined : [attempt.task_key, attempt.attempt]
}

const textOf = ({ task_key, attempt }: Attempt): string => `${task_key}/${attempt}`

const comparePlaces = (left: AttemptPlace, right: AttemptPlace): number => compareText(left[0], right[0]) || left[1] - right[1]

const attemptOfFailure = ({ outcome, ...row }: FailedAttemptRow): Attempt => ({
  run_id: row.run_id,
  task_key: row.task_key,
  attempt: row.attempt,
  attempt_id: row.attempt_id,
  execution_id: row.execution_id,
  worker_id: row.worker_id,
  state: outcome,
  reason: row.reason,
  error: row.error,
  dispatched_at: row.dispatched_at,
  started_at: row.started_at,
  finished_at: row.finished_at,
})

/** Of an attempt that ended without a success before fold version 5, the task's row says as much as there is. */
function attemptOfTask(task: TaskRow): Attempt {
  const state = isActive(task.state) || task.state === 'SUCCEEDED' ? (task.state as Attempt['state']) : outcomeOf(task)
  const isEnded = !isActive(task.state)
  return {
    run_id: task.run_id,
    task_key: task.task_key,
    attempt: task.attempt,
    attempt_id: task.attempt_id ?? '',
    execution_id: task.execution_id,
    worker_id: task.worker_id,
    state,
    reason: isEnded && state !== 'FAILED' ? (task.skip_reason ?? task.outcome_reason) : null,
    error: isEnded ? task.error : null,
    dispatched_at: task.dispatched_at,
    started_at: task.started_at,
    finished_at: task.finished_at,
  }
}

const OUTCOMES: Readonly<Record<string, FailedAttemptRow['outcome']>> = {
  ERROR: 'FAILED',
  WORKER_SKIPPED: 'SKIPPED',
  WORKER_CANCELLED: 'CANCELLED',
  RUN_CANCELLED: 'CANCELLED',
}

const outcomeOf = ({ outcome_reason }: TaskRow): FailedAttemptRow['outcome'] => OUTCOMES[outcome_reason ?? ''] ?? 'LOST'
