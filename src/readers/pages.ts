// All rows of a table that fit, a page at a time: memory is that of a page, however many there are.

import type { Rows, TableName } from '../projections/tables.js'
import { type PagesWanted, pagesOfScans } from '../tables/keyset.js'
import type { View } from './reader.js'

const PAGE_ROWS = 5_000

/** In the order of the table's key. */
export const pagesOf = <Name extends TableName>(
  view: View,
  table: Name,
  wanted: Partial<PagesWanted> = {},
): AsyncGenerator<readonly Rows[Name][]> => pagesOfScans((scan) => view.page(table, scan), { page_rows: PAGE_ROWS, ...wanted })

/** The same at once, for rows of which there are few. */
export async function readAll<Name extends TableName>(view: View, table: Name, wanted: Partial<PagesWanted> = {}): Promise<Rows[Name][]> {
  const found: Rows[Name][] = []
  for await (const rows of pagesOf(view, table, wanted)) found.push(...rows)
  return found
}
