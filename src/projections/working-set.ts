// The rows that a fold may touch: what is hot, and what was looked up. A key that nobody loaded fails an assert and is
// never read as absent (DESIGN section 3, "Cost must not grow with history"). Rows are replaced, never changed in place.

import { assert } from '../core/errors.js'
import type { AssetDefinitionRow } from './asset-table.js'
import { createRowIndex } from './row-index.js'
import type { DepSatisfactionRow, TaskRow } from './run-table.js'
import { isOver } from './state-machine.js'
import {
  type AnyRow,
  type KeyedRow,
  keyOfRow,
  keyText,
  keyTextOfRow,
  type RowKey,
  type Rows,
  TABLE_NAMES,
  TABLES,
  type TableName,
} from './tables.js'

/** Everything a fold reads and writes. It lives as long as the turn's process; rows come and go. */
export type WorkingSet = {
  /** The row, or undefined if it is known not to be there. */
  readonly get: <Name extends TableName>(table: Name, ...key: RowKey) => Rows[Name] | undefined
  /** Replaces or adds a row and marks it dirty. The fold leaves row_version alone: `stamp` sets it. */
  readonly put: <Name extends TableName>(table: Name, row: Rows[Name]) => void
  readonly isKnown: (table: TableName, key: RowKey) => boolean
  /** What a look-up of these keys found; what it did not find is absent from now on. Never replaces a known row. */
  readonly load: <Name extends TableName>(table: Name, keys: readonly RowKey[], rows: readonly Rows[Name][]) => void
  /** A list by content; asserts that it was loaded; undefined: missing or altered. */
  readonly list: (sha256: string) => readonly string[] | undefined
  readonly isListKnown: (sha256: string) => boolean
  readonly loadList: (sha256: string, values: readonly string[] | undefined) => void

  // Ways in besides the key, over hot rows alone. A run that is not over has all of its tasks and edges here.
  // The order of what they return is that of arrival, and differs between processes: nothing may depend on it.
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

/** What happened to a key since the last settle. `before` is its hot row then: undefined if it was on disk, or nowhere. */
type Change = { readonly before: AnyRow | undefined; dirty: boolean; stamped: boolean }

export const missingKeys = (rows: WorkingSet, keys: readonly KeyedRow[]): readonly KeyedRow[] =>
  keys.filter(({ table, key }) => !rows.isKnown(table, key))

/** What a process keeps from one turn to the next, and how to undo what a turn did to it. */
function createStore() {
  const hot = mapPerTable<AnyRow>()
  /** Rows that are not hot, and (null) keys that are known to be absent, until the next settle. */
  const looked = mapPerTable<AnyRow | null>()
  const changes = mapPerTable<Change>()
  const index = createRowIndex()

  const isRunHot = (run_id: string) => hot.runs.has(run_id)

  /** Whether the row stays in memory after the next settle. Tasks and edges stay with their run. */
  function belongsInHot(table: TableName, row: AnyRow): boolean {
    switch (TABLES[table].residency) {
      case 'whole':
        return true
      case 'on_disk':
        return false
      case 'while_open':
        return table === 'tasks' || table === 'dep_satisfaction' ? isRunHot((row as TaskRow).run_id) : isOpenRow(table, row)
    }
  }

  function place(table: TableName, text: string, row: AnyRow): void {
    if (belongsInHot(table, row)) {
      hot[table].set(text, row)
      looked[table].delete(text)
      index.add(table, text, row)
    } else {
      hot[table].delete(text)
      looked[table].set(text, row)
      index.remove(table, text, row)
      if (table === 'runs') coolRun(text)
    }
  }

  /** The run is over, and takes its tasks and edges with it: known until the next settle, then on disk alone. */
  function coolRun(run_id: string): void {
    const left = index.removeRun(run_id)
    for (const text of left.tasks) cool('tasks', text)
    for (const text of left.edges) cool('dep_satisfaction', text)
  }

  function cool(table: 'tasks' | 'dep_satisfaction', text: string): void {
    const row = hot[table].get(text)
    assert(row, `The index names a row ${JSON.stringify(text)} of ${table} that is not hot.`)
    if (!changes[table].has(text)) changes[table].set(text, { before: row, dirty: false, stamped: true })
    hot[table].delete(text)
    looked[table].set(text, row)
  }

  function undo(table: TableName): void {
    for (const [text, { before }] of changes[table]) {
      if (before !== undefined) {
        hot[table].set(text, before)
        index.add(table, text, before)
        continue
      }
      const now = hot[table].get(text)
      if (now === undefined) continue
      hot[table].delete(text)
      index.remove(table, text, now)
      if (table === 'runs') index.removeRun(text)
    }
    changes[table].clear()
  }

  const forgetLooked = () => {
    for (const table of TABLE_NAMES) looked[table].clear()
  }

  return { hot, looked, changes, index, isRunHot, belongsInHot, place, undo, forgetLooked }
}

export function createWorkingSet(startingTotal: number): WorkingSet {
  const { hot, looked, changes, index, isRunHot, belongsInHot, place, undo, forgetLooked } = createStore()
  const lists = new Map<string, readonly string[] | undefined>()
  let unstamped: { readonly table: TableName; readonly text: string; readonly change: Change }[] = []
  let dirtyCount = 0
  let applied = startingTotal
  let settledTotal = startingTotal

  function isKnown(table: TableName, key: RowKey): boolean {
    if (TABLES[table].residency === 'whole') return true
    const text = keyText(key)
    if (hot[table].has(text) || looked[table].has(text)) return true
    return (table === 'tasks' || table === 'dep_satisfaction') && isRunHot(String(key[0]))
  }

  function markDirty(table: TableName, text: string): void {
    const found = changes[table].get(text)
    const change = found ?? { before: hot[table].get(text), dirty: false, stamped: true }
    if (found === undefined) changes[table].set(text, change)
    if (!change.dirty) dirtyCount++
    change.dirty = true
    if (change.stamped) unstamped.push({ table, text, change })
    change.stamped = false
  }

  function forget(): void {
    unstamped = []
    dirtyCount = 0
    lists.clear()
    forgetLooked()
  }

  return {
    get(table, ...key) {
      const text = keyText(key)
      const row = hot[table].get(text) ?? looked[table].get(text) ?? undefined
      if (row === undefined) assert(isKnown(table, key), `The fold read ${table} ${JSON.stringify(key)}, which keysOf did not name.`)
      return row as Rows[typeof table] | undefined
    },
    put(table, row) {
      const text = keyTextOfRow(table, row)
      markDirty(table, text)
      place(table, text, row)
    },
    isKnown,
    load(table, keys, rows) {
      for (const row of rows) {
        if (isKnown(table, keyOfRow(table, row))) continue
        const text = keyTextOfRow(table, row)
        // An open row that is not in memory means that the memory is not the revision's: its tasks would read as absent.
        assert(!belongsInHot(table, row), `The open row ${JSON.stringify(text)} of ${table} was on disk and not in memory.`)
        looked[table].set(text, row)
      }
      for (const key of keys) if (!isKnown(table, key)) looked[table].set(keyText(key), null)
    },
    list(sha256) {
      assert(lists.has(sha256), `The fold read list ${sha256}, which listsOf did not name.`)
      return lists.get(sha256)
    },
    isListKnown: (sha256) => lists.has(sha256),
    loadList: (sha256, values) => void lists.set(sha256, values),
    tasksOf: (run_id) => index.tasksOf(run_id).map((text) => hot.tasks.get(text) as TaskRow),
    edgesFrom: (run_id, upstream_task_key) =>
      index.edgesFrom(run_id, upstream_task_key).map((text) => hot.dep_satisfaction.get(text) as DepSatisfactionRow),
    currentDefinition(asset_key) {
      const text = index.currentDefinition(asset_key)
      return text === undefined ? undefined : (hot.asset_definitions.get(text) as AssetDefinitionRow)
    },
    hotRows: (table) => Array.from(hot[table].values()) as Rows[typeof table][],
    appliedTotal: () => applied,
    countApplied: () => ++applied,
    dirtyCount: () => dirtyCount,
    stamp(row_version) {
      for (const { table, text, change } of unstamped) {
        change.stamped = true
        const rows = hot[table].has(text) ? hot[table] : looked[table]
        rows.set(text, { ...(rows.get(text) as AnyRow), row_version } as AnyRow)
      }
      unstamped = []
    },
    dirtyRows() {
      assert(unstamped.length === 0, 'Rows are published that carry no revision.')
      const published = new Map<TableName, readonly AnyRow[]>()
      for (const table of TABLE_NAMES) {
        const rows: AnyRow[] = []
        for (const [text, { dirty }] of changes[table]) if (dirty) rows.push((hot[table].get(text) ?? looked[table].get(text)) as AnyRow)
        if (rows.length > 0) published.set(table, rows)
      }
      return published
    },
    settle() {
      assert(unstamped.length === 0, 'Rows are settled that carry no revision.')
      for (const table of TABLE_NAMES) changes[table].clear()
      settledTotal = applied
      forget()
    },
    discard() {
      // In the order of TABLE_NAMES: a run has to be open again before its tasks are put back.
      for (const table of TABLE_NAMES) undo(table)
      applied = settledTotal
      forget()
    },
    follow(table, rows) {
      assert(dirtyCount === 0, 'A working set with unpublished rows followed another turn.')
      for (const row of rows) place(table, keyTextOfRow(table, row), row)
      // What was looked up is of the revision before.
      changes.tasks.clear()
      changes.dep_satisfaction.clear()
      forget()
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

const mapPerTable = <Row>(): MapPerTable<Row> =>
  Object.fromEntries(TABLE_NAMES.map((name) => [name, new Map<string, Row>()])) as unknown as MapPerTable<Row>
