// Where a key is in a sorted file: which row group, then which few rows of it, by halves over keys in memory, and then which
// row, in what is decoded of them.

import { compareKeys, type RowKey } from '../../projections/tables.js'
import type { GroupColumns } from '../columns/arrow-memory.js'
import type { FileLayout } from '../columns/file-column.js'
import { compareRows } from '../columns/key-order.js'
import { type GroupFile, MARK_ROWS } from './group-cache.js'
import { GAP_ROWS_MAX } from './row-picker.js'

/** True from some row on. */
export type IsPast = (columns: GroupColumns, row: number) => boolean

/** The last group that begins with a row that is not past; -1 when there is none. */
export async function lastGroupBefore(file: GroupFile, isPast: IsPast): Promise<number> {
  // A file that is begun at its first row needs no search.
  if (isPast(file.first_key, 0)) return -1
  let low = 1
  let high = file.group_rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const asked = file.marks(middle)
    if (isPast(asked instanceof Promise ? await asked : asked, 0)) high = middle
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

/** Decoded columns of a few rows, and which of these rows have which of the keys. Void when the call returns. */
export type OnHits = (columns: GroupColumns, rows: readonly number[], keys: readonly number[]) => void

/** Sorted keys, each once. */
export function sortedKeys(keys: readonly RowKey[]): readonly RowKey[] {
  const sorted = [...keys].sort(compareKeys)
  return sorted.filter((key, i) => i === 0 || compareKeys(sorted[i - 1] as RowKey, key) !== 0)
}

/** The rows of a file that have one of so many sorted keys, a few at a time, with these columns, the key's among them. */
export async function findKeys(
  layout: FileLayout,
  file: GroupFile,
  places: readonly number[],
  keys: GroupColumns,
  count: number,
  onHits: OnHits,
): Promise<void> {
  for (let next = 0; next < count; ) {
    const isPast: IsPast = (columns, row) => compareRows(layout, columns, row, keys, next) > 0
    const group = await lastGroupBefore(file, isPast)
    const end = await endOfGroup(
      file,
      group,
      (first) => firstPast(keys, next, count, (_, key) => compareRows(layout, keys, key, first, 0) >= 0),
      count,
    )
    if (group >= 0) await findInGroup(file, group, places, keys, next, end, onHits)
    next = end
  }
}

/** Looks for the keys from `next` up to `end`, none of which comes before the group's first row. */
async function findInGroup(
  file: GroupFile,
  group: number,
  places: readonly number[],
  keys: GroupColumns,
  next: number,
  end: number,
  onHits: OnHits,
): Promise<void> {
  const { layout } = file
  const count = file.group_rows[group] as number
  const marks = await file.marks(group)
  const markCount = Math.ceil(count / MARK_ROWS)
  /** The last mark that is not behind the key, from that one on. */
  const markOf = (key: number, from: number) =>
    firstPast(marks, from, markCount, (_, mark) => compareRows(layout, marks, mark, keys, key) > 0) - 1
  for (let key = next, mark = markOf(key, 0); key < end; ) {
    const first = key
    const start = Math.max(0, mark) * MARK_ROWS
    let stop = start + MARK_ROWS
    for (key++; key < end; key++) {
      mark = markOf(key, mark)
      if (mark * MARK_ROWS - stop > GAP_ROWS_MAX) break
      stop = (mark + 1) * MARK_ROWS
    }
    const last = key
    const stretch = { start, end: Math.min(stop, count) }
    await file.read(group, places, stretch, (columns) => searchStretch(layout, columns, stretch.end - start, keys, first, last, onHits))
  }
}

function searchStretch(
  layout: FileLayout,
  columns: GroupColumns,
  rows: number,
  keys: GroupColumns,
  first: number,
  last: number,
  onHits: OnHits,
): void {
  const found: number[] = []
  const asked: number[] = []
  for (let key = first, row = 0; key < last; key++) {
    row = firstPast(columns, row, rows, (_, at) => compareRows(layout, columns, at, keys, key) >= 0)
    if (row === rows) break
    if (compareRows(layout, columns, row, keys, key) !== 0) continue
    found.push(row)
    asked.push(key)
  }
  if (found.length > 0) onHits(columns, found, asked)
}

/** Which key is the first of a later group. */
async function endOfGroup(file: GroupFile, group: number, endBefore: (first: GroupColumns) => number, count: number): Promise<number> {
  const following = file.group_rows[group + 1]
  return following === undefined ? count : endBefore(await file.marks(group + 1))
}
