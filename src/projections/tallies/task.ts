// Tasks and their attempts: the states that they reached, and why, the attempts that were given up, and how long dispatches took.

import type { DispatchOutboxRow, TaskRow } from '../run-table.js'
import { isOver } from '../state-machine.js'
import type { Change } from '../working-set.js'
import { counted, isNew, type NounTally, type TallyContext, timed } from './tally.js'

/** RELEASED: its worker ended and gave it back, which counts against nobody, and is seen all the same. */
const LOSS_REASONS = ['START_DEADLINE', 'HEARTBEAT', 'TIMEOUT', 'HANDOVER_REFUSED', 'RELEASED', 'CANCEL_GRACE'] as const
type LossReason = (typeof LOSS_REASONS)[number]
const isLoss = (reason: string | null): reason is LossReason => (LOSS_REASONS as readonly (string | null)[]).includes(reason)

const NO_REASON = 'NONE'
const series = (state: TaskRow['state'], reason: string): string => `${state} ${reason}`
const withReasons = (state: TaskRow['state'], reasons: readonly string[]) => reasons.map((reason) => series(state, reason))

const STATES = counted<string>('servo_tasks_total', 'Tasks that reached a state, and why; NONE: there is no reason to give.', {
  labels: ['state', 'reason'],
  series: [
    ...(['BLOCKED', 'READY', 'DISPATCHED', 'RUNNING', 'SUCCEEDED'] as const).map((state) => series(state, NO_REASON)),
    ...withReasons('RETRY_WAIT', ['ERROR', 'START_DEADLINE', 'HEARTBEAT', 'TIMEOUT', 'HANDOVER_REFUSED', 'RELEASED', 'WITHDRAWN']),
    ...withReasons('FAILED', ['ERROR', 'START_DEADLINE', 'HEARTBEAT', 'TIMEOUT', 'HANDOVER_REFUSED', 'RELEASED']),
    ...withReasons('SKIPPED', ['WORKER_SKIPPED', 'UPSTREAM_FAILED', 'UPSTREAM_SKIPPED']),
    ...withReasons('CANCELLED', ['RUN_CANCELLED', 'WORKER_CANCELLED', 'UPSTREAM_CANCELLED', 'ERROR', 'WITHDRAWN', ...LOSS_REASONS]),
  ],
})
const LOST = counted('servo_attempts_lost_total', 'Attempts that were given up, by reason.', { labels: ['reason'], series: LOSS_REASONS })
const DISPATCH_DELAY = timed(
  'servo_dispatch_delay_seconds',
  'From when a task could be dispatched to the publish of its dispatch, and from there to its start.',
  { labels: ['stage'], series: ['ready_to_dispatched', 'dispatched_to_started'] },
)

/**
 * Between two publishes a task may be started, end and be dispatched again, and no more than that: what is dispatched is
 * published before it is handed over. So the instants and counts of its row tell all of it, and its outbox rows the rest.
 */
export const TASK_TALLY: NounTally = {
  metrics: [STATES, LOST, DISPATCH_DELAY],
  count(rows, book, context) {
    for (const change of rows.changesOf('tasks')) {
      const { outcome_reason } = change.after
      for (const state of taskStatesReached(change)) book.count(STATES, series(state, NO_REASON))
      const end = attemptEnd(change)
      if (end !== undefined) book.count(STATES, series(end, outcome_reason ?? NO_REASON))
      if (end !== undefined && isLoss(outcome_reason)) book.count(LOST, outcome_reason)
      const due_at = dispatchDueAt(change)
      if (due_at !== null) book.took(DISPATCH_DELAY, 'ready_to_dispatched', context.published_at - due_at)
    }
    for (const { before, after } of rows.changesOf('dispatch_outbox')) {
      // Its task is dispatched again, perhaps in this publish: of what counts as no try only the attempt's own row tells.
      if (after.close_reason === 'WITHDRAWN' && before?.close_reason !== 'WITHDRAWN') book.count(STATES, series('RETRY_WAIT', 'WITHDRAWN'))
      if (!isStarted(after) || (before !== undefined && isStarted(before))) continue
      book.count(STATES, series('RUNNING', NO_REASON))
      book.took(DISPATCH_DELAY, 'dispatched_to_started', (after.closed_at as number) - handedOverFrom(before, after, context))
    }
  },
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
