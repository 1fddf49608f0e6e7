// The rows that a fold may touch: what is hot, and what was looked up. A key that nobody loaded fails an assert and is
// never read as absent (DESIGN section 3, "Cost must not grow with history"). Rows are replaced, never changed in place.

import { assert } from '../core/errors.js'
import type { AssetDefinitionRow } from './asset-table.js'
import { createEndedRuns, type EndedRuns } from './ended-runs.js'
import { createRowIndex, isOpenRow, newSlot, type Slot } from './row-index.js'
import type { DepSatisfactionRow, RunRow, TaskRow } from './run-table.js'
import {
  type AnyRow,
  type ChangedRows,
  type KeyedRow,
  keyOfRow,
  keyText,
  keyTextOfRow,
  type LooseRow,
  type RowKey,
  type Rows,
  TABLE_NAMES,
  TABLES,
  type TableName,
} from './tables.js'

export type Change<Name extends TableName> = { readonly before: Rows[Name] | undefined; readonly after: Rows[Name] }

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

  readonly ended: Pick<EndedRuns, 'get' | 'isKnown' | 'load' | 'forgetLoaded'>

  // Ways in besides the key, over hot rows alone. A run that is not over has all of its tasks and edges here.
  // The order of what they return is that of arrival, and differs between processes: nothing may depend on it.
  readonly isRunOpen: (run_id: string) => boolean
  readonly tasksOf: (run_id: string) => readonly TaskRow[]
  readonly edgesFrom: (run_id: string, upstream_task_key: string) => readonly DepSatisfactionRow[]
  /** Runs that are not over, whatever the tick: for schedules whose runs must not overlap. */
  readonly openRunsOf: (schedule_id: string) => readonly RunRow[]
  readonly currentDefinition: (asset_key: string) => AssetDefinitionRow | undefined
  readonly hotRows: <Name extends TableName>(table: Name) => readonly Rows[Name][]

  /** How many events were applied so far, in recorded order: the source of every ordinal. */
  readonly appliedTotal: () => number
  readonly countApplied: () => number

  readonly dirtyCount: () => number
  /** Stamps what changed since the last stamp with this revision's sequence. */
  readonly stamp: (row_version: number) => void
  /** What changed since the last settle, to be published. */
  readonly dirtyRows: () => ChangedRows
  /** The same rows of one table, each beside what it was at the last settle; undefined: it was not in memory then. */
  readonly changesOf: <Name extends TableName>(table: Name) => readonly Change<Name>[]
  /** What the next settle forgets and nobody else has yet: rows that were written or hot since the last one, and are hot no
   *  more. Who keeps them needs no other publish. */
  readonly leavingRows: () => ChangedRows
  /** The dirty rows are published: forget that they changed, and every row that is not hot. */
  readonly settle: () => void
  /** The publish was lost: everything is again as it was after the last settle. */
  readonly discard: () => void
  /** Another process published these rows. `runs` must come before the tables of its tasks. Only on a settled set. */
  readonly follow: (table: TableName, rows: readonly AnyRow[]) => void
  readonly followTotal: (appliedTotal: number) => void
}

export const missingKeys = (rows: WorkingSet, keys: readonly KeyedRow[]): readonly KeyedRow[] =>
  keys.filter(({ table, key }) => !rows.isKnown(table, key))

