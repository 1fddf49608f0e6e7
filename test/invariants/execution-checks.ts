// What must hold of execution, whoever dies, lies or is late: what the tables of every published revision say, compared with
// what the witness wrote down. Each check answers sentences that begin with the invariant they speak for.

import type { LooseRow, TableName } from '../../src/projections/tables.js'
import type { CodeStart, Witness } from '../simulation/execution/witness.js'
import type { Evidence } from './evidence.js'

/** What an API starts code by may be as old as this. */
const START_VIEW_AGE_MS = 1_000

type Tables = ReturnType<Evidence['history']['everythingAt']>

/** The revisions that anybody could read, oldest first, and when each was published. */
function* published({ oracle, revisions, history }: Evidence): Generator<{ sequence: number; at: number; tables: Tables; before: Tables }> {
  const published_at = new Map(oracle.pointers.map(({ pointer, at }) => [pointer.revision, at] as const))
  let before: Tables = new Map()
  for (const { sequence, revision } of revisions) {
    const tables = history.everythingAt(sequence)
    yield { sequence, at: published_at.get(revision) ?? Number.POSITIVE_INFINITY, tables, before }
    before = tables
  }
}

const rowsOf = (tables: Tables, table: TableName): ReadonlyMap<string, LooseRow> => tables.get(table) ?? EMPTY
const EMPTY: ReadonlyMap<string, LooseRow> = new Map()

/** Rows that are others than at the revision before. */
function changed(tables: Tables, before: Tables, table: TableName): readonly LooseRow[] {
  const [now, then] = [rowsOf(tables, table), rowsOf(before, table)]
  return now === then ? [] : [...now].flatMap(([key, row]) => (then.get(key) === row ? [] : [row]))
}

const nameOf = ({ run_id, task_key }: Pick<CodeStart, 'run_id' | 'task_key'> | LooseRow): string => `${String(run_id)} ${String(task_key)}`

/** I21: an attempt's code starts at most once, and only an attempt that was published. */
export function checkStarts({ starts, believed }: Witness): string[] {
  const problems = believed.map(({ lie, attempt_id }) => `I21 Attempt ${attempt_id}: ${lie} was believed.`)
  const first = new Map<string, CodeStart>()
  for (const start of starts) {
    const { attempt_id, execution_id, worker } = start
    const earlier = first.get(attempt_id)
    if (earlier === undefined) first.set(attempt_id, start)
    else {
      problems.push(
        `I21 The code of attempt ${attempt_id} of ${nameOf(start)} started at ${earlier.worker} as ${earlier.execution_id}, and again at ${worker} as ${execution_id}.`,
      )
    }
  }
  return problems
}

/** I26: a task succeeds at most once, as far as any reader can see, and by code that did. */
export function checkSuccesses(evidence: Evidence, { ends }: Witness): string[] {
  const problems: string[] = []
  const ran = new Set(ends.filter(({ outcome }) => outcome === 'SUCCEEDED').map((end) => `${end.attempt_id} ${end.materialization_id}`))
  const succeeded = new Map<string, LooseRow>()
  const materialized = new Map<string, unknown>()
  for (const { sequence, tables, before } of published(evidence)) {
    for (const task of changed(tables, before, 'tasks')) {
      const name = nameOf(task)
      const earlier = succeeded.get(name)
      if (earlier !== undefined && (task['state'] !== 'SUCCEEDED' || task['materialization_id'] !== earlier['materialization_id'])) {
        problems.push(`I26 Task ${name} had succeeded, and is ${String(task['state'])} or another success at revision ${sequence}.`)
      }
      if (task['state'] !== 'SUCCEEDED' || earlier !== undefined) continue
      succeeded.set(name, task)
      if (!ran.has(`${String(task['attempt_id'])} ${String(task['materialization_id'])}`)) {
        problems.push(`I26 Task ${name} succeeded at revision ${sequence}, and no code of attempt ${String(task['attempt_id'])} did so.`)
      }
    }
    for (const status of changed(tables, before, 'partition_status')) {
      const { asset_key, partition_key, last_materialization_run_id: run_id, last_materialization_id: id } = status
      if (run_id === null) continue
      const name = [asset_key, partition_key, run_id].join(' ')
      if ((materialized.get(name) ?? id) !== id) problems.push(`I26 Partition ${name} shows another success at revision ${sequence}.`)
      materialized.set(name, id)
    }
  }
  return problems
}

const isActive = ({ state }: LooseRow): boolean => state === 'DISPATCHED' || state === 'RUNNING'

