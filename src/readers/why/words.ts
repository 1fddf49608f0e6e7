// How a task ended, how its last attempt did, and what it waits for, in words. Pure.

import { instantText } from '../../core/time.js'
import type { DispatchOutboxRow, TaskRow } from '../../projections/run-table.js'
import type { OverState } from '../../projections/state-machine.js'

type Upstream = Pick<TaskRow, 'task_key' | 'state'>

/** A sentence has one line, and the log has the rest; the full stop is that of the sentence around it. */
export const plain = (message: string): string => (message.split('\n', 1)[0] ?? '').trim().replace(/\.$/, '')

const NAMED_MAX = 5

/** `a, which is RUNNING, and b, which is READY`; of many the first. */
export function named(upstream: readonly Upstream[]): string {
  const texts = upstream.slice(0, NAMED_MAX).map(({ task_key, state }) => `${task_key}, which is ${state}`)
  const more = upstream.length - texts.length
  if (more > 0) return `${texts.join('; ')}; and ${more} more`
  return texts.length < 2 ? (texts[0] ?? 'other tasks') : `${texts.slice(0, -1).join('; ')}; and ${texts.at(-1)}`
}

const ENDS: Readonly<Record<string, string>> = {
  ERROR: 'its code failed',
  TIMEOUT: 'its code ran for longer than its timeout',
  HEARTBEAT: 'its worker sent no heartbeat in time',
  HANDOVER_REFUSED: 'its worker refused to take it',
  RELEASED: 'its worker ended, and gave it back',
  WITHDRAWN: 'it was dispatched ahead and no slot came free for it soon, so it was taken back before it began',
}

/** Of an attempt that is over, or still waits. */
type Outbox = Pick<DispatchOutboxRow, 'port'> | undefined

/** A way that is set up wrongly, such as a URL where something else answers, a secret that the worker does not have or a queue
 *  that is not there, leaves no fact: no row tells it from a worker that is busy, so each is named. */
export const WRONG_WAY =
  'the way to it may be set up wrongly: the log of the automation says if it is, and what to mend, and `servo doctor` asks the queue where there is one'

/** What is known of who had it. */
function notStarted(outbox: Outbox): string {
  if (outbox?.port === 'DIRECT') return 'no worker started it in time, although one had taken it'
  const taken = outbox?.port === 'CLOUD_TASKS' ? 'although the queue had taken it' : 'and nobody is known to have taken it'
  return `no worker started it in time, ${taken}. The worker was busy or not there, or ${WRONG_WAY}`
}

function reasonOf({ outcome_reason, error }: Pick<TaskRow, 'outcome_reason' | 'error'>, outbox: Outbox): string {
  if (outcome_reason === 'START_DEADLINE') return notStarted(outbox)
  const end = ENDS[outcome_reason ?? ''] ?? `it ended with ${outcome_reason ?? 'no reason that it says'}`
  // The error is that of an attempt before it.
  return error === null || outcome_reason === 'WITHDRAWN' ? end : `${end}: ${plain(error.message)}`
}

export function lastAttempt(task: TaskRow, outbox: Outbox): string {
  const counts = countsOf(task)
  return `Attempt ${task.attempt} is over, because ${reasonOf(task, outbox)}${counts.length === 0 ? '' : ` (${counts.join('; ')})`}.`
}

/** What it has had of what it may have. */
function countsOf({ failures, max_attempts, infra_losses, max_infra_losses, releases }: TaskRow): readonly string[] {
  const losses = `${infra_losses} of at most ${max_infra_losses} losses that are not its code's fault`
  const released = (releases ?? 0) === 1 ? 'given back once' : `given back ${releases} times`
  return [
    ...(failures > 0 ? [`${failures} of ${max_attempts} attempts failed`] : []),
    ...(infra_losses > 0 ? [losses] : []),
    ...((releases ?? 0) > 0 ? [released] : []),
  ]
}

type EndRows = { readonly upstream: readonly Upstream[]; readonly outbox: Outbox }

/** A task that is over, with the upstream tasks whose success is missing, and who had its last attempt. */
export function howItEnded(task: TaskRow, state: OverState, rows: EndRows): string {
  const at = task.finished_at === null ? '' : ` at ${instantText(task.finished_at)}`
  return `${task.task_key} is over: it ${endOf(task, state, rows, at)}.`
}

function endOf(task: TaskRow, state: OverState, { upstream, outbox }: EndRows, at: string): string {
  switch (state) {
    case 'SUCCEEDED':
      return `SUCCEEDED${at} with attempt ${task.attempt}`
    case 'SKIPPED':
      if (task.outcome_reason !== 'WORKER_SKIPPED') return `was SKIPPED${at}, because it needs ${named(upstream)}`
      return `was SKIPPED${at} by its own code${task.skip_reason === null ? '' : `: ${plain(task.skip_reason)}`}`
    case 'CANCELLED':
      return `was CANCELLED${at}, because ${cancelOf(task, upstream)}`
    case 'FAILED':
      return `FAILED${at} with attempt ${task.attempt}, because ${reasonOf(task, outbox)}. \`servo run rerun ${task.run_id}\` runs again what did not succeed`
  }
}

const CANCELS: Readonly<Record<string, string>> = {
  WORKER_CANCELLED: 'its code stopped when it was asked to',
  CANCEL_GRACE: 'its run was cancelled, and its worker did not stop in time',
}

const cancelOf = ({ outcome_reason }: TaskRow, upstream: readonly Upstream[]): string =>
  outcome_reason === 'UPSTREAM_CANCELLED' ? `it needs ${named(upstream)}` : (CANCELS[outcome_reason ?? ''] ?? 'its run was cancelled')
