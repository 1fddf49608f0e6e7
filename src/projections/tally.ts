// What a publish made visible, counted from its rows as they were before and as they are now: states that runs and tasks
// reached, attempts that were lost, ticks that were decided, what was refused, how long dispatches took. It keeps nothing
// and names nobody.

import { REFUSAL_REASONS } from './outcome.js'
import { QUARANTINE_REASONS } from './outcome-table.js'
import type { DispatchOutboxRow, RunRow, TaskRow } from './run-table.js'
import type { ScheduleTickRow } from './schedule-table.js'
import { isOver } from './state-machine.js'
import type { Change, WorkingSet } from './working-set.js'

/** How often each value of a label was seen. */
type Counted = ReadonlyMap<string, number>

export type Tally = {
  /** By trigger. */
  readonly run_requests: Counted
  readonly runs: Counted
  /** By state, and why it was reached: `NONE` where there is no reason to give. */
  readonly tasks: readonly (TaskLabels & { readonly count: number })[]
  readonly attempts_lost: Counted
  /** By status; a row that counts skipped instants is as many. */
  readonly schedule_ticks: Counted
  /** Of each tick of the clock that ran or failed: from when it was due until this publish shows it. */
  readonly tick_delays_ms: readonly number[]
  /** But of heartbeats, which leave no row. */
  readonly refusals: Counted
  readonly quarantined: Counted
  readonly ready_to_dispatched_ms: readonly number[]
  readonly dispatched_to_started_ms: readonly number[]
}

type TaskLabels = { readonly state: string; readonly reason: string }

type TallyContext = {
  /** What is dispatched in this publish can be handed over from here on, epoch milliseconds. */
  readonly published_at: number
  /** When an earlier revision was published; undefined: it is not known any more. */
  readonly publishedAt: (sequence: number) => number | undefined
}

/** RELEASED: its worker ended and gave it back, which counts against nobody, and is seen all the same. */
const LOSS_REASONS = ['START_DEADLINE', 'HEARTBEAT', 'TIMEOUT', 'HANDOVER_REFUSED', 'RELEASED', 'CANCEL_GRACE'] as const
const isLoss = (reason: string | null): boolean => (LOSS_REASONS as readonly (string | null)[]).includes(reason)

/**
 * Between two publishes a task may be started, end and be dispatched again, and no more than that: what is dispatched is
 * published before it is handed over. So the instants and counts of its row tell all of it, and its outbox rows the rest.
 */
export function tallyOf(rows: Pick<WorkingSet, 'changesOf'>, context: TallyContext): Tally {
  const run_requests = createCount()
  const runs = createCount()
  const tasks = createCount()
  const attempts_lost = createCount()
  const refusals = createCount()
  const quarantined = createCount()
  const ready_to_dispatched_ms: number[] = []
  const dispatched_to_started_ms: number[] = []

  for (const change of rows.changesOf('runs')) {
    if (change.before === undefined) run_requests.add(change.after.trigger_type)
    for (const state of runStatesReached(change)) runs.add(state)
  }
  for (const change of rows.changesOf('tasks')) {
    for (const state of taskStatesReached(change)) tasks.add(taskLabel(state, NO_REASON))
    const end = attemptEnd(change)
    if (end !== undefined) tasks.add(taskLabel(end, change.after.outcome_reason ?? NO_REASON))
    if (end !== undefined && isLoss(change.after.outcome_reason)) attempts_lost.add(change.after.outcome_reason as string)
    const due_at = dispatchDueAt(change)
    if (due_at !== null) ready_to_dispatched_ms.push(Math.max(0, context.published_at - due_at))
  }
  for (const { before, after } of rows.changesOf('dispatch_outbox')) {
    // Its task is dispatched again, perhaps in this publish: of what counts as no try only the attempt's own row tells.
    if (after.close_reason === 'WITHDRAWN' && before?.close_reason !== 'WITHDRAWN') tasks.add(taskLabel('RETRY_WAIT', 'WITHDRAWN'))
    if (!isStarted(after) || (before !== undefined && isStarted(before))) continue
    tasks.add(taskLabel('RUNNING', NO_REASON))
    const dispatched_at = handedOverFrom(before, after, context)
    dispatched_to_started_ms.push(Math.max(0, (after.closed_at as number) - dispatched_at))
  }
  const { schedule_ticks, tick_delays_ms } = ticksDecided(rows, context)
  for (const { after } of rows.changesOf('refusals')) refusals.add(after.reason)
  for (const { after } of rows.changesOf('quarantine')) quarantined.add(after.reason)
  const by_label = [...tasks].map(([label, count]) => ({ ...taskLabels(label), count }))
  return {
    run_requests,
    runs,
    tasks: by_label,
    attempts_lost,
    schedule_ticks,
    tick_delays_ms,
    refusals,
    quarantined,
    ready_to_dispatched_ms,
    dispatched_to_started_ms,
  }
}

/** A row of an older tick changes once more, when another request is in conflict with its run; a run comes with its tick. */
function ticksDecided(rows: Pick<WorkingSet, 'changesOf'>, { published_at }: TallyContext) {
  const schedule_ticks = createCount()
  const tick_delays_ms: number[] = []
  const ticks = rows.changesOf('schedule_ticks')
  const requested = ticks.length === 0 ? NOTHING : newRuns(rows)
  for (const { after } of ticks) {
    if (after.run_id !== null && !requested.has(after.run_id)) continue
    schedule_ticks.add(after.status, after.skipped_count ?? 1)
    if (after.kind === 'CRON' && after.status !== 'SKIPPED') tick_delays_ms.push(Math.max(0, published_at - after.scheduled_for))
  }
  return { schedule_ticks, tick_delays_ms }
}