/** The slots of all keys that are known, and how to undo what a turn did to them. */
function createSlots() {
  const slots = Object.fromEntries(TABLE_NAMES.map((name) => [name, new Map()])) as { readonly [Name in TableName]: Map<string, Slot> }
  const index = createRowIndex()
  /** Written, or cooled, since the last settle. */
  let touched: Slot[] = []
  /** Of those that ended since the last settle, what is not in a slot is nowhere: all of an open run was in memory. */
  const ended = createEndedRuns()
  /** Not hot when they were pushed: what still is not goes with the next settle. */
  let passing: Slot[] = []

  function slotFor(table: TableName, text: string): Slot {
    const known = slots[table].get(text)
    if (known !== undefined) return known
    const slot = newSlot(table, text)
    slots[table].set(text, slot)
    passing.push(slot)
    return slot
  }

  /** Whether the row stays in memory after the next settle. Tasks and edges stay with their run. */
  function belongsInHot(table: TableName, row: AnyRow): boolean {
    const { residency } = TABLES[table]
    if (typeof residency === 'object') return isOpenRow(residency.while_open, row)
    switch (residency) {
      case 'whole':
        return table !== 'pools' || (row as Rows['pools']).expires_at === null
      case 'on_disk':
        return false
      case 'with_run':
        return index.isOpen((row as TaskRow).run_id)
    }
  }

  function touch(slot: Slot): void {
    if (slot.isTouched) return
    slot.isTouched = true
    slot.before = slot.isHot ? slot.row : null
    touched.push(slot)
  }

  function place(slot: Slot, row: AnyRow): void {
    const isHot = belongsInHot(slot.table, row)
    const wasHot = slot.isHot
    slot.row = row
    slot.isHot = isHot
    if (isHot && !wasHot) index.add(slot)
    if (isHot || !wasHot) return
    index.remove(slot)
    passing.push(slot)
    if (slot.table === 'runs') coolRun(slot.text)
  }

  /** The run is over, and takes its tasks and edges with it: known until the next settle, then on disk alone. */
  function coolRun(run_id: string): void {
    const slots = index.removeRun(run_id)
    ended.add(run_id, slots)
    for (const slot of slots) {
      touch(slot)
      slot.isHot = false
      passing.push(slot)
    }
  }

  function untouch(): void {
    for (const slot of touched) {
      slot.isTouched = false
      slot.before = null
      slot.isDirty = false
      slot.isStamped = true
    }
    touched = []
  }

  function forgetPassing(): void {
    for (const { table, text, isHot } of passing) if (!isHot) slots[table].delete(text)
    passing = []
    ended.clear()
  }

  const isWholeRun = (run_id: string): boolean => index.isOpen(run_id) || ended.hasEndedHere(run_id)

  function undo(slot: Slot): void {
    if (slot.before !== null) {
      slot.row = slot.before
      slot.isHot = true
      index.add(slot)
    } else if (slot.isHot) {
      index.remove(slot)
      if (slot.table === 'runs') index.removeRun(slot.text)
      slot.isHot = false
      passing.push(slot)
    }
  }

  function undoAll(): void {
    // A run has to be open again before its tasks are put back.
    for (const slot of touched) if (slot.table === 'runs') undo(slot)
    for (const slot of touched) if (slot.table !== 'runs') undo(slot)
    untouch()
  }

  return { slots, index, ended, slotFor, belongsInHot, isWholeRun, touch, touched: () => touched, place, untouch, undoAll, forgetPassing }
}

