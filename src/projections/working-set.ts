// The rows that a fold may touch: what is hot, and what was looked up. A key that nobody loaded fails an assert and is
// never read as absent (DESIGN section 3, "Cost must not grow with history"). Rows are replaced, never changed in place.

import { assert } from '../core/errors.js'
import type { AssetDefinitionRow } from './asset-table.js'
import type { DepSatisfactionRow, TaskRow } from './run-table.js'
import { isOver } from './state-machine.js'
import { type AnyRow, type KeyedRow, keyOfRow, keyText, type RowKey, type Rows, TABLE_NAMES, TABLES, type TableName } from './tables.js'

/** Everything a fold reads and writes. It lives as long as the turn's process; rows come and go. */
export type WorkingSet = {
  /** The row, or undefined if it is known not to be there. */
  readonly get: <Name extends TableName>(table: Name, ...key: RowKey) => Rows[Name] | undefined
  /** Replaces or adds a row and marks it dirty. The fold leaves row_version alone: `settle` stamps it. */
  readonly put: <Name extends TableName>(table: Name, row: Rows[Name]) => void
  readonly isKnown: (table: TableName, key: RowKey) => boolean
  /** What a look-up of these keys found; what it did not find is absent from now on. Never replaces a known row. */
  readonly load: <Name extends TableName>(table: Name, keys: readonly RowKey[], rows: readonly Rows[Name][]) => void
  /** A list by content; asserts that it was loaded; undefined: missing or altered. */
  readonly list: (sha256: string) => readonly string[] | undefined
  readonly isListKnown: (sha256: string) => boolean
  readonly loadList: (sha256: string, values: readonly string[] | undefined) => void

  // Ways in besides the key, over hot rows alone. A run that is not over has all of its tasks and edges here.
  readonly tasksOf: (run_id: string) => readonly TaskRow[]
  readonly edgesFrom: (run_id: string, upstream_task_key: string) => readonly DepSatisfactionRow[]
  readonly currentDefinition: (asset_key: string) => AssetDefinitionRow | undefined
  readonly hotRows: <Name extends TableName>(table: Name) => readonly Rows[Name][]

  /** How many events were applied so far, in recorded order: the source of every ordinal. */
  readonly appliedTotal: () => number
  readonly countApplied: () => number

  readonly dirtyCount: () => number
  /** Stamps what changed since the last stamp with this revision's sequence. */
  readonly stamp: (row_version: number) => void
  /** What changed since the last settle, to be published. */
  readonly dirtyRows: () => ReadonlyMap<TableName, readonly AnyRow[]>
  /** The dirty rows are published: forget that they changed, and every row that is not hot. */
  readonly settle: () => void
  /** The publish was lost: everything is again as it was after the last settle. */
  readonly discard: () => void
  /** Another process published these rows. `runs` must come before the tables of its tasks. Only on a settled set. */
  readonly follow: (table: TableName, rows: readonly AnyRow[]) => void
  readonly followTotal: (appliedTotal: number) => void
}

type Dirty = { readonly table: TableName; readonly key: string; readonly before: AnyRow | undefined; stamped: boolean }

type RunIndex = { readonly tasks: Set<string>; readonly edgesByUpstream: Map<string, Set<string>> }

export const missingKeys = (rows: WorkingSet, keys: readonly KeyedRow[]): readonly KeyedRow[] =>
  keys.filter(({ table, key }) => !rows.isKnown(table, key))

