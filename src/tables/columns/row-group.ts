// A row group that is being filled: a builder for each column of the file. It knows when the group is large enough.

import type { LooseRow } from '../../projections/tables.js'
import type { GroupColumns } from './arrow-memory.js'
import {
  appendRuns,
  appendText,
  appendValues,
  type ColumnBuilder,
  type ColumnData,
  columnBytes,
  createColumnBuilder,
  emptyColumn,
  type Runs,
} from './column-data.js'
import { type FileLayout, type FileScope, SCOPE_COLUMN_COUNT } from './file-column.js'

/** A look-up decodes one group: 3 ms for every column of it, where 16,384 rows take 15 ms (measured). Fewer rows a group
 *  would make files larger. */
export const ROW_GROUP_ROWS = 2_048

/** Rows with long texts make smaller groups: a group is held a few times over while it is written. */
const ROW_GROUP_BYTES = 16 * 1024 * 1024

export type RowGroup = {
  readonly layout: FileLayout
  readonly scope: FileScope
  readonly columns: readonly ColumnBuilder[]
}

export const createRowGroup = (layout: FileLayout, scope: FileScope, capacity: number): RowGroup => ({
  layout,
  scope,
  columns: layout.columns.map((column) => createColumnBuilder(column, capacity)),
})

export const rowCount = (group: RowGroup): number => (group.columns[0] as ColumnBuilder).rows

export function isFull(group: RowGroup): boolean {
  if (rowCount(group) >= ROW_GROUP_ROWS) return true
  let bytes = 0
  for (const builder of group.columns) bytes += columnBytes(builder)
  return bytes >= ROW_GROUP_BYTES
}

export function emptyRowGroup(group: RowGroup): void {
  for (const builder of group.columns) emptyColumn(builder)
}

function appendScope({ columns, scope }: RowGroup, count: number): void {
  const values = [scope.tenant_id, scope.workspace_id]
  values.forEach((value, place) => {
    appendText(columns[place] as ColumnBuilder, value, count)
  })
}

export function appendRows(group: RowGroup, rows: readonly LooseRow[], start: number, end: number): void {
  appendScope(group, end - start)
  for (const builder of group.columns.slice(SCOPE_COLUMN_COUNT)) appendValues(group.layout.table, builder, rows, start, end)
}

/** `sources` are the declared columns of several files, by place. */
export function appendSources(group: RowGroup, sources: readonly GroupColumns[], runs: Runs, count: number): void {
  appendScope(group, count)
  for (let place = SCOPE_COLUMN_COUNT; place < group.columns.length; place++) {
    const columns = sources.map((source) => source[place] as ColumnData)
    appendRuns(group.columns[place] as ColumnBuilder, columns, runs, count)
  }
}
