// Why a task is not running, in words: from its row, and from the rows of what it waits for. Pure. Instants in sentences
// are those of RFC 3339, so that whoever shows them can bring them into local time.

import { poolKeyOfLocation } from '../../core/ids.js'
import { PREFETCH_WAIT_MS_MAX } from '../../core/limits.js'
import { instantText } from '../../core/time.js'
import type { CodeLocationRow } from '../../projections/asset-table.js'
import { isDue } from '../../projections/dispatch-order.js'
import type { DispatchOutboxRow, RunRow, TaskRow } from '../../projections/run-table.js'
import { isOver } from '../../projections/state-machine.js'
import { fullText, isFull, nextText, type Room } from './no-room.js'
import { howItEnded, lastAttempt, named, plain, WRONG_WAY } from './words.js'
import { type WorkerState, workerProblem } from './worker.js'

export const WHY_CODES = [
  'RUN_PENDING',
  'RUN_WITHOUT_TASKS',
  'BEING_PLANNED',
  'UPSTREAM',
  'RETRY_LATER',
  'LOCATION_GONE',
  'NO_ROOM',
  'NEXT_TURN',
  'NOT_HANDED_OVER',
  'PREFETCHED',
  'NOT_STARTED',
  'CANCELLING',
  'RUNNING',
  'OVER',
] as const
type WhyCode = (typeof WHY_CODES)[number]

export type UpstreamTask = Pick<TaskRow, 'task_key' | 'state'>

export type WhyRows = {
  readonly run: RunRow
  /** undefined: the run has none yet, or never will. */
  readonly task: TaskRow | undefined
  /** Those whose success is missing, whatever they are now. */
  readonly upstream: readonly UpstreamTask[]
  /** Of the newest attempt. */
  readonly outbox: DispatchOutboxRow | undefined
  /** Where the asset is served now. */
  readonly location_name: string
  readonly location: CodeLocationRow | undefined
  readonly pools: readonly Room[]
  /** Tasks that are due, need a pool that is full for this one too, and go first. */
  readonly waiting_before: number
  /** Until when the newest revision acts on no deadline; null: it does. */
  readonly hold_until: number | null
}

export type Why = {
  readonly code: WhyCode
  readonly sentence: string
  /** When it came to be so; null where no row says it. */
  readonly since_at: number | null
  /** When it changes by itself: a retry, or a deadline. */
  readonly due_at: number | null
  readonly upstream: readonly UpstreamTask[]
  readonly full_pools: readonly Room[]
  readonly waiting_before: number | null
  /** What is wrong with the worker; null: it was not asked, or nothing is known to be wrong. */
  readonly worker_problem: string | null
}

type Said = Pick<Why, 'code' | 'sentence'> & Partial<Why>
const NOTHING_ELSE = { since_at: null, due_at: null, upstream: [], full_pools: [], waiting_before: null, worker_problem: null } as const

/** Codes of tasks that depend on their worker. */
const ASKED: readonly WhyCode[] = ['RETRY_LATER', 'NO_ROOM', 'NEXT_TURN', 'NOT_HANDED_OVER', 'PREFETCHED', 'NOT_STARTED', 'RUNNING']

/** The URL of the worker to ask; undefined: the task waits for something else. */
export function workerToAsk(rows: WhyRows, now: number): string | undefined {
  return ASKED.includes(sayingOf(rows, now).code) ? rows.location?.worker_url : undefined
}

/** `worker`: its answer; undefined: it was not asked. */
export function whyOf(rows: WhyRows, now: number, worker?: WorkerState): Why {
  const said = { ...NOTHING_ELSE, ...sayingOf(rows, now) }
  if (worker === undefined || rows.location === undefined || !ASKED.includes(said.code)) return said
  const worker_problem = workerProblem(rows.location, worker, { waits: waitsForWorker(said, rows.location_name) })
  if (worker_problem === null) return said
  return { ...said, sentence: `${sayingOf({ ...rows, worker_problem }, now).sentence} ${worker_problem}`, worker_problem }
}

/** A full pool of another kind is emptied by other workers too. */
function waitsForWorker({ code, full_pools }: Pick<Why, 'code' | 'full_pools'>, location_name: string): boolean {
  if (code === 'NO_ROOM') return full_pools.some(({ pool_key }) => pool_key === poolKeyOfLocation(location_name))
  return code !== 'RUNNING' && code !== 'NEXT_TURN'
}