export function createWorkingSet(startingTotal: number): WorkingSet {
  const hot = mapPerTable()
  /** Rows that are not hot, and (null) keys that are known to be absent, until the next settle. */
  const looked = mapPerTable<AnyRow | null>()
  const lists = new Map<string, readonly string[] | undefined>()
  const runs = new Map<string, RunIndex>()
  const currentHash = new Map<string, string>()
  let dirty = new Map<string, Dirty>()
  /** Rows that left with their run since the last settle; a discard brings them back. */
  let cooled: { readonly table: 'tasks' | 'dep_satisfaction'; readonly key: string; readonly row: AnyRow }[] = []
  let unstamped: Dirty[] = []
  let applied = startingTotal
  let settledTotal = startingTotal

  const isRunHot = (run_id: string) => hot.runs.has(run_id)

  function isKnown(table: TableName, key: RowKey): boolean {
    if (TABLES[table].residency === 'whole') return true
    const text = keyText(key)
    if (hot[table].has(text) || looked[table].has(text)) return true
    return (table === 'tasks' || table === 'dep_satisfaction') && isRunHot(String(key[0]))
  }

  function find(table: TableName, key: RowKey): AnyRow | undefined {
    const text = keyText(key)
    return hot[table].get(text) ?? looked[table].get(text) ?? undefined
  }

  /** Whether the row stays in memory after the next settle. Tasks and edges stay with their run. */
  function belongsInHot(table: TableName, row: AnyRow): boolean {
    switch (TABLES[table].residency) {
      case 'whole':
        return true
      case 'on_disk':
        return false
      case 'while_open':
        if (table === 'tasks' || table === 'dep_satisfaction') return isRunHot((row as TaskRow).run_id)
        return isOpenRow(table, row)
    }
  }

  function place(table: TableName, text: string, row: AnyRow): void {
    if (belongsInHot(table, row)) {
      hot[table].set(text, row)
      looked[table].delete(text)
    } else {
      hot[table].delete(text)
      looked[table].set(text, row)
    }
    if (table === 'runs') placeRun(text, row as Rows['runs'])
    else if (table === 'tasks') runs.get((row as TaskRow).run_id)?.tasks.add(text)
    else if (table === 'dep_satisfaction') indexEdge(row as DepSatisfactionRow, text)
    else if (table === 'asset_definitions') indexDefinition(row as AssetDefinitionRow)
  }

  function placeRun(run_id: string, row: Rows['runs']): void {
    if (!isOver(row.state)) {
      if (!runs.has(run_id)) runs.set(run_id, { tasks: new Set(), edgesByUpstream: new Map() })
      return
    }
    // The run is over, and takes its tasks and edges with it: known until the next settle, then on disk alone.
    const index = runs.get(run_id)
    if (index === undefined) return
    for (const text of index.tasks) cool('tasks', text)
    for (const edges of index.edgesByUpstream.values()) for (const text of edges) cool('dep_satisfaction', text)
    runs.delete(run_id)
  }

  function cool(table: 'tasks' | 'dep_satisfaction', text: string): void {
    const row = hot[table].get(text)
    if (row === undefined) return
    hot[table].delete(text)
    looked[table].set(text, row)
    cooled.push({ table, key: text, row })
  }

  function indexEdge(row: DepSatisfactionRow, text: string): void {
    const byUpstream = runs.get(row.run_id)?.edgesByUpstream
    if (byUpstream === undefined) return
    const edges = byUpstream.get(row.upstream_task_key)
    if (edges === undefined) byUpstream.set(row.upstream_task_key, new Set([text]))
    else edges.add(text)
  }

  function indexDefinition(row: AssetDefinitionRow): void {
    if (row.state === 'CURRENT') currentHash.set(row.asset_key, row.definition_hash)
    else if (currentHash.get(row.asset_key) === row.definition_hash) currentHash.delete(row.asset_key)
  }

  function restore(change: Dirty): void {
    const { table, key: text, before } = change
    if (before !== undefined) return place(table, text, before)
    if (table === 'asset_definitions') {
      const row = hot[table].get(text)
      if (row !== undefined) indexDefinition({ ...(row as AssetDefinitionRow), state: 'REMOVED' })
    }
    hot[table].delete(text)
    if (table === 'runs') runs.delete(text)
  }

  /** After a discard the indexes of runs may name rows that are gone, and miss what came back: build them again. */
  function indexRunsAgain(): void {
    runs.clear()
    for (const run_id of hot.runs.keys()) runs.set(run_id, { tasks: new Set(), edgesByUpstream: new Map() })
    for (const [text, row] of hot.tasks) runs.get((row as TaskRow).run_id)?.tasks.add(text)
    for (const [text, row] of hot.dep_satisfaction) indexEdge(row as DepSatisfactionRow, text)
  }

  return {
    get(table, ...key) {
      const row = find(table, key)
      if (row === undefined) assert(isKnown(table, key), `The fold read ${table} ${JSON.stringify(key)}, which keysOf did not name.`)
      return row as Rows[typeof table] | undefined
    },
    put(table, row) {
      const text = keyText(keyOfRow(table, row))
      const id = `${table}\u0001${text}`
      const change = dirty.get(id)
      if (change === undefined) {
        const added: Dirty = { table, key: text, before: hot[table].get(text), stamped: false }
        dirty.set(id, added)
        unstamped.push(added)
      } else if (change.stamped) {
        change.stamped = false
        unstamped.push(change)
      }
      place(table, text, row)
    },
    isKnown,
    load(table, keys, rows) {
      for (const row of rows) {
        const key = keyOfRow(table, row)
        if (!isKnown(table, key)) place(table, keyText(key), row)
      }
      for (const key of keys) if (!isKnown(table, key)) looked[table].set(keyText(key), null)
    },
    list(sha256) {
      assert(lists.has(sha256), `The fold read list ${sha256}, which keysOf did not name.`)
      return lists.get(sha256)
    },
    isListKnown: (sha256) => lists.has(sha256),
    loadList: (sha256, values) => void lists.set(sha256, values),
    tasksOf(run_id) {
      const index = runs.get(run_id)
      assert(index !== undefined, `The tasks of run ${run_id} were asked for, but the run is not open.`)
      return Array.from(index.tasks, (text) => hot.tasks.get(text) as TaskRow)
    },
    edgesFrom(run_id, upstream_task_key) {
      const index = runs.get(run_id)
      assert(index !== undefined, `The edges of run ${run_id} were asked for, but the run is not open.`)
      const edges = index.edgesByUpstream.get(upstream_task_key) ?? []
      return Array.from(edges, (text) => hot.dep_satisfaction.get(text) as DepSatisfactionRow)
    },
    currentDefinition(asset_key) {
      const hash = currentHash.get(asset_key)
      if (hash === undefined) return undefined
      return hot.asset_definitions.get(keyText([asset_key, hash])) as AssetDefinitionRow
    },
    hotRows: (table) => Array.from(hot[table].values()) as Rows[typeof table][],
    appliedTotal: () => applied,
    countApplied: () => ++applied,
    dirtyCount: () => dirty.size,
    stamp(row_version) {
      for (const change of unstamped) {
        change.stamped = true
        const { table, key } = change
        const isHotNow = hot[table].has(key)
        const row = (isHotNow ? hot[table].get(key) : looked[table].get(key)) as AnyRow
        const stamped = { ...row, row_version } as AnyRow
        if (isHotNow) hot[table].set(key, stamped)
        else looked[table].set(key, stamped)
      }
      unstamped = []
    },
    dirtyRows() {
      assert(unstamped.length === 0, 'Rows are published that carry no revision.')
      const rows = new Map<TableName, AnyRow[]>()
      for (const { table, key } of dirty.values()) {
        const row = hot[table].get(key) ?? looked[table].get(key)
        assert(row, `The dirty row ${key} of ${table} is gone.`)
        const sameTable = rows.get(table)
        if (sameTable === undefined) rows.set(table, [row])
        else sameTable.push(row)
      }
      return rows
    },
    settle() {
      assert(unstamped.length === 0, 'Rows are settled that carry no revision.')
      dirty = new Map()
      cooled = []
      settledTotal = applied
      for (const table of TABLE_NAMES) looked[table].clear()
      lists.clear()
    },
    discard() {
      for (const { table, key, row } of cooled) hot[table].set(key, row)
      cooled = []
      // Runs first: a run has to be open again before its tasks are put back.
      for (const change of dirty.values()) if (change.table === 'runs') restore(change)
      for (const change of dirty.values()) if (change.table !== 'runs') restore(change)
      dirty = new Map()
      unstamped = []
      applied = settledTotal
      for (const table of TABLE_NAMES) looked[table].clear()
      lists.clear()
      indexRunsAgain()
    },
    follow(table, rows) {
      assert(dirty.size === 0, 'A working set with unpublished rows followed another turn.')
      for (const row of rows) {
        place(table, keyText(keyOfRow(table, row)), row)
      }
      looked[table].clear()
      cooled = []
    },
    followTotal(appliedTotal) {
      applied = appliedTotal
      settledTotal = appliedTotal
    },
  }
}

function isOpenRow(table: TableName, row: AnyRow): boolean {
  if (table === 'runs') return !isOver((row as Rows['runs']).state)
  if (table === 'dispatch_outbox') {
    const { status } = row as Rows['dispatch_outbox']
    return status === 'PENDING' || status === 'ACKED'
  }
  if (table === 'asset_definitions') return (row as AssetDefinitionRow).state === 'CURRENT'
  return true
}

type MapPerTable<Row> = { readonly [Name in TableName]: Map<string, Row> }

const mapPerTable = <Row = AnyRow>(): MapPerTable<Row> =>
  Object.fromEntries(TABLE_NAMES.map((name) => [name, new Map<string, Row>()])) as unknown as MapPerTable<Row>
