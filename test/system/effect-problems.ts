// What the code of the attempts wrote down itself, and what ledger and tables say of them: the two have to agree, whatever was
// killed meanwhile. Each check answers what is wrong, as sentences.

import type { LedgerEvent } from '../../src/events/event.js'
import type { RunRow, TaskRow } from '../../src/projections/run-table.js'
import { isOver } from '../../src/projections/state-machine.js'
import { type Asked, type Effect, startsIn, type Told } from './side-effects.js'

/** All of them: the runs that were asked for, their tasks, and the effects of their attempts. */
export function effectProblems(asked: readonly Asked[], told: Told, effects: readonly Effect[]): string[] {
  const facts = factsOf(told, effects)
  return [
    ...runProblems(asked, told),
    ...told.tasks.flatMap((row) => taskProblems(row as unknown as TaskRow, facts)),
    ...attemptProblems(facts, effects),
    ...orderProblems(told, facts, effects),
    ...leftOver(told),
  ]
}

type Facts = {
  /** Attempts of applied successes, by task. */
  readonly successes: ReadonlyMap<string, readonly string[]>
  /** Of every event in the ledger, applied or not. */
  readonly started: ReadonlySet<string>
  readonly lost: ReadonlySet<string>
  readonly ran: ReadonlySet<string>
  readonly ended: ReadonlySet<string>
  readonly startsOfTask: ReadonlyMap<string, number>
  readonly cancelled: ReadonlySet<string>
}

const taskOf = ({ run_id, task_key }: { readonly run_id: string; readonly task_key: string }): string => `${run_id} ${task_key}`
/** In these graphs an asset is one task. */
const taskOfEffect = ({ run_id, asset_key }: Effect): string => taskOf({ run_id, task_key: asset_key })

function factsOf({ events, applied }: Told, effects: readonly Effect[]): Facts {
  const successes = new Map<string, string[]>()
  for (const event of events) {
    if (event.event_type !== 'TaskFinished' || event.payload.outcome !== 'SUCCEEDED' || !applied.has(event.event_id)) continue
    const key = taskOf(event.payload)
    successes.set(key, [...(successes.get(key) ?? []), event.payload.attempt_id])
  }
  const starts = startsIn(effects)
  const startsOfTask = new Map<string, number>()
  for (const start of starts) startsOfTask.set(taskOfEffect(start), (startsOfTask.get(taskOfEffect(start)) ?? 0) + 1)
  return {
    successes,
    started: attemptsIn(events, 'TaskStarted'),
    lost: attemptsIn(events, 'AttemptLost'),
    ran: new Set(starts.map(({ attempt_id }) => attempt_id)),
    ended: new Set(effects.flatMap(({ what, attempt_id }) => (what === 'end' ? [attempt_id] : []))),
    startsOfTask,
    cancelled: new Set(events.flatMap((event) => (event.event_type === 'RunCancelRequested' ? [event.payload.run_id] : []))),
  }
}

const attemptsIn = (events: readonly LedgerEvent[], type: 'TaskStarted' | 'AttemptLost'): ReadonlySet<string> =>
  new Set(events.flatMap((event) => (event.event_type === type ? [event.payload.attempt_id] : [])))

/** Every run that was asked for is there once, no other is, and each has ended as it may. */
function runProblems(asked: readonly Asked[], { runs, tasks, events }: Told): string[] {
  const rows = new Map(runs.map((row) => [String(row['run_id']), row as unknown as RunRow] as const))
  const wanted = new Set(asked.map(({ run_id }) => run_id))
  const counts = new Map<string, number>()
  for (const { run_id } of tasks as unknown as readonly TaskRow[]) counts.set(run_id, (counts.get(run_id) ?? 0) + 1)
  const cancelRequests = new Set(events.flatMap((event) => (event.event_type === 'RunCancelRequested' ? [event.payload.run_id] : [])))
  const others = [...rows.keys()].filter((run_id) => !wanted.has(run_id))
  const keys = new Set([...rows.values()].map(({ run_key }) => run_key))
  return [
    ...(others.length === 0 ? [] : [`There are runs that nobody asked for: ${others.join(', ')}.`]),
    ...(keys.size === rows.size ? [] : [`${rows.size} runs have ${keys.size} run keys.`]),
    ...asked.flatMap(({ run_key, run_id, tasks: task_count, ends = ['SUCCEEDED'], is_cancel_accepted }) => {
      const row = rows.get(run_id)
      if (row === undefined) return [`${run_key} was accepted as ${run_id}, and is not there.`]
      const isExpected = (ends as readonly string[]).includes(row.state)
      // A run that was cancelled before it was planned has no tasks.
      const planned = counts.get(run_id) ?? 0
      return [
        ...(isExpected ? [] : [`${run_key} (${run_id}) is ${row.state}, and not ${ends.join(' or ')}.`]),
        ...(planned === task_count || (planned === 0 && row.state === 'CANCELLED')
          ? []
          : [`${run_key} has ${planned} tasks, and not ${task_count}.`]),
        ...(is_cancel_accepted !== true || cancelRequests.has(run_id)
          ? []
          : [`The cancel of ${run_key} was accepted, and is not in the ledger.`]),
      ]
    }),
  ]
}