/** I27: a pool counts the tasks that are out and name it, at every revision; takes no more than its cap; and is empty at rest. */
export function checkSlots(evidence: Evidence): string[] {
  const problems: string[] = []
  let last: Tables = new Map()
  for (const { sequence, tables, before } of published(evidence)) {
    last = tables
    const members = new Map<string, number>()
    for (const task of rowsOf(tables, 'tasks').values()) {
      if (isActive(task))
        for (const pool_key of task['pool_keys'] as readonly string[]) members.set(pool_key, (members.get(pool_key) ?? 0) + 1)
    }
    for (const { pool_key, in_use } of rowsOf(tables, 'pools').values()) {
      const count = members.get(String(pool_key)) ?? 0
      if (count !== in_use)
        problems.push(`I27 Pool ${String(pool_key)} counts ${String(in_use)} at revision ${sequence}, and ${count} tasks name it.`)
    }
    problems.push(...overfull(tables, before, members).map((pool) => `I27 Pool ${pool} at revision ${sequence}.`))
  }
  for (const { pool_key, in_use } of rowsOf(last, 'pools').values()) {
    if (in_use !== 0) problems.push(`I27 Pool ${String(pool_key)} counts ${String(in_use)} when everything is over.`)
  }
  return problems
}

/** Pools that a dispatch of this revision went into, and that have more than any cap that was in force meanwhile. */
function overfull(tables: Tables, before: Tables, members: ReadonlyMap<string, number>): string[] {
  const entered = new Set<string>()
  for (const task of changed(tables, before, 'tasks')) {
    const earlier = [...(task['attempt'] === 0 ? [] : [rowsOf(before, 'tasks').get(keyOf(task))])][0]
    if (!isActive(task) || earlier?.['attempt'] === task['attempt']) continue
    for (const pool_key of task['pool_keys'] as readonly string[]) entered.add(pool_key)
  }
  return [...entered].flatMap((pool_key) => {
    const [now, then] = [roomIn(tables, pool_key), roomIn(before, pool_key)]
    const count = members.get(pool_key) ?? 0
    // A cap that is new in this revision may find more tasks than it allows.
    if (now === null || then === null || count <= Math.max(now, then)) return []
    return [`${pool_key} has ${count} tasks after a dispatch, and its cap was ${then}, then ${now}`]
  })
}

const keyOf = ({ run_id, task_key }: LooseRow): string => [run_id, task_key].join('\u0000')

/** What may be in a pool: the slots of a location are exceeded by what its workers keep until one is free. */
function roomIn(tables: Tables, pool_key: string): number | null {
  const cap = capIn(tables, pool_key)
  const isOwn = (rowsOf(tables, 'pools').get(pool_key)?.['max_running'] ?? null) !== null
  if (cap === null || isOwn || !pool_key.startsWith('location:')) return cap
  return cap + Number(rowsOf(tables, 'code_locations').get(pool_key.slice('location:'.length))?.['prefetch'] ?? 0)
}

const GLOBAL_CAP = 1_000

/** The rule of DATA section 5, once more. */
function capIn(tables: Tables, pool_key: string): number | null {
  const own = rowsOf(tables, 'pools').get(pool_key)?.['max_running'] ?? null
  if (own !== null) return own as number
  if (pool_key === 'global') return GLOBAL_CAP
  const [kind, name = ''] = [pool_key.slice(0, pool_key.indexOf(':')), pool_key.slice(pool_key.indexOf(':') + 1)]
  if (kind === 'tag') return (rowsOf(tables, 'pools').get(`tag:${name.split('=')[0]}`)?.['max_running'] ?? null) as number | null
  return kind === 'location' ? ((rowsOf(tables, 'code_locations').get(name)?.['slots'] ?? null) as number | null) : null
}

const OVER: ReadonlySet<unknown> = new Set(['SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED'])

/** I28: every run is over. Asked at rest, when nothing has gone wrong for long enough. */
export function checkEnds({ live }: Evidence): string[] {
  const open = (table: TableName) => (live.get(table) ?? []).filter(({ state }) => !OVER.has(state))
  return [
    ...open('runs').map(({ run_id, state }) => `I28 Run ${String(run_id)} is still ${String(state)}.`),
    ...open('tasks').map((task) => `I28 Task ${nameOf(task)} is still ${String(task['state'])}, attempt ${String(task['attempt'])}.`),
  ]
}

/** I29: when code starts, the success of all that its task needs is published, and it was told of it. */
export function checkOrder(evidence: Evidence, { starts }: Witness): string[] {
  const problems: string[] = []
  const revisions = [...published(evidence)]
  for (const start of starts) {
    const newest = revisions.findLast(({ at }) => at <= start.at)
    const tables = newest?.tables ?? (new Map() as Tables)
    const name = nameOf(start)
    const task = rowsOf(tables, 'tasks').get(keyOf(start as unknown as LooseRow))
    if (task === undefined || Number(task['attempt']) < start.attempt) {
      problems.push(`I22 The code of ${name} started, and attempt ${start.attempt} was not published.`)
    }
    for (const edge of rowsOf(tables, 'dep_satisfaction').values()) {
      if (edge['run_id'] !== start.run_id || edge['downstream_task_key'] !== start.task_key) continue
      const upstream = rowsOf(tables, 'tasks').get([start.run_id, edge['upstream_task_key']].join('\u0000'))
      if (upstream?.['state'] !== 'SUCCEEDED') {
        problems.push(`I29 The code of ${name} started while ${String(edge['upstream_task_key'])} was ${String(upstream?.['state'])}.`)
      } else if ((start.upstream[String(upstream['asset_key'])] ?? []).length === 0) {
        problems.push(`I29 The code of ${name} was told of nothing that ${String(edge['upstream_task_key'])} had made.`)
      }
    }
  }
  return problems
}

