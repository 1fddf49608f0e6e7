// A table file on local disk that is read a row group at a time, in its order. It holds one group, in memory of its
// own, and stops at a file whose rows are not sorted: a merge of such files would silently keep two rows of one key.

import { corrupt } from '../../core/errors.js'
import type { GroupColumns } from './arrow-memory.js'
import {
  addRun,
  appendNulls,
  appendRuns,
  type ColumnBuilder,
  type ColumnData,
  createColumnBuilder,
  createRuns,
  emptyColumn,
} from './column-data.js'
import type { FileColumn, FileLayout } from './file-column.js'
import { columnsOfKey, compareRows } from './key-order.js'
import { declaredPlaces, type FileBytes, openHandle, openParquet, RUN_VERIFY, readRange } from './parquet-reader.js'
import type { Parquet } from './parquet-writer.js'
import { rowKeyAt } from './row-decoder.js'

export type ParquetSource = {
  readonly path: string
  /** The next group's columns, in the memory of those before; undefined after the last group. */
  readonly next: () => Promise<GroupColumns | undefined>
  readonly close: () => Promise<void>
}

function checkOrder(layout: FileLayout, path: string, columns: GroupColumns, before: GroupColumns | undefined): void {
  const rows = columns[layout.row_version]?.rows ?? 0
  let isSorted = before === undefined || compareRows(layout, before, 0, columns, 0) < 0
  for (let row = 1; row < rows && isSorted; row++) isSorted = compareRows(layout, columns, row - 1, columns, row) < 0
  if (!isSorted) throw corrupt(`The rows of ${path} are not sorted by the key of ${layout.table}. ${RUN_VERIFY}`)
}

/** Copies a group out of WebAssembly, over the group before it: memory for one group is enough for a file. */
function copyGroup(builders: ReadonlyMap<number, ColumnBuilder>, columns: GroupColumns, rows: number): void {
  const whole = createRuns(1)
  addRun(whole, 0, 0, rows)
  for (const [place, builder] of builders) {
    emptyColumn(builder)
    const data = columns[place]
    if (data === undefined) appendNulls(builder, rows)
    else appendRuns(builder, [data], whole, rows)
  }
}

export async function openSource(parquet: Parquet, layout: FileLayout, path: string): Promise<ParquetSource> {
  const handle = await openHandle(path)
  try {
    const { size } = await handle.stat()
    const bytes: FileBytes = { size, read: (start, end) => readRange(handle, path, start, end) }
    const reader = await openParquet(parquet, layout, path, bytes)
    const places = declaredPlaces(layout)
    const builders = new Map(places.map((place) => [place, createColumnBuilder(layout.columns[place] as FileColumn, 1)]))
    let group = 0
    let last: GroupColumns | undefined
    const next = async (): Promise<GroupColumns | undefined> => {
      const rows = reader.group_rows[group]
      if (rows === undefined) return undefined
      await reader.read(group++, places, (read) => copyGroup(builders, read, rows))
      const columns = layout.columns.map((_column, place) => builders.get(place))
      checkOrder(layout, path, columns, last)
      last = columnsOfKey(layout, rowKeyAt(layout, columns as readonly ColumnData[], rows - 1))
      return columns
    }
    const close = async (): Promise<void> => {
      reader.close()
      await handle.close()
    }
    return { path, next, close }
  } catch (error) {
    await handle.close()
    throw error
  }
}
