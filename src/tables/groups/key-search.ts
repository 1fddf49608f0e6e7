// Where a key is in a sorted file: which row group, then which row, by halves. It decodes key columns alone, and of a
// group's first row only once.

import { compareKeys, type RowKey } from '../../projections/tables.js'
import type { GroupColumns } from '../columns/arrow-memory.js'
import type { ColumnData } from '../columns/column-data.js'
import type { FileLayout } from '../columns/file-column.js'
import { columnsOfKey, compareRows } from '../columns/key-order.js'
import { rowKeyAt } from '../columns/row-decoder.js'
import type { GroupFile } from './group-cache.js'

/** True from some row on. */
export type IsPast = (columns: GroupColumns, row: number) => boolean

async function firstKeyOf(file: GroupFile, group: number): Promise<GroupColumns> {
  const known = file.first_keys[group]
  if (known !== undefined) return known
  const { layout } = file
  const columns = await file.columns(group, layout.key)
  const first = columnsOfKey(layout, rowKeyAt(layout, columns as readonly ColumnData[], 0))
  file.first_keys[group] = first
  return first
}

/** The last group that begins with a row that is not past; -1 when there is none. */
export async function lastGroupBefore(file: GroupFile, isPast: IsPast): Promise<number> {
  // A file that is begun at its first row needs no search.
  if (isPast(await firstKeyOf(file, 0), 0)) return -1
  let low = 1
  let high = file.group_rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isPast(await firstKeyOf(file, middle), 0)) high = middle
    else low = middle + 1
  }
  return low - 1
}

/** The first row from `start` on that is past, or `end`: in doubling steps, then by halves. */
export function firstPast(columns: GroupColumns, start: number, end: number, isPast: IsPast): number {
  let low = start
  let step = 1
  while (low + step <= end && !isPast(columns, low + step - 1)) {
    low += step
    step *= 2
  }
  let high = Math.min(low + step - 1, end)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isPast(columns, middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** Rows of one group, and which of the keys each has. */
type Hits = { readonly group: number; readonly rows: readonly number[]; readonly keys: readonly number[] }

/** Sorted keys, each once. */
export function sortedKeys(keys: readonly RowKey[]): readonly RowKey[] {
  const sorted = [...keys].sort(compareKeys)
  return sorted.filter((key, i) => i === 0 || compareKeys(sorted[i - 1] as RowKey, key) !== 0)
}

/** The rows of a file that have one of so many sorted keys, group after group. */
export async function* findKeys(layout: FileLayout, file: GroupFile, keys: GroupColumns, count: number): AsyncGenerator<Hits> {
  for (let next = 0; next < count; ) {
    const isPast: IsPast = (columns, row) => compareRows(layout, columns, row, keys, next) > 0
    const group = await lastGroupBefore(file, isPast)
    const end = await endOfGroup(
      file,
      group,
      (first) => firstPast(keys, next, count, (_, key) => compareRows(layout, keys, key, first, 0) >= 0),
      count,
    )
    if (group < 0) {
      next = end
      continue
    }
    const columns = await file.columns(group, layout.key)
    const rows: number[] = []
    const found: number[] = []
    for (let key = next, from = 0; key < end; key++) {
      from = firstPast(columns, from, file.group_rows[group] as number, (_, row) => compareRows(layout, columns, row, keys, key) >= 0)
      if (from === file.group_rows[group]) break
      if (compareRows(layout, columns, from, keys, key) !== 0) continue
      rows.push(from)
      found.push(key)
    }
    if (rows.length > 0) yield { group, rows, keys: found }
    next = end
  }
}

/** Which key is the first of a later group. */
async function endOfGroup(file: GroupFile, group: number, endBefore: (first: GroupColumns) => number, count: number): Promise<number> {
  const following = file.group_rows[group + 1]
  return following === undefined ? count : endBefore(await firstKeyOf(file, group + 1))
}
