// The first rows that fit, in key order, from row groups: files that follow one another are one run, and the runs are
// read side by side only as far as the page goes. It gives up on a condition that hardly any row fits.

import { setImmediate as letOthersRun } from 'node:timers/promises'
import type { KeyValue } from '../../projections/table.js'
import { type LooseRow, tableNamed } from '../../projections/tables.js'
import type { GroupColumns } from '../columns/arrow-memory.js'
import type { FileColumn, FileLayout } from '../columns/file-column.js'
import { columnsOfKey, compareRows, withLeadingKey } from '../columns/key-order.js'
import { declaredPlaces } from '../columns/parquet-reader.js'
import { rowFilter } from '../condition.js'
import { equalPrefix } from '../key-range.js'
import type { Condition, Scan } from '../table-files.js'
import type { GroupFile } from './group-cache.js'
import { firstPast, type IsPast, lastGroupBefore } from './key-search.js'
import { type PartialLayout, partialLayout, pickPartly, pickRows } from './row-picker.js'

/** Rows that are tested at once. */
const SLICE_ROWS = 128

/** Rows decoded before others have their turn. */
const DECODED_ROWS_A_STEP = 1_024

type Plan = {
  readonly layout: FileLayout
  /** What the place of a row does not answer already; absent where that is everything. */
  readonly fits: ((row: LooseRow) => boolean) | undefined
  /** What a row is tested by. */
  readonly tested: PartialLayout
  /** Columns to find and to test rows by. */
  readonly places: readonly number[]
  readonly isAtStart: IsPast
  readonly isAtEnd: IsPast
  /** How many may still be tested; below 0 the scan is given up. */
  rows_left: number
}

/** A run of files, and the next row of it that fits. */
type Cursor = {
  readonly files: readonly GroupFile[]
  /** -1 before the first. */
  file: number
  group: number
  columns: GroupColumns
  row: number
  /** Of the slice that was tested last, the rows that fit, and which of them comes next. */
  fitting: readonly number[]
  next_fitting: number
  /** Rows of the group that were not tested yet: up to `end` they may fit. */
  untested: number
  end: number
  is_over: boolean
}

type Pick = { readonly file: GroupFile; readonly group: number; readonly row: number }

/** undefined: too many rows would have to be looked at. */
export async function scanRows(
  layout: FileLayout,
  runs: readonly (readonly GroupFile[])[],
  scan: Scan,
  tested_rows_max: number,
): Promise<readonly LooseRow[] | undefined> {
  const plan = planOf(layout, scan, tested_rows_max)
  if (plan === undefined) return []
  let cursors = runs.map(cursorOf)
  const found = await Promise.all(cursors.map((cursor) => advance(plan, cursor)))
  cursors = cursors.filter((_, i) => found[i])
  const picks: Pick[] = []
  while (picks.length < scan.limit && plan.rows_left >= 0) {
    const next = leastOf(layout, cursors)
    if (next === undefined) break
    picks.push({ file: next.files[next.file] as GroupFile, group: next.group, row: next.row })
    if (picks.length < scan.limit && !stepInSlice(next) && !(await advance(plan, next)))
      cursors = cursors.filter((cursor) => cursor !== next)
  }
  return plan.rows_left < 0 ? undefined : decodePicks(layout, picks)
}

/** undefined: no row can fit. */
function planOf(layout: FileLayout, { where = [], after }: Scan, tested_rows_max: number): Plan | undefined {
  const { table, key, columns } = layout
  for (const condition of where) rowFilter(table, [condition])
  const prefix = equalPrefix(table, where)
  if (prefix.some((value, part) => !canHold(columns[key[part] as number] as FileColumn, value))) return undefined
  const byPrefix = withLeadingKey(layout, prefix.length)
  const held = columnsOfKey(byPrefix, prefix)
  const last = after === undefined ? undefined : columnsOfKey(layout, after)
  const comparePrefix = (rows: GroupColumns, row: number) => compareRows(byPrefix, rows, row, held, 0)
  const startsAt = last === undefined ? -1 : comparePrefix(last, 0)
  if (startsAt > 0) return undefined
  const isAnswered = (condition: Condition): boolean => {
    const part = tableNamed(table).key.indexOf(condition.column)
    return part >= 0 && part < prefix.length && 'is' in condition && condition.is === '=' && condition.value === prefix[part]
  }
  const others = where.filter((condition) => !isAnswered(condition))
  const asked = others.map(({ column }) => columns.findIndex(({ name }) => name === column))
  return {
    layout,
    fits: others.length === 0 ? undefined : rowFilter(table, others),
    tested: partialLayout(layout, [...new Set([...asked, layout.row_version])]),
    places: [...new Set([...key, ...asked, layout.row_version])],
    isAtStart:
      last === undefined || startsAt < 0
        ? (rows, row) => comparePrefix(rows, row) >= 0
        : (rows, row) => compareRows(layout, rows, row, last, 0) > 0,
    isAtEnd: (rows, row) => comparePrefix(rows, row) > 0,
    rows_left: tested_rows_max,
  }
}

