// What must hold of revisions and tables. Each check answers sentences that begin with the invariant they speak for.

import { crc32cHex } from '../../src/core/hash.js'
import { compareStamps } from '../../src/core/time.js'
import type { LooseRow, TableName } from '../../src/projections/tables.js'
import type { Revision } from '../../src/tables/revision.js'
import { keptPointers } from '../fixtures/kept-pointers.js'
import { filesOfPointer } from '../fixtures/reachable.js'
import { differenceOf, type Evidence } from './evidence.js'

/** I5: one chain, and nothing in it goes back. */
export function checkChain({ revisions, oracle }: Evidence): string[] {
  const problems: string[] = []
  for (const [index, revision] of revisions.entries()) {
    const before = revisions[index - 1]
    if (before === undefined) {
      if (revision.sequence !== 1) problems.push(`I5 The chain begins with revision ${revision.sequence}.`)
    } else problems.push(...goesBack(before, revision))
  }
  const generations = new Set<string>()
  for (const { pointer, generation } of oracle.pointers) {
    if (generations.has(generation)) problems.push(`I5 The pointer had generation ${generation} twice.`)
    generations.add(generation)
    if (revisions[pointer.sequence - 1]?.revision !== pointer.revision) {
      problems.push(`I5 Revision ${pointer.sequence} was published as ${pointer.revision}, and is not in the chain any more.`)
    }
    for (const { sequence, revision } of pointer.deltas) {
      if (revisions[sequence - 1]?.revision !== revision)
        problems.push(`I5 The pointer of revision ${pointer.sequence} names a foreign delta.`)
    }
    const expected = pointer.sequence - pointer.checkpoint.sequence
    if (pointer.deltas.length !== expected) {
      problems.push(`I5 The pointer of revision ${pointer.sequence} names ${pointer.deltas.length} deltas, not ${expected}.`)
    }
  }
  return problems
}

function goesBack(before: Revision, revision: Revision): string[] {
  const problems: string[] = []
  const at = `in revision ${revision.sequence}`
  if (revision.previous !== before.revision || revision.sequence !== before.sequence + 1) problems.push(`I5 The chain does not link ${at}.`)
  if (revision.fold_version < before.fold_version) problems.push(`I5 fold_version went back ${at}.`)
  if (compareStamps(revision.fold_time, before.fold_time) < 0) problems.push(`I5 fold_time went back ${at}.`)
  if (revision.applied_total < before.applied_total) problems.push(`I5 applied_total went back ${at}.`)
  for (const mark of ['closed_through', 'last_processed_at', 'events_processed_through'] as const) {
    if (compareStamps(revision.watermarks[mark], before.watermarks[mark]) < 0) problems.push(`I5 ${mark} went back ${at}.`)
  }
  return problems
}

/** I6: what the revisions inside the retention name is there, byte for byte. */
export async function checkFiles({ store, oracle, now }: Evidence): Promise<string[]> {
  const problems: string[] = []
  const checked = new Set<string>()
  for (const pointer of keptPointers(oracle.pointers, now)) {
    for (const [name, crc32c] of await filesOfPointer(store, pointer)) {
      if (checked.has(name)) continue
      checked.add(name)
      const answer = await store.get(name)
      if (answer.kind === 'absent') problems.push(`I6 ${name}, named by revision ${pointer.sequence}, is gone.`)
      else if (crc32cHex(answer.bytes) !== (crc32c ?? answer.head.crc32c)) problems.push(`I6 ${name} has another checksum than stated.`)
    }
  }
  return problems
}

/** I15: base and L0 together are the full fold. */
export function checkTables({ live, history, revisions }: Evidence): string[] {
  const newest = revisions.at(-1)
  if (newest === undefined) return []
  const expected = history.tablesAt(newest.sequence)
  return [...live].flatMap(([table, rows]) => {
    const difference = differenceOf(expected.get(table) ?? [], rows)
    return difference === undefined ? [] : [`I15 At revision ${newest.sequence}, of ${table} ${difference}.`]
  })
}

/** I7: whatever anybody read is one revision, the one that they believed to read. */
export function checkSightings({ oracle, history }: Evidence): string[] {
  const problems: string[] = []
  for (const { by, sequence, tables } of oracle.sightings) {
    const expected = history.tablesAt(sequence)
    for (const [table, rows] of tables) {
      const difference = differenceOf(expected.get(table) ?? [], rows)
      if (difference !== undefined) problems.push(`I7 ${by} read revision ${sequence}, and of ${table} ${difference}.`)
    }
  }
  return problems
}

/** I22: what was handed over was published, and stays so. */
export function checkHandovers({ oracle, history, revisions }: Evidence): string[] {
  return oracle.handovers
    .filter(({ dispatch_id, attempt_id, sequence }) => {
      if (sequence > revisions.length) return true
      const outbox = history.everythingAt(sequence).get('dispatch_outbox')
      return ![...(outbox?.values() ?? [])].some((row) => row['dispatch_id'] === dispatch_id && row['attempt_id'] === attempt_id)
    })
    .map(({ dispatch_id, sequence }) => `I22 ${dispatch_id} was handed over at revision ${sequence}, which does not have it.`)
}