export function createWorkingSet(startingTotal: number): WorkingSet {
  const { slots, index, ended, slotFor, belongsInHot, isWholeRun, touch, touched, place, untouch, undoAll, forgetPassing } = createSlots()
  const lists = new Map<string, readonly string[] | undefined>()
  let unstamped: Slot[] = []
  let dirtyCount = 0
  let applied = startingTotal
  let settledTotal = startingTotal

  const isKnown = (table: TableName, key: RowKey): boolean => isKnownAsWhole(table, key) || slots[table].has(keyText(key))

  /** Whatever is not there is absent. */
  function isKnownAsWhole(table: TableName, key: RowKey): boolean {
    const { residency } = TABLES[table]
    return residency === 'with_run' ? isWholeRun(String(key[0])) : residency === 'whole'
  }

  function touchedRows(isWanted: (slot: Slot) => boolean): ChangedRows {
    assert(unstamped.length === 0, 'Rows are published that carry no revision.')
    const byTable = new Map<TableName, Map<string, LooseRow>>()
    for (const slot of touched()) {
      if (!isWanted(slot)) continue
      const { table, text, row } = slot
      const rows = byTable.get(table)
      if (rows === undefined) byTable.set(table, new Map([[text, row as unknown as LooseRow]]))
      else rows.set(text, row as unknown as LooseRow)
    }
    return byTable
  }

  function forget(): void {
    unstamped = []
    dirtyCount = 0
    lists.clear()
    forgetPassing()
  }

  return {
    get(table, ...key) {
      const slot = slots[table].get(keyText(key))
      if (slot === undefined) assert(isKnown(table, key), `The fold read ${table} ${JSON.stringify(key)}, which keysOf did not name.`)
      return (slot?.row ?? undefined) as Rows[typeof table] | undefined
    },
    put(table, row) {
      const slot = slotFor(table, keyTextOfRow(table, row))
      assert(slot.row !== row, `The fold put a row of ${table} that it had not replaced.`)
      touch(slot)
      if (!slot.isDirty) dirtyCount++
      slot.isDirty = true
      if (slot.isStamped) unstamped.push(slot)
      slot.isStamped = false
      place(slot, row)
    },
    isKnown,
    load(table, keys, rows) {
      for (const row of rows) {
        if (isKnown(table, keyOfRow(table, row))) continue
        const text = keyTextOfRow(table, row)
        // An open row that is not in memory means that the memory is not the revision's: its tasks would read as absent.
        assert(!belongsInHot(table, row), `The open row ${JSON.stringify(text)} of ${table} was on disk and not in memory.`)
        slotFor(table, text).row = row
      }
      for (const key of keys) if (!isKnownAsWhole(table, key)) slotFor(table, keyText(key))
    },
    list(sha256) {
      assert(lists.has(sha256), `The fold read list ${sha256}, which listsOf did not name.`)
      return lists.get(sha256)
    },
    isListKnown: (sha256) => lists.has(sha256),
    loadList: (sha256, values) => void lists.set(sha256, values),
    ended,
    isRunOpen: index.isOpen,
    tasksOf: index.tasksOf,
    edgesFrom: index.edgesFrom,
    openRunsOf: index.openRunsOf,
    currentDefinition: index.currentDefinition,
    hotRows(table) {
      const rows: AnyRow[] = []
      for (const { row, isHot } of slots[table].values()) if (isHot) rows.push(row as AnyRow)
      return rows as unknown as Rows[typeof table][]
    },
    appliedTotal: () => applied,
    countApplied: () => ++applied,
    dirtyCount: () => dirtyCount,
    stamp(row_version) {
      for (const slot of unstamped) {
        slot.isStamped = true
        // Made since the last stamp and seen by nobody outside: this alone is written in place.
        ;(slot.row as { row_version: number }).row_version = row_version
      }
      unstamped = []
    },
    dirtyRows: () => touchedRows(({ isDirty }) => isDirty),
    leavingRows: () => touchedRows(({ isHot }) => !isHot),
    changesOf(table) {
      const changes: unknown[] = []
      for (const slot of touched()) {
        if (slot.table === table && slot.isDirty) changes.push({ before: slot.before ?? undefined, after: slot.row })
      }
      return changes as readonly Change<typeof table>[]
    },
    settle() {
      assert(unstamped.length === 0, 'Rows are settled that carry no revision.')
      untouch()
      settledTotal = applied
      forget()
    },
    discard() {
      undoAll()
      applied = settledTotal
      forget()
    },
    follow(table, rows) {
      assert(dirtyCount === 0, 'A working set with unpublished rows followed another turn.')
      for (const row of rows) place(slotFor(table, keyTextOfRow(table, row)), row)
      untouch()
      // What was looked up is of the revision before.
      forget()
    },
    followTotal(appliedTotal) {
      applied = appliedTotal
      settledTotal = appliedTotal
    },
  }
}
