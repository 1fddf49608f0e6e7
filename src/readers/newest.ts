// Rows of a table, newest first. Tables are sorted by their key, which says nothing of time, so a page is found by reading
// all rows that fit and keeping the newest: first those of an hour, and only where these are too few those of a day, of a
// month, then all. Memory is that of a page; the time is that of the rows that fit.

import { compareText } from '../core/order.js'
import { DAY_MS, HOUR_MS, instantMs } from '../core/time.js'
import type { LooseRow, RowKey, Rows, TableName } from '../projections/tables.js'
import type { Condition } from '../tables/table-files.js'
import type { View } from './reader.js'

/** Where a row stands in that order: the last one of the page before. */
export type Place = { readonly at_ms: number; readonly id: string }

export type Newest<Row> = { readonly rows: readonly Row[]; readonly more: boolean }

type NewestAsked<Row> = {
  /** The column of the instant that orders them, and that of the id which orders those of one instant. */
  readonly at: string & keyof Row
  readonly id: string & keyof Row
  readonly where: readonly Condition[]
  /** What conditions cannot say. */
  readonly fitting?: (rows: readonly Row[]) => Promise<readonly Row[]>
  /** Not before this; nothing older is looked for. */
  readonly from?: string | undefined
  /** Before this. */
  readonly to?: string | undefined
  readonly limit: number
  readonly after?: Place | undefined
}

/** Files say which instants they have, so that one too many costs little where it finds little. */
const WINDOWS_MS = [HOUR_MS, DAY_MS, 30 * DAY_MS, Number.POSITIVE_INFINITY] as const
const PAGE_ROWS = 5_000

export async function readNewest<Name extends TableName>(
  view: View | undefined,
  table: Name,
  asked: NewestAsked<Rows[Name]>,
): Promise<Newest<Rows[Name]>> {
  if (view === undefined) return { rows: [], more: false }
  const { limit, after } = asked
  const upper = after?.at_ms ?? instantMs(view.snapshot.revision.fold_time)
  const from = asked.from === undefined ? 0 : instantMs(asked.from)
  for (const window_ms of WINDOWS_MS) {
    const lower = Math.max(from, Number.isFinite(window_ms) ? upper - window_ms : 0)
    const rows = await newestSince(view, table, asked, lower)
    if (rows.length > limit) return { rows: rows.slice(0, limit), more: true }
    if (lower <= from) return { rows, more: false }
  }
  return { rows: [], more: false }
}

/** One more than asked for, where there are as many. */
async function newestSince<Name extends TableName>(
  view: View,
  table: Name,
  asked: NewestAsked<Rows[Name]>,
  lower: number,
): Promise<readonly Rows[Name][]> {
  const { at, id, to, after, limit, fitting = async (rows) => rows } = asked
  const placeOf = (row: Rows[Name]): Place => ({ at_ms: Number(row[at]), id: String(row[id]) })
  const where: readonly Condition[] = [
    { column: at, is: '>=', value: lower },
    ...(to === undefined ? [] : [{ column: at, is: '<', value: instantMs(to) } as const]),
    ...(after === undefined ? [] : [{ column: at, is: '<=', value: after.at_ms } as const]),
    ...asked.where,
  ]
  const newerFirst = (left: Rows[Name], right: Rows[Name]): number => byPlace(placeOf(left), placeOf(right))
  let newest: Rows[Name][] = []
  for (let key: RowKey | undefined; ; ) {
    const page = await view.page(table, { where, limit: PAGE_ROWS, ...(key === undefined ? {} : { after: key }) })
    const fit = await fitting(page.rows as readonly LooseRow[] as unknown as readonly Rows[Name][])
    const later = fit.filter((row) => after === undefined || byPlace(after, placeOf(row)) < 0)
    newest = [...newest, ...later].sort(newerFirst).slice(0, limit + 1)
    if (page.is_last || page.last_key === undefined) return newest
    key = page.last_key
  }
}

const byPlace = (left: Place, right: Place): number => right.at_ms - left.at_ms || compareText(left.id, right.id)
