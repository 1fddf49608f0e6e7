// Single rows of decoded columns, as rows. It copies them together first, so that one decoder serves groups and picks.

import type { LooseRow } from '../../projections/tables.js'
import type { GroupColumns } from '../columns/arrow-memory.js'
import { addRun, appendRuns, createColumnBuilder, createRuns } from '../columns/column-data.js'
import { type FileColumn, type FileLayout, SCOPE_COLUMN_COUNT } from '../columns/file-column.js'
import { decodeColumns } from '../columns/row-decoder.js'

/** These rows, in this order. Columns are by their place in the layout, `row_version` among them; without one, rows have null. */
export function pickRows(layout: FileLayout, columns: GroupColumns, rows: readonly number[]): LooseRow[] {
  const runs = createRuns(rows.length)
  for (const row of rows) addRun(runs, 0, row, row + 1)
  const picked = layout.columns.map((column, place) => {
    const data = place < SCOPE_COLUMN_COUNT ? undefined : columns[place]
    if (data === undefined) return undefined
    const builder = createColumnBuilder(column, rows.length)
    appendRuns(builder, [data], runs, rows.length)
    return builder
  })
  return decodeColumns(layout, picked)
}

/** Some columns of a layout, to make rows that have no others. */
export type PartialLayout = { readonly layout: FileLayout; readonly places: readonly number[] }

export function partialLayout(layout: FileLayout, places: readonly number[]): PartialLayout {
  const all = [...Array.from({ length: SCOPE_COLUMN_COUNT }, (_, place) => place), ...places]
  const columns = all.map((place) => layout.columns[place] as FileColumn)
  return { layout: { ...layout, columns, row_version: all.indexOf(layout.row_version) }, places: all }
}

export const pickPartly = ({ layout, places }: PartialLayout, columns: GroupColumns, rows: readonly number[]): LooseRow[] =>
  pickRows(
    layout,
    places.map((place) => columns[place]),
    rows,
  )
