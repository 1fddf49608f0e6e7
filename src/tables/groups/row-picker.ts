// Single rows of a group, as rows. It decodes no more than a stretch around those that are asked for, and keeps nothing.

import type { LooseRow } from '../../projections/tables.js'
import type { GroupColumns } from '../columns/arrow-memory.js'
import { type FileColumn, type FileLayout, SCOPE_COLUMN_COUNT } from '../columns/file-column.js'
import { blankRows, fillRows } from '../columns/row-decoder.js'
import type { GroupFile } from './group-cache.js'

/** Going on through a gap of so many rows costs as much as beginning anew behind it: 0.3 ms (measured). */
export const GAP_ROWS_MAX = 256

/** These columns of rows of a group, ascending; the others are null. */
export async function pickRows(file: GroupFile, group: number, places: readonly number[], rows: readonly number[]): Promise<LooseRow[]> {
  const picked = blankRows(file.layout, rows.length)
  for (let from = 0; from < rows.length; ) {
    const end = endOfStretch(rows, from)
    const start = rows[from] as number
    const stretch = { start, end: (rows[end - 1] as number) + 1 }
    const inStretch = rows.slice(from, end).map((row) => row - start)
    const target = picked.slice(from, end)
    await file.read(group, places, stretch, (columns) => fillRows(file.layout, columns, target, inStretch))
    from = end
  }
  return picked
}

/** Which of the rows is the first behind a gap. */
function endOfStretch(rows: readonly number[], from: number): number {
  let end = from + 1
  while (end < rows.length && (rows[end] as number) - (rows[end - 1] as number) <= GAP_ROWS_MAX) end++
  return end
}

/** Some columns of a layout, to make rows that have no others. */
export type PartialLayout = { readonly layout: FileLayout; readonly places: readonly number[] }

export function partialLayout(layout: FileLayout, places: readonly number[]): PartialLayout {
  const all = [...Array.from({ length: SCOPE_COLUMN_COUNT }, (_, place) => place), ...places]
  const columns = all.map((place) => layout.columns[place] as FileColumn)
  return { layout: { ...layout, columns, row_version: all.indexOf(layout.row_version) }, places: all }
}

export function pickPartly({ layout, places }: PartialLayout, columns: GroupColumns, rows: readonly number[]): LooseRow[] {
  const picked = blankRows(layout, rows.length)
  fillRows(
    layout,
    places.map((place) => columns[place]),
    picked,
    rows,
  )
  return picked
}
