// What of one table lies in a span of time, at one revision: rows, and the files that hold nothing else. It reads every row
// only where no file says it.

import { keyTextOfRow, type TableName, tableNamed } from '../../projections/tables.js'
import { rowFilter } from '../../tables/condition.js'
import { layersOf, overlayRows } from '../../tables/overlay.js'
import type { Part } from '../../tables/revision.js'
import { partsOf } from '../../tables/snapshot.js'
import type { Condition, TableFiles } from '../../tables/table-files.js'
import { pagesOf } from '../pages.js'
import type { View } from '../reader.js'

/** [from, before) in the table's column. */
export type Span = { readonly table: TableName; readonly column: string; readonly from: number; readonly before: number }

export const PAGE_ROWS = 20_000

const within = ({ column, from, before }: Span): readonly Condition[] => [
  { column, is: '>=', value: from },
  { column, is: '<', value: before },
]

/** Those that a reader of this revision sees. */
export async function countRows(files: Pick<TableFiles, 'scan'>, view: View, span: Span): Promise<number> {
  if (span.from >= span.before) return 0
  const { period } = tableNamed(span.table)
  if (period?.holds_key_once === true && period.column === span.column) return countByPeriods(files, view, span)
  let count = 0
  for await (const rows of pagesOf(view, span.table, { where: within(span), page_rows: PAGE_ROWS })) count += rows.length
  return count
}

/** A part of one period holds no row of another, and no other part has its rows: they need not be read. */
async function countByPeriods(files: Pick<TableFiles, 'scan'>, { snapshot }: View, span: Span): Promise<number> {
  const parts = partsOf(snapshot, span.table)
  const sorted = partsWithin(parts, span).reduce((sum, { rows }) => sum + rows, 0)
  const fits = rowFilter(span.table, within(span))
  const mixed = parts.filter(({ period }) => period === null)
  const rows = mixed.reduce((sum, part) => sum + part.rows, 0)
  const found = rows === 0 ? [] : await files.scan(span.table, mixed, { where: within(span), limit: rows })
  const above = [...overlayRows(await layersOf(snapshot.overlay, span.table)).values()].filter(fits)
  return sorted + new Set([...found, ...above].map((row) => keyTextOfRow(span.table, row))).size
}

/** Parts of periods in the span: a merge drops them whole. */
export const partsWithin = (parts: readonly Part[], { from, before }: Pick<Span, 'from' | 'before'>): readonly Part[] =>
  parts.filter(({ period }) => period !== null && period >= from && period < before)
