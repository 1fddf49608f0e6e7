// Runs, newest first, and what was refused of what is said about one.

import type { RunRow } from '../projections/run-table.js'
import type { Condition } from '../tables/table-files.js'
import { type Newest, type Place, readNewest } from './newest.js'
import { readAll } from './pages.js'
import type { View } from './reader.js'

export type RunFilter = {
  readonly states?: readonly string[] | undefined
  readonly asset?: string | undefined
  /** NAME=VALUE; all of them. */
  readonly tag?: readonly string[] | undefined
  readonly run_key?: string | undefined
  readonly trigger_type?: string | undefined
  readonly schedule_id?: string | undefined
  readonly tick_id?: string | undefined
  readonly sensor_id?: string | undefined
  readonly backfill_id?: string | undefined
  readonly requested_by?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export async function readNewestRuns(view: View | undefined, filter: RunFilter, limit: number, after?: Place): Promise<Newest<RunRow>> {
  if (view === undefined) return { rows: [], more: false }
  const { from, to } = filter
  const fitting = (rows: readonly RunRow[]) => fittingRuns(view, rows, filter)
  return readNewest(view, 'runs', { at: 'requested_at', id: 'run_id', where: conditionsOf(filter), fitting, from, to, limit, after })
}

/** Columns that a filter compares as they are. */
const COMPARED = ['trigger_type', 'schedule_id', 'tick_id', 'sensor_id', 'backfill_id', 'requested_by'] as const

const conditionsOf = ({ states, run_key, ...filter }: RunFilter): readonly Condition[] => [
  ...(states === undefined ? [] : [{ column: 'state', in: states }]),
  ...COMPARED.flatMap((column): readonly Condition[] => {
    const value = filter[column]
    return value === undefined ? [] : [{ column, is: '=', value }]
  }),
  // As it is stored, and as its requester wrote it.
  ...(run_key === undefined ? [] : [{ column: 'run_key', in: [run_key, `user:${run_key}`] }]),
]

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
  readAll(view, 'refusals', {
    where: [
      { column: 'entity_id', is: '>=', value: run_id },
      { column: 'entity_id', is: '<', value: `${run_id}0` },
    ],
    limit: REFUSALS_MAX,
  })

/** Workers that go on after they were told to stop are refused again and again. */
const REFUSALS_MAX = 10_000