/** With a known problem of the worker the sentence leaves out what may be wrong with it. */
type Known = WhyRows & { readonly worker_problem?: string }

function sayingOf(rows: Known, now: number): Said {
  const { run, task } = rows
  if (task === undefined) return withoutTask(run)
  if (isOver(task.state))
    return { code: 'OVER', sentence: howItEnded(task, task.state, rows), since_at: task.finished_at, upstream: rows.upstream }
  if (run.state === 'CANCELLING' || task.cancel_requested_at !== null) return cancelling(run, task)
  switch (task.state) {
    case 'PLANNED':
      return { code: 'BEING_PLANNED', sentence: `${task.task_key} is being planned. The next turn makes it ready.` }
    case 'BLOCKED':
      return blocked(task, rows.upstream)
    case 'READY':
    case 'RETRY_WAIT':
      return isDue(task, now) ? due(task, rows) : retryLater(task, rows)
    case 'DISPATCHED':
      return dispatched(task, rows, givenUpAt(rows, now))
    case 'RUNNING':
      return running(task, givenUpAt(rows, now))
  }
}

type GivenUp = (deadline_at: number) => { readonly at: number; readonly held: string }

/** A deadline that falls into a hold is acted on at its end: whoever was not heard has a moment to speak. */
const givenUpAt =
  ({ hold_until }: WhyRows, now: number): GivenUp =>
  (deadline_at) =>
    hold_until === null || hold_until <= now || deadline_at >= hold_until
      ? { at: deadline_at, held: '' }
      : { at: hold_until, held: ' Deadlines are held back until then, because workers could not be heard for a while.' }

const TURNS = 'If that takes longer than a few seconds, `servo doctor` says whether the automation runs'

function withoutTask(run: RunRow): Said {
  if (isOver(run.state)) {
    const error = run.error === null ? '' : `: ${plain(run.error.message)}`
    return {
      code: 'RUN_WITHOUT_TASKS',
      sentence: `Run ${run.run_id} has no tasks. It is over, ${run.state}${error}.`,
      since_at: run.finished_at,
    }
  }
  return {
    code: 'RUN_PENDING',
    sentence: `Run ${run.run_id} is ${run.state} since ${instantText(run.requested_at)}: the next turn plans its tasks. ${TURNS}.`,
    since_at: run.requested_at,
  }
}

function cancelling(run: RunRow, task: TaskRow): Said {
  const since_at = task.cancel_requested_at ?? run.cancel_requested_at
  const since = since_at === null ? '' : ` since ${instantText(since_at)}`
  // The grace is not held back, whatever else is.
  const due_at = task.cancel_deadline_at
  const end = due_at === null ? '' : ` At ${instantText(due_at)} it is given up as CANCELLED.`
  return {
    code: 'CANCELLING',
    sentence: `Run ${run.run_id} is being cancelled${since}, and ${task.task_key} is ${task.state}: ${task.state === 'DISPATCHED' ? 'the attempt is taken back, unless a worker has it already' : 'its worker is told to stop, at the latest with the answer to its next heartbeat'}.${end}`,
    since_at,
    due_at,
  }
}

const blocked = (task: TaskRow, upstream: readonly UpstreamTask[]): Said => ({
  code: 'UPSTREAM',
  sentence: `${task.task_key} waits for ${named(upstream)}. ${task.deps_satisfied_count} of the ${task.deps_total} tasks that it needs succeeded.`,
  upstream,
})

function retryLater(task: TaskRow, { outbox }: WhyRows): Said {
  const at = task.retry_at === null ? '' : ` at ${instantText(task.retry_at)}`
  return { code: 'RETRY_LATER', sentence: `${task.task_key} is tried again${at}. ${lastAttempt(task, outbox)}`, due_at: task.retry_at }
}

function due(task: TaskRow, { location_name, location, pools, waiting_before }: WhyRows): Said {
  const since_at = task.state === 'READY' ? task.ready_at : task.retry_at
  if (location === undefined) {
    const sentence = `${task.task_key} is ready, and the code location ${location_name} that serves it is gone. Deploy it again.`
    return { code: 'LOCATION_GONE', sentence, since_at }
  }
  const full_pools = pools.filter(isFull)
  const since = since_at === null ? '' : ` since ${instantText(since_at)}`
  if (full_pools.length === 0) {
    return {
      code: 'NEXT_TURN',
      sentence: `${task.task_key} is ready${since}, and there is room: the next turn dispatches it. ${TURNS}.`,
      since_at,
    }
  }
  return {
    code: 'NO_ROOM',
    sentence: `${task.task_key} is ready${since}, and there is no room for it: ${fullText(full_pools)}. ${nextText(full_pools, waiting_before)}.`,
    since_at,
    full_pools,
    waiting_before,
  }
}

