// The rows of one table from many sorted runs, in key order and each key once: of equal keys the row of the newest run. It
// holds a few rows of each run, and no run whole.

import { compareText } from '../../core/order.js'
import type { RowValues } from './row-text.js'

/** Its next rows, in key order; undefined: there are no more. */
export type SortedRun = () => readonly RowValues[] | undefined

type Cursor = { readonly next: SortedRun; readonly age: number; rows: readonly RowValues[]; at: number }

/** Oldest run first. Answers one row after another, then undefined. */
export function mergedRuns(runs: readonly SortedRun[], key_places: readonly number[]): () => RowValues | undefined {
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