type Complete = ReadonlyMap<TableName, readonly LooseRow[]>

const OVER: ReadonlySet<unknown> = new Set(['SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED'])
const ACTIVE: ReadonlySet<unknown> = new Set(['DISPATCHED', 'RUNNING'])

/** As with the accounts of a bank: sums that hold at every revision, whoever reads it and whenever. */
export function checkSums(tables: Complete, at: string): string[] {
  const rows = (table: TableName) => tables.get(table) ?? []
  const tasksOf = groupBy(rows('tasks'), ({ run_id }) => run_id)
  return [
    ...poolSums(rows, at),
    ...rows('runs').flatMap((run) => runSums(run, tasksOf.get(run['run_id']) ?? [], at)),
    ...taskSums(rows, at),
  ]
}

type RowsOf = (table: TableName) => readonly LooseRow[]

function poolSums(rows: RowsOf, at: string): string[] {
  const active = rows('tasks').filter(({ state }) => ACTIVE.has(state))
  const problems: string[] = []
  for (const { pool_key, in_use } of rows('pools')) {
    const members = active.filter(({ pool_keys }) => (pool_keys as readonly unknown[]).includes(pool_key)).length
    if (members !== in_use) problems.push(`I15 ${at} pool ${String(pool_key)} counts ${String(in_use)}, and ${members} tasks are in it.`)
  }
  return problems
}

function runSums(run: LooseRow, tasks: readonly LooseRow[], at: string): string[] {
  const count = (fits: (state: unknown) => boolean) => tasks.filter(({ state }) => fits(state)).length
  const isPlanned = run['tasks_total'] !== 0
  const expected = {
    tasks_total: tasks.length,
    tasks_open: count((state) => !OVER.has(state)),
    tasks_succeeded: count((state) => state === 'SUCCEEDED'),
    tasks_failed: count((state) => state === 'FAILED'),
    tasks_skipped: count((state) => state === 'SKIPPED'),
    tasks_cancelled: count((state) => state === 'CANCELLED'),
  }
  const wrong = Object.entries(expected).filter(([column, value]) => run[column] !== value)
  const problems = wrong.map(
    ([column, value]) => `I15 ${at} run ${String(run['run_id'])} says ${column} ${String(run[column])}, not ${value}.`,
  )
  const isOver = OVER.has(run['state'])
  if (isPlanned && isOver !== (expected.tasks_open === 0)) {
    problems.push(`I15 ${at} run ${String(run['run_id'])} is ${String(run['state'])} with ${expected.tasks_open} open tasks.`)
  }
  return problems
}

function taskSums(rows: RowsOf, at: string): string[] {
  const edges = groupBy(rows('dep_satisfaction'), (edge) => `${String(edge['run_id'])} ${String(edge['downstream_task_key'])}`)
  const outbox = new Map(
    rows('dispatch_outbox').map((row) => [`${String(row['run_id'])} ${String(row['task_key'])} ${String(row['attempt'])}`, row]),
  )
  const failures = groupBy(rows('failed_attempts'), ({ run_id, task_key }) => `${String(run_id)} ${String(task_key)}`)
  const problems: string[] = []
  for (const task of rows('tasks')) {
    const name = `${String(task['run_id'])} ${String(task['task_key'])}`
    const own = edges.get(name) ?? []
    const satisfied = own.filter((edge) => edge['satisfied'] === true).length
    if (own.length !== task['deps_total'] || satisfied !== task['deps_satisfied_count']) {
      problems.push(
        `I15 ${at} task ${name} counts ${String(task['deps_satisfied_count'])} of ${String(task['deps_total'])}: ${satisfied} of ${own.length}.`,
      )
    }
    // Every attempt but one that is under way, or that succeeded, has a row that says why.
    const ended = Number(task['attempt']) - (ACTIVE.has(task['state']) || task['state'] === 'SUCCEEDED' ? 1 : 0)
    const failed = (failures.get(name) ?? []).length
    if (failed !== ended) problems.push(`I15 ${at} task ${name} has ${failed} rows of failed attempts, not ${ended}.`)
    const status = outbox.get(`${name} ${String(task['attempt'])}`)?.['status']
    const isOut = status === 'PENDING' || status === 'ACKED'
    if ((task['state'] === 'DISPATCHED') !== isOut)
      problems.push(`I15 ${at} task ${name} is ${String(task['state'])}, its outbox ${String(status)}.`)
  }
  return problems
}

function groupBy(rows: readonly LooseRow[], keyOf: (row: LooseRow) => unknown): ReadonlyMap<unknown, readonly LooseRow[]> {
  const groups = new Map<unknown, LooseRow[]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group === undefined) groups.set(keyOf(row), [row])
    else group.push(row)
  }
  return groups
}
