// Rows of a table, newest first. Tables are sorted by their key, which says nothing of time, so a page is found by reading
// all rows that fit and keeping the newest: first those of five minutes, and only where these are too few those of an hour, of a
// day, of a month, of the month before that, and so on. Memory is that of a page; the time is that of the rows that fit.

import { compareText } from '../core/order.js'
import { DAY_MS, HOUR_MS, instantMs, MINUTE_MS } from '../core/time.js'
import type { Rows, TableName } from '../projections/tables.js'
import type { Condition } from '../tables/table-files.js'
import { pagesOf } from './pages.js'
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
const MONTH_MS = 30 * DAY_MS
const WINDOWS_MS = [5 * MINUTE_MS, HOUR_MS, DAY_MS, MONTH_MS] as const

export async function readNewest<Name extends TableName>(
  view: View | undefined,
  table: Name,
  asked: NewestAsked<Rows[Name]>,
): Promise<Newest<Rows[Name]>> {
  if (view === undefined) return { rows: [], more: false }
  const { limit, after } = asked
  const upper = after?.at_ms ?? instantMs(view.snapshot.revision.fold_time)
  const from = asked.from === undefined ? 0 : instantMs(asked.from)
  // Days that have gone cold lie in months of their own, which are opened one by one. What comes before them is little.
  const last = Math.max(from, view.coldSince(table, asked.at) ?? Number.POSITIVE_INFINITY)
  let lower = Number.POSITIVE_INFINITY
  let rows: readonly Rows[Name][] = []
  for (const window_ms of WINDOWS_MS) {
    lower = Math.max(from, upper - window_ms)
    rows = await newestSince(view, table, asked, { lower })
    if (rows.length > limit) return { rows: rows.slice(0, limit), more: true }
    if (lower <= from) return { rows, more: false }
  }
  while (lower > from) {
    const before = lower
    lower = before <= last ? from : Math.max(from, before - MONTH_MS)
    rows = [...rows, ...(await newestSince(view, table, asked, { lower, before }))]
    if (rows.length > limit) return { rows: rows.slice(0, limit), more: true }
  }
  return { rows, more: false }
}

/** One more than asked for, where there are as many. */
async function newestSince<Name extends TableName>(
  view: View,
  table: Name,
  asked: NewestAsked<Rows[Name]>,
  { lower, before }: { readonly lower: number; readonly before?: number },
): Promise<readonly Rows[Name][]> {
  const { at, id, to, after, limit, fitting = async (rows) => rows } = asked
  const placeOf = (row: Rows[Name]): Place => ({ at_ms: Number(row[at]), id: String(row[id]) })
  const where: readonly Condition[] = [
    { column: at, is: '>=', value: lower },
    ...(before === undefined ? [] : [{ column: at, is: '<', value: before } as const]),
    ...(to === undefined ? [] : [{ column: at, is: '<', value: instantMs(to) } as const]),
    ...(after === undefined ? [] : [{ column: at, is: '<=', value: after.at_ms } as const]),
    ...asked.where,
  ]
  const newerFirst = (left: Rows[Name], right: Rows[Name]): number => byPlace(placeOf(left), placeOf(right))
  let newest: Rows[Name][] = []
  for await (const page of pagesOf(view, table, { where })) {
    const fit = await fitting(page)
    const later = fit.filter((row) => after === undefined || byPlace(after, placeOf(row)) < 0)
    newest = [...newest, ...later].sort(newerFirst).slice(0, limit + 1)
  }
  return newest
}

const byPlace = (left: Place, right: Place): number => right.at_ms - left.at_ms || compareText(left.id, right.id)
