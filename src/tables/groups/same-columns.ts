// Columns that say the same in every row of a group: the kind of an attempt that succeeded, an error that nobody had. A third of
// what a look-up decodes was theirs, so a group's are remembered once somebody looked, a row of each.

import type { GroupColumns } from '../columns/arrow-memory.js'
import {
  addRun,
  appendRuns,
  type ColumnData,
  compareTexts,
  copyColumn,
  createColumnBuilder,
  createRuns,
  dataBytes,
} from '../columns/column-data.js'
import { storageOf } from '../columns/file-column.js'

/** By place, one row of each; undefined: no row has a value. */
export type SameColumns = ReadonlyMap<number, ColumnData | undefined>

/** Those of these columns, all rows of a group, that are the same in every row. */
export function sameColumns(columns: GroupColumns, places: readonly number[]): SameColumns {
  const same = new Map<number, ColumnData | undefined>()
  for (const place of places) {
    const data = columns[place]
    if (data === undefined || data.nulls === data.rows) same.set(place, undefined)
    else if (isSameInEveryRow(data)) same.set(place, copyColumn(repeated(data, 1)))
  }
  return same
}

function isSameInEveryRow(data: ColumnData): boolean {
  if (data.nulls > 0) return false
  const { words, rows } = data
  switch (storageOf(data.column)) {
    case 'text': {
      for (let row = 1; row < rows; row++) if (compareTexts(data, 0, data, row) !== 0) return false
      return true
    }
    case 'word': {
      for (let row = 1; row < rows; row++) if (words[row] !== words[0]) return false
      return true
    }
    case 'pair': {
      for (let row = 1; row < rows; row++) if (words[2 * row] !== words[0] || words[2 * row + 1] !== words[1]) return false
      return true
    }
  }
}

/** What was read of so many rows, and these columns as if they had been read with it. */
export const withSame = (columns: GroupColumns, same: SameColumns, places: readonly number[], rows: number): GroupColumns => {
  const whole = [...columns]
  for (const place of places) {
    const data = same.get(place)
    if (data !== undefined) whole[place] = repeated(data, rows)
  }
  return whole
}

/** The first row, so many times. */
function repeated(data: ColumnData, rows: number): ColumnData {
  const runs = createRuns(rows)
  for (let row = 0; row < rows; row++) addRun(runs, 0, 0, 1)
  const builder = createColumnBuilder(data.column, rows)
  appendRuns(builder, [data], runs, rows)
  return builder
}

export function sameBytes(same: SameColumns): number {
  let bytes = 0
  for (const data of same.values()) bytes += data === undefined ? 0 : dataBytes(data)
  return bytes
}