/** No row has a number that its column cannot hold. */
function canHold({ type }: FileColumn, value: KeyValue): boolean {
  if (typeof value === 'string' || type === 'double') return true
  return Number.isSafeInteger(value) && (type !== 'int32' || (value | 0) === value)
}

const cursorOf = (files: readonly GroupFile[]): Cursor => ({
  files,
  file: -1,
  group: 0,
  columns: [],
  row: 0,
  fitting: [],
  next_fitting: 0,
  untested: 0,
  end: 0,
  is_over: false,
})

/** On to the next row of the slice that fits; false when there is none. */
function stepInSlice(cursor: Cursor): boolean {
  const row = cursor.fitting[cursor.next_fitting]
  if (row === undefined) return false
  cursor.row = row
  cursor.next_fitting++
  return true
}

/** On to the next row that fits; false when there is none, or too many would have to be tested. */
async function advance(plan: Plan, cursor: Cursor): Promise<boolean> {
  for (;;) {
    if (stepInSlice(cursor)) return true
    if (plan.rows_left < 0) return false
    if (cursor.untested < cursor.end) testSlice(plan, cursor)
    else if (!(await openGroup(plan, cursor))) return false
  }
}

function testSlice(plan: Plan, cursor: Cursor): void {
  const { fits, tested } = plan
  const start = cursor.untested
  cursor.untested = Math.min(cursor.end, start + SLICE_ROWS)
  cursor.next_fitting = 0
  cursor.fitting = Array.from({ length: cursor.untested - start }, (_, i) => start + i)
  if (fits === undefined) return
  plan.rows_left -= cursor.fitting.length
  const rows = pickPartly(tested, cursor.columns, cursor.fitting)
  cursor.fitting = cursor.fitting.filter((_, i) => fits(rows[i] as LooseRow))
}

async function openGroup(plan: Plan, cursor: Cursor): Promise<boolean> {
  const { isAtStart, isAtEnd, places } = plan
  if (cursor.is_over) return false
  const before = cursor.files[cursor.file]
  const isFileOver = before === undefined || cursor.group + 1 === before.group_rows.length
  if (isFileOver) cursor.file++
  const file = cursor.files[cursor.file]
  if (file === undefined) return false
  cursor.group = isFileOver ? Math.max(0, await lastGroupBefore(file, isAtStart)) : cursor.group + 1
  const count = file.group_rows[cursor.group] as number
  cursor.columns = await file.columns(cursor.group, places)
  cursor.untested = firstPast(cursor.columns, 0, count, isAtStart)
  cursor.end = firstPast(cursor.columns, cursor.untested, count, isAtEnd)
  cursor.is_over = cursor.end < count
  return true
}

function leastOf(layout: FileLayout, cursors: readonly Cursor[]): Cursor | undefined {
  let least: Cursor | undefined
  for (const cursor of cursors) {
    if (least === undefined || compareRows(layout, cursor.columns, cursor.row, least.columns, least.row) < 0) least = cursor
  }
  return least
}

async function decodePicks(layout: FileLayout, picks: readonly Pick[]): Promise<readonly LooseRow[]> {
  const decoded = new Array<LooseRow>(picks.length)
  const byGroup = new Map<GroupFile, Map<number, number[]>>()
  picks.forEach(({ file, group }, i) => {
    const groups = byGroup.get(file) ?? new Map<number, number[]>()
    byGroup.set(file, groups)
    const indexes = groups.get(group)
    if (indexes === undefined) groups.set(group, [i])
    else indexes.push(i)
  })
  const places = declaredPlaces(layout)
  for (const [file, groups] of byGroup) {
    for (const [group, indexes] of groups) {
      for (let start = 0; start < indexes.length; start += DECODED_ROWS_A_STEP) {
        if (start > 0) await letOthersRun()
        const step = indexes.slice(start, start + DECODED_ROWS_A_STEP)
        const rows = step.map((i) => (picks[i] as Pick).row)
        const picked = await pickRows(file, group, places, rows)
        picked.forEach((row, i) => {
          decoded[step[i] as number] = row
        })
      }
    }
  }
  return decoded
}