const NOTHING: ReadonlySet<string> = new Set()

const newRuns = (rows: Pick<WorkingSet, 'changesOf'>): ReadonlySet<string> =>
  new Set(rows.changesOf('runs').flatMap(({ before, after }) => (before === undefined ? [after.run_id] : [])))

const NO_REASON = 'NONE'
/** Neither state nor reason has a space. */
const taskLabel = (state: TaskRow['state'], reason: string): string => `${state} ${reason}`

const withReasons = (state: TaskRow['state'], reasons: readonly string[]) => reasons.map((reason) => taskLabel(state, reason))

const taskLabels = (label: string): TaskLabels => {
  const [state = '', reason = ''] = label.split(' ')
  return { state, reason }
}

const isNew = <Row extends object>(
  { before, after }: { readonly before: Row | undefined; readonly after: Row },
  instant: keyof Row,
): boolean => after[instant] !== null && (before === undefined || before[instant] === null)

function runStatesReached(change: Change<'runs'>): readonly RunRow['state'][] {
  const { before, after } = change
  const reached: RunRow['state'][] = []
  if (before === undefined) reached.push('PENDING')
  if (isNew(change, 'planned_at')) reached.push('PLANNED')
  // A first task may start while the run is asked to cancel already; the run is not RUNNING then.
  if (isNew(change, 'started_at') && before?.state !== 'CANCELLING') reached.push('RUNNING')
  // Without a plan there is nothing to wait for, and the run is CANCELLED at once.
  if (isNew(change, 'cancel_requested_at') && after.planned_at !== null) reached.push('CANCELLING')
  if (isOver(after.state) && (before === undefined || !isOver(before.state))) reached.push(after.state)
  return reached
}

/** But those that end an attempt or the task, and RUNNING, which is its outbox row's to say. */
function taskStatesReached(change: Change<'tasks'>): readonly TaskRow['state'][] {
  const { before, after } = change
  const reached: TaskRow['state'][] = []
  if (before === undefined && after.deps_total > 0) reached.push('BLOCKED')
  if (isNew(change, 'ready_at')) reached.push('READY')
  if (after.attempt > (before?.attempt ?? 0)) reached.push('DISPATCHED')
  return reached
}

/** What the end of an attempt, or of what was never one, made of the task; undefined: nothing has ended. */
function attemptEnd({ before, after }: Change<'tasks'>): TaskRow['state'] | undefined {
  if (isOver(after.state)) return before === undefined || !isOver(before.state) ? after.state : undefined
  return triesUsed(after) > (before === undefined ? 0 : triesUsed(before)) ? 'RETRY_WAIT' : undefined
}

const triesUsed = ({ failures, infra_losses, releases }: TaskRow): number => failures + infra_losses + (releases ?? 0)

/** Since when the attempt that was dispatched could have been; null: none was, or nobody knows. */
function dispatchDueAt({ before, after }: Change<'tasks'>): number | null {
  if (after.attempt === (before?.attempt ?? 0)) return null
  return after.attempt === 1 ? after.ready_at : (before?.retry_at ?? null)
}

const isStarted = ({ close_reason, closed_at }: DispatchOutboxRow): boolean => close_reason === 'STARTED' && closed_at !== null

/** The publish that showed it. A row that was written again since has the revision of that, and only the turn's time. */
function handedOverFrom(before: DispatchOutboxRow | undefined, after: DispatchOutboxRow, { publishedAt }: TallyContext): number {
  const isAsDispatched = before?.status === 'PENDING'
  return (isAsDispatched ? publishedAt(before.row_version) : undefined) ?? after.requested_at
}

function createCount(): Map<string, number> & { readonly add: (value: string, times?: number) => void } {
  const counts = new Map<string, number>()
  return Object.assign(counts, { add: (value: string, times = 1) => void counts.set(value, (counts.get(value) ?? 0) + times) })
}

/** What a tally can say, for those who want to show what has not been seen yet. */
export const TALLIED = {
  run_sources: ['MANUAL', 'RERUN', 'SCHEDULE', 'SENSOR', 'BACKFILL'] satisfies readonly RunRow['trigger_type'][],
  run_states: ['PENDING', 'PLANNED', 'RUNNING', 'CANCELLING', 'SUCCEEDED', 'FAILED', 'CANCELLED'] satisfies readonly RunRow['state'][],
  tasks: [
    ...(['BLOCKED', 'READY', 'DISPATCHED', 'RUNNING', 'SUCCEEDED'] as const).map((state) => taskLabel(state, NO_REASON)),
    ...withReasons('RETRY_WAIT', ['ERROR', 'START_DEADLINE', 'HEARTBEAT', 'TIMEOUT', 'HANDOVER_REFUSED', 'RELEASED', 'WITHDRAWN']),
    ...withReasons('FAILED', ['ERROR', 'START_DEADLINE', 'HEARTBEAT', 'TIMEOUT', 'HANDOVER_REFUSED', 'RELEASED']),
    ...withReasons('SKIPPED', ['WORKER_SKIPPED', 'UPSTREAM_FAILED', 'UPSTREAM_SKIPPED']),
    ...withReasons('CANCELLED', ['RUN_CANCELLED', 'WORKER_CANCELLED', 'UPSTREAM_CANCELLED', 'ERROR', 'WITHDRAWN', ...LOSS_REASONS]),
  ].map(taskLabels),
  tick_statuses: ['TRIGGERED', 'SKIPPED', 'FAILED'] satisfies readonly ScheduleTickRow['status'][],
  loss_reasons: LOSS_REASONS,
  refusal_reasons: REFUSAL_REASONS,
  quarantine_reasons: QUARANTINE_REASONS,
} as const