function dispatched(task: TaskRow, { outbox, location, location_name, worker_problem }: Known, givenUp: GivenUp): Said {
  const since_at = task.dispatched_at
  if (outbox?.prefetched === true && since_at !== null) return prefetched(task, since_at, workerOf(location, location_name))
  const since = since_at === null ? '' : ` since ${instantText(since_at)}`
  const deadline = task.start_deadline_at === null ? null : givenUp(task.start_deadline_at)
  const end = deadline === null ? '' : ` If it has not started by ${instantText(deadline.at)}, the attempt is given up.${deadline.held}`
  return {
    code: outbox?.status === 'ACKED' ? 'NOT_STARTED' : 'NOT_HANDED_OVER',
    sentence: `Attempt ${task.attempt} of ${task.task_key} is dispatched${since}, and ${whereItIs(outbox, workerOf(location, location_name), worker_problem)}.${end}`,
    since_at,
    due_at: deadline?.at ?? null,
  }
}

const workerOf = (location: CodeLocationRow | undefined, location_name: string): string =>
  location === undefined ? `the worker of ${location_name}` : `the worker of ${location_name} at ${location.worker_url}`

/** It has places in pools, and no slot yet. */
function prefetched({ task_key, attempt, location_name }: TaskRow, since_at: number, worker: string): Said {
  const due_at = since_at + PREFETCH_WAIT_MS_MAX
  return {
    code: 'PREFETCHED',
    sentence: `Attempt ${attempt} of ${task_key} was dispatched ahead at ${instantText(since_at)}, while all slots of ${location_name} were taken: ${worker} starts it as soon as one is free. If none is by ${instantText(due_at)}, the attempt is taken back and ${task_key} waits for its turn again, which counts as no try.`,
    since_at,
    due_at,
  }
}

/** Whoever took it is a worker or a queue. Until it is taken no row says by which way it goes. */
function whereItIs(outbox: DispatchOutboxRow | undefined, worker: string, worker_problem: string | undefined): string {
  if (outbox?.status !== 'ACKED' && worker_problem !== undefined)
    return 'nobody is known to have taken it yet, and it is sent again and again'
  if (outbox?.status !== 'ACKED')
    return `nobody is known to have taken it yet: ${worker} may be busy or not there, and the attempt is sent again and again. See whether the worker runs; if it does, ${WRONG_WAY}`
  if (outbox.port === 'CLOUD_TASKS')
    return `the queue has taken it and it has not started: ${worker} may be busy or not there, and the queue delivers it until it is taken. See whether the worker runs`
  return `${worker} has taken it and has not started its code`
}

function running(task: TaskRow, givenUp: GivenUp): Said {
  const since = task.started_at === null ? '' : ` since ${instantText(task.started_at)}`
  const worker = task.worker_id === null ? '' : ` on worker ${task.worker_id}`
  const hasBeat = task.last_heartbeat_at !== null
  const beat = task.last_heartbeat_at === null ? '' : ` Its last heartbeat was at ${instantText(task.last_heartbeat_at)}.`
  const silent = task.heartbeat_deadline_at === null ? null : givenUp(task.heartbeat_deadline_at)
  const silence =
    silent === null
      ? ''
      : ` Without ${hasBeat ? 'another' : 'a heartbeat'} by ${instantText(silent.at)} the attempt is given up.${silent.held}`
  const limit = task.timeout_at === null ? null : givenUp(task.timeout_at)
  const timeout = limit === null ? '' : ` At ${instantText(limit.at)} it has run for as long as it may.${silent === null ? limit.held : ''}`
  return {
    code: 'RUNNING',
    sentence: `${task.task_key} is running: attempt ${task.attempt}${since}${worker}.${beat}${silence}${timeout}`,
    since_at: task.started_at,
    due_at: silent === null ? (limit?.at ?? null) : Math.min(silent.at, limit?.at ?? silent.at),
  }
}
