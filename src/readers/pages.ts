// All rows of a table that fit, a page at a time: memory is that of a page, however many there are.

import type { RowKey, Rows, TableName } from '../projections/tables.js'
import type { Condition } from '../tables/table-files.js'
import type { View } from './reader.js'

const PAGE_ROWS = 5_000

type PagesAsked = {
  readonly where?: readonly Condition[]
  readonly page_rows?: number
  /** No more rows than this. */
  readonly limit?: number
}

/** In the order of the table's key. */
export async function* pagesOf<Name extends TableName>(
  view: View,
  table: Name,
  { where = [], page_rows = PAGE_ROWS, limit = Number.POSITIVE_INFINITY }: PagesAsked = {},
): AsyncGenerator<readonly Rows[Name][]> {
  let left = limit
  for (let after: RowKey | undefined; left > 0; ) {
    const page = await view.page(table, { where, limit: Math.min(page_rows, left), ...(after === undefined ? {} : { after }) })
    yield page.rows
    if (page.is_last || page.last_key === undefined) return
    left -= page.rows.length
    after = page.last_key
  }
}

/** The same at once, for rows of which there are few. */
export async function readAll<Name extends TableName>(view: View, table: Name, asked: PagesAsked = {}): Promise<Rows[Name][]> {
  const found: Rows[Name][] = []
  for await (const rows of pagesOf(view, table, asked)) found.push(...rows)
  return found
}