/** A success has one attempt that was accepted, and its effect is there; without a success nothing was accepted. */
function taskProblems(row: TaskRow, { successes, ended, startsOfTask, cancelled }: Facts): string[] {
  const { run_id, task_key, state, attempt, attempt_id, failures, max_attempts, error } = row
  const key = taskOf(row)
  const accepted = successes.get(key) ?? []
  const wrong: string[] = []
  if (!isOver(state)) wrong.push(`is ${state}, which is not over`)
  if (accepted.length !== (state === 'SUCCEEDED' ? 1 : 0)) wrong.push(`is ${state}, and ${accepted.length} successes of it were accepted`)
  if (state === 'SUCCEEDED' && accepted[0] !== attempt_id) wrong.push(`names attempt ${attempt_id}, and ${accepted[0]} was accepted`)
  for (const each of accepted) if (!ended.has(each)) wrong.push(`succeeded by attempt ${each}, whose code never came to its end`)
  if (state === 'FAILED' && failures < max_attempts && (error as { retryable?: boolean } | null)?.retryable !== false) {
    wrong.push(`is FAILED after ${failures} failures of its code, of ${max_attempts}`)
  }
  if (state === 'CANCELLED' && !cancelled.has(run_id)) wrong.push('is CANCELLED, and nobody asked for that')
  if (attempt === 0 && startsOfTask.has(key)) wrong.push('was never dispatched, and its code ran')
  return wrong.map((what) => `${task_key} of ${run_id} ${what}.`)
}

/** Code ran once at most for an attempt, for every attempt that started, and for no other. A worker that is killed may have
 *  asked to start an attempt, and never have come to its code: that attempt was lost. */
function attemptProblems({ started, lost, ran }: Facts, effects: readonly Effect[]): string[] {
  const silent = [...started].filter((attempt_id) => !ran.has(attempt_id) && !lost.has(attempt_id))
  const unasked = [...ran].filter((attempt_id) => !started.has(attempt_id))
  return [
    ...twiceIn(startsIn(effects).map(({ attempt_id }) => attempt_id)).map((id) => `The code of attempt ${id} started twice.`),
    ...unasked.map((attempt_id) => `Attempt ${attempt_id} ran, and never said that it starts.`),
    ...silent.map((attempt_id) => `Attempt ${attempt_id} started, never ran, and was not lost.`),
  ]
}

function twiceIn(values: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return values.filter((value) => seen.size === seen.add(value).size)
}

/** No code starts before that of its upstream tasks has come to its end, in the attempts that were accepted. */
function orderProblems({ edges }: Told, { successes }: Facts, effects: readonly Effect[]): string[] {
  const firstStart = new Map<string, number>()
  const endOf = new Map<string, number>()
  effects.forEach((effect, line) => {
    const key = taskOfEffect(effect)
    if (effect.what === 'start' && !firstStart.has(key)) firstStart.set(key, line)
    if (effect.what === 'end') endOf.set(effect.attempt_id, line)
  })
  return edges.flatMap((row) => {
    const { run_id, downstream_task_key, upstream_task_key } = row as unknown as Readonly<Record<string, string>>
    const begun = firstStart.get(`${run_id} ${downstream_task_key}`)
    if (begun === undefined) return []
    const [accepted] = successes.get(`${run_id} ${upstream_task_key}`) ?? []
    const end = accepted === undefined ? undefined : endOf.get(accepted)
    return end !== undefined && end < begun
      ? []
      : [`${downstream_task_key} of ${run_id} started before ${upstream_task_key} had succeeded.`]
  })
}

/** Nothing holds a place in a pool, waits to be handed over, or could not be read. */
function leftOver({ pools, outbox, quarantine }: Told): string[] {
  const open = outbox.filter(({ status }) => status === 'PENDING' || status === 'ACKED')
  return [
    ...pools
      .filter(({ in_use }) => in_use !== 0)
      .map(({ pool_key, in_use }) => `Pool ${pool_key} has ${in_use} places taken, and nothing runs.`),
    ...open.map(({ run_id, task_key, status }) => `The dispatch of ${task_key} of ${run_id} is ${status} still.`),
    ...quarantine.map(({ segment_name, reason }) => `Something in ${segment_name} could not be read: ${reason}.`),
  ]
}
