// The order of keys on columns: what a file is sorted by, without a value being made of any. It never looks at a column
// that is no part of the key.

import { assert } from '../../core/errors.js'
import type { LooseRow, RowKey } from '../../projections/tables.js'
import type { GroupColumns } from './arrow-memory.js'
import { appendValues, type ColumnData, compareTexts, createColumnBuilder } from './column-data.js'
import { type FileLayout, storageOf } from './file-column.js'
import { integerAt } from './row-decoder.js'

export function compareRows(layout: FileLayout, left: GroupColumns, leftRow: number, right: GroupColumns, rightRow: number): number {
  for (const place of layout.key) {
    const a = left[place] as ColumnData
    const b = right[place] as ColumnData
    const difference = compareValues(layout, a, leftRow, b, rightRow)
    if (difference !== 0) return difference
  }
  return 0
}

function compareValues(layout: FileLayout, left: ColumnData, leftRow: number, right: ColumnData, rightRow: number): number {
  switch (storageOf(left.column)) {
    case 'text':
      return compareTexts(left, leftRow, right, rightRow)
    case 'word':
      return (left.words[leftRow] as number) - (right.words[rightRow] as number)
    case 'pair':
      return integerAt(layout.table, left, leftRow) - integerAt(layout.table, right, rightRow)
  }
}

/** The same layout with a shorter key: its rows are compared by their first key columns alone. */
export const withLeadingKey = (layout: FileLayout, count: number): FileLayout => ({ ...layout, key: layout.key.slice(0, count) })

/** Key columns of rows that are nowhere else, to be compared with. */
export function columnsOfKeys(layout: FileLayout, keys: readonly RowKey[]): GroupColumns {
  const columns: (ColumnData | undefined)[] = []
  layout.key.forEach((place, part) => {
    const column = layout.columns[place]
    assert(column !== undefined, `${layout.table} has no column at place ${place}.`)
    const builder = createColumnBuilder(column, keys.length)
    const values = keys.map((key) => ({ [column.name]: key[part] }) as unknown as LooseRow)
    appendValues(layout.table, builder, values, 0, keys.length)
    columns[place] = builder
  })
  return columns
}

export const columnsOfKey = (layout: FileLayout, key: RowKey): GroupColumns => columnsOfKeys(layout, [key])
