// Runs, newest first. Rows are kept by run_id, which says nothing of time, so a page is found by reading all runs that fit
// and keeping the newest: first those of a day, and only where these are too few those of a month, then all. Memory is that
// of a page; the time is that of the runs that fit.

import { compareText } from '../core/order.js'
import { DAY_MS, instantMs } from '../core/time.js'
import type { RunRow } from '../projections/run-table.js'
import type { RowKey } from '../projections/tables.js'
import type { Condition } from '../tables/table-files.js'
import type { View } from './reader.js'
import { readRows } from './rows.js'

export type RunFilter = {
  readonly states?: readonly string[] | undefined
  readonly asset?: string | undefined
  /** NAME=VALUE; all of them. */
  readonly tag?: readonly string[] | undefined
  readonly run_key?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** The last run of the page before. */
export type RunPlace = { readonly requested_at: number; readonly run_id: string }

export type NewestRuns = { readonly rows: readonly RunRow[]; readonly more: boolean }

const WINDOWS_MS = [DAY_MS, 30 * DAY_MS, Number.POSITIVE_INFINITY] as const
const PAGE_ROWS = 5_000

export async function readNewestRuns(view: View | undefined, filter: RunFilter, limit: number, after?: RunPlace): Promise<NewestRuns> {
  if (view === undefined) return { rows: [], more: false }
  const upper = after?.requested_at ?? instantMs(view.snapshot.revision.fold_time) + DAY_MS
  const from = filter.from === undefined ? 0 : instantMs(filter.from)
  for (const window_ms of WINDOWS_MS) {
    const lower = Math.max(from, Number.isFinite(window_ms) ? upper - window_ms : 0)
    const rows = await newestSince(view, filter, { lower, limit: limit + 1, after })
    if (rows.length > limit) return { rows: rows.slice(0, limit), more: true }
    if (lower <= from) return { rows, more: false }
  }
  return { rows: [], more: false }
}

type Bounds = { readonly lower: number; readonly limit: number; readonly after: RunPlace | undefined }

async function newestSince(view: View, filter: RunFilter, { lower, limit, after }: Bounds): Promise<readonly RunRow[]> {
  const where = conditionsOf(filter, lower, after)
  let newest: RunRow[] = []
  for (let key: RowKey | undefined; ; ) {
    const page = await view.page('runs', { where, limit: PAGE_ROWS, ...(key === undefined ? {} : { after: key }) })
    const fitting = await fittingRuns(view, page.rows as unknown as readonly RunRow[], filter)
    newest = [...newest, ...fitting.filter((row) => after === undefined || newerFirst(after, row) < 0)].sort(newerFirst).slice(0, limit)
    if (page.is_last || page.last_key === undefined) return newest
    key = page.last_key
  }
}

const newerFirst = (left: RunPlace, right: RunPlace): number =>
  right.requested_at - left.requested_at || compareText(left.run_id, right.run_id)

function conditionsOf({ states, run_key, to }: RunFilter, lower: number, after: RunPlace | undefined): readonly Condition[] {
  return [
    { column: 'requested_at', is: '>=', value: lower },
    ...(to === undefined ? [] : [{ column: 'requested_at', is: '<', value: instantMs(to) } as const]),
    ...(after === undefined ? [] : [{ column: 'requested_at', is: '<=', value: after.requested_at } as const]),
    ...(states === undefined ? [] : [{ column: 'state', in: states }]),
    // As it is stored, and as its requester wrote it.
    ...(run_key === undefined ? [] : [{ column: 'run_key', in: [run_key, `user:${run_key}`] }]),
  ]
}

async function fittingRuns(view: View, rows: readonly RunRow[], { asset, tag = [] }: RunFilter): Promise<readonly RunRow[]> {
  const tagged = rows.filter(({ tags }) =>
    tag.every((text) => tags[text.slice(0, text.indexOf('='))] === text.slice(text.indexOf('=') + 1)),
  )
  if (asset === undefined) return tagged
  const listed = tagged.filter(({ assets }) => 'list' in assets)
  const found = await runsWithTask(
    view,
    listed.map(({ run_id }) => run_id),
    asset,
  )
  return tagged.filter(({ run_id, assets }) => ('keys' in assets ? assets.keys.includes(asset) : found.has(run_id)))
}

/** A long list of assets is an object of its own; once the run is planned, its tasks say the same. */
async function runsWithTask(view: View, run_ids: readonly string[], asset: string): Promise<ReadonlySet<string>> {
  const keys = run_ids.flatMap((run_id) => [
    [run_id, asset],
    [run_id, `${asset}#0`],
  ])
  return new Set((await view.rows('tasks', keys)).map((row) => String(row['run_id'])))
}

/** Refusals of what was said about a run or a task of it, which is named as in a path. */
export const readRefusalsOfRun = (view: View, run_id: string) =>
  readRows(
    view,
    'refusals',
    [
      { column: 'entity_id', is: '>=', value: run_id },
      { column: 'entity_id', is: '<', value: `${run_id}0` },
    ],
    REFUSALS_MAX,
  )

/** Workers that go on after they were told to stop are refused again and again. */
const REFUSALS_MAX = 10_000
