// Rows in the order of their key, a page at a time: the one place that goes on after the last key of a page.

import { keyOfRow, type LooseRow, type RowKey, type TableName } from '../projections/tables.js'
import type { Condition, Scan } from './table-files.js'

export type Page<Row> = {
  readonly rows: readonly Row[]
  /** Where the next page begins: after the last row that was read, whether it is shown or not. */
  readonly last_key: RowKey | undefined
  readonly is_last: boolean
}

/** The page that these rows make, which are all that the scan found. */
export function pageOfScan(table: TableName, rows: readonly LooseRow[], { limit }: Pick<Scan, 'limit'>): Page<LooseRow> {
  const last = rows.at(-1)
  return { rows, last_key: last === undefined ? undefined : keyOfRow(table, last), is_last: rows.length < limit }
}

export type PagesWanted = {
  readonly where?: readonly Condition[]
  readonly page_rows: number
  /** No more rows than this. */
  readonly limit?: number
}

export async function* pagesOfScans<Row>(
  readPage: (scan: Scan) => Promise<Page<Row>>,
  { where = [], page_rows, limit = Number.POSITIVE_INFINITY }: PagesWanted,
): AsyncGenerator<readonly Row[]> {
  let left = limit
  for (let after: RowKey | undefined; left > 0; ) {
    const page = await readPage({ where, limit: Math.min(page_rows, left), ...(after === undefined ? {} : { after }) })
    yield page.rows
    if (page.is_last || page.last_key === undefined) return
    left -= page.rows.length
    after = page.last_key
  }
}
