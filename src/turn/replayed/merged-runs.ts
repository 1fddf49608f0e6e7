// The rows of one table from many sorted runs, in key order and each key once: of equal keys the row of the newest run. It
// holds a few rows of each run, and no run whole.

import type { RowsInOrder } from '../../compactor/compare.js'
import { compareText } from '../../core/order.js'
import type { TableName } from '../../projections/tables.js'
import { parseLines, type RowValues, rowTextOf } from './row-text.js'
import type { Lines } from './spill-file.js'

/** Lines of one table in key order: where they begin, and where they end. */
export type SpilledRun = { readonly table: TableName; readonly start: number; readonly end: number }

/** Of each run at a time: hundreds are read at once. */
const READ_BYTES = 16 * 1_024

/** Every row of a table in key order, from runs of which the oldest comes first. */
export const rowsInOrder =
  (lines: Lines, runs: readonly SpilledRun[]): RowsInOrder =>
  (table) => {
    const { rowOf, key_places } = rowTextOf(table)
    const ofTable = runs.filter((run) => run.table === table).map((run) => readRun(lines, run))
    const next = mergedRuns(ofTable, key_places)
    return () => {
      const values = next()
      return values === undefined ? undefined : rowOf(values)
    }
  }

function readRun({ lines }: Lines, { start, end }: SpilledRun): SortedRun {
  let place = start
  return () => {
    if (place === end) return undefined
    const { text, next } = lines(place, end, READ_BYTES)
    place = next
    return parseLines(text)
  }
}

/** Its next rows, in key order; undefined: there are no more. */
type SortedRun = () => readonly RowValues[] | undefined

type Cursor = { readonly next: SortedRun; readonly age: number; rows: readonly RowValues[]; at: number }

/** Oldest run first. Answers one row after another, then undefined. */
function mergedRuns(runs: readonly SortedRun[], key_places: readonly number[]): () => RowValues | undefined {
  const heap: Cursor[] = []

  function isBefore(left: Cursor, right: Cursor): boolean {
    const order = compareAt(key_places, left.rows[left.at] as RowValues, right.rows[right.at] as RowValues)
    return order === 0 ? left.age > right.age : order < 0
  }

  /** Puts the cursor at this place where it belongs, below. */
  function sink(from: number): void {
    const cursor = heap[from] as Cursor
    let place = from
    for (let child = 2 * place + 1; child < heap.length; child = 2 * place + 1) {
      const other = heap[child + 1]
      if (other !== undefined && isBefore(other, heap[child] as Cursor)) child += 1
      if (isBefore(cursor, heap[child] as Cursor)) break
      heap[place] = heap[child] as Cursor
      place = child
    }
    heap[place] = cursor
  }

  /** Moves the first cursor on, or takes it out when its run is over. */
  function advance(): void {
    const cursor = heap[0] as Cursor
    cursor.at += 1
    if (cursor.at === cursor.rows.length && !refill(cursor)) {
      const last = heap.pop() as Cursor
      if (heap.length === 0) return
      heap[0] = last
    }
    sink(0)
  }

  for (const [age, next] of runs.entries()) {
    const cursor: Cursor = { next, age, rows: [], at: 0 }
    if (refill(cursor)) heap.push(cursor)
  }
  for (let place = (heap.length >> 1) - 1; place >= 0; place--) sink(place)

  return () => {
    const row = heap[0]?.rows[heap[0].at]
    if (row === undefined) return undefined
    advance()
    // What the older runs have of this key was replaced.
    for (let head = heap[0]; head !== undefined; head = heap[0]) {
      if (compareAt(key_places, head.rows[head.at] as RowValues, row) !== 0) break
      advance()
    }
    return row
  }
}

function refill(cursor: Cursor): boolean {
  const rows = cursor.next()
  cursor.rows = rows ?? []
  cursor.at = 0
  return cursor.rows.length > 0
}

/** The order of the files. */
function compareAt(key_places: readonly number[], left: RowValues, right: RowValues): number {
  for (const place of key_places) {
    const a = left[place] as string | number
    const b = right[place] as string | number
    if (a === b) continue
    return typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b))
  }
  return 0
}