/** I30: a run that is being cancelled dispatches nothing more, and starts nothing more than a moment later. */
export function checkCancels(evidence: Evidence, { starts, told }: Witness): string[] {
  const problems: string[] = []
  const cancelled_at = new Map<unknown, number>()
  for (const { sequence, at, tables, before } of published(evidence)) {
    for (const task of changed(tables, before, 'tasks')) {
      const earlier = rowsOf(before, 'tasks').get(keyOf(task))
      if (cancelled_at.has(task['run_id']) && earlier !== undefined && earlier['attempt'] !== task['attempt']) {
        problems.push(`I30 Task ${nameOf(task)} was dispatched at revision ${sequence}, after its run was cancelled.`)
      }
    }
    for (const run of changed(tables, before, 'runs')) {
      if (run['cancel_requested_at'] !== null && !cancelled_at.has(run['run_id'])) cancelled_at.set(run['run_id'], at)
    }
  }
  for (const start of starts) {
    const at = cancelled_at.get(start.run_id)
    if (at === undefined || start.asked_at <= at + START_VIEW_AGE_MS) continue
    problems.push(`I30 The code of ${nameOf(start)} was told to start ${start.asked_at - at} ms after its run was cancelled.`)
  }
  for (const { attempt_id, run_id, at } of told) {
    if ((cancelled_at.get(run_id) ?? Number.POSITIVE_INFINITY) <= at) continue
    problems.push(`I22 Attempt ${attempt_id} was told to stop, and no revision said that its run is to be cancelled.`)
  }
  return problems
}

/** I30: with nothing that goes wrong, it is over when the grace of its tasks is, and a few turns later. */
export function checkCancelBound(evidence: Evidence, { calm_cancels }: Witness, bound_ms: number): string[] {
  const over_at = new Map<unknown, number>()
  for (const { at, tables, before } of published(evidence)) {
    for (const run of changed(tables, before, 'runs')) if (OVER.has(run['state'])) over_at.set(run['run_id'], at)
  }
  return calm_cancels.flatMap(({ run_id, asked_at }) => {
    const took_ms = (over_at.get(run_id) ?? Number.POSITIVE_INFINITY) - asked_at
    return took_ms <= bound_ms ? [] : [`I30 Run ${run_id} was cancelled, and over only ${took_ms} ms later; ${bound_ms} is the bound.`]
  })
}

/** I31: whoever lives and speaks is not given up for silence, and what waits for a slot is not given up at all. */
export function checkLiving({ ledger, live }: Evidence, { starts, calm_since = Number.POSITIVE_INFINITY }: Witness): string[] {
  const living = new Map(starts.filter(({ at }) => at >= calm_since).map((start) => [start.attempt_id, start]))
  const said = [...ledger.values()].flatMap(({ batches = [] }) => batches.flat())
  const lost = (live.get('dispatch_outbox') ?? []).filter(
    ({ prefetched, close_reason, requested_at }) =>
      prefetched === true && close_reason === 'START_DEADLINE' && Number(requested_at) >= calm_since,
  )
  const waited = lost.map((row) => `I31 Attempt ${String(row['attempt'])} of ${nameOf(row)} was given up, and had been dispatched ahead.`)
  const silent = said.flatMap(({ event_type, payload }) => {
    const start = living.get(String(payload?.['attempt_id']))
    if (event_type !== 'AttemptLost' || payload?.['reason'] !== 'HEARTBEAT' || start === undefined) return []
    return [`I31 Attempt ${start.attempt} of ${nameOf(start)} was given up for silence, and its worker spoke.`]
  })
  return [...waited, ...silent]
}

/** All that holds at rest; `cancel_bound_ms` where cancels were asked for in calm. */
export const checkExecution = (evidence: Evidence, witness: Witness, cancel_bound_ms = Number.POSITIVE_INFINITY): string[] => [
  ...checkStarts(witness),
  ...checkSuccesses(evidence, witness),
  ...checkSlots(evidence),
  ...checkEnds(evidence),
  ...checkOrder(evidence, witness),
  ...checkCancels(evidence, witness),
  ...checkCancelBound(evidence, witness, cancel_bound_ms),
  ...checkLiving(evidence, witness),
]
