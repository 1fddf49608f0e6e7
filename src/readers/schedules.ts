// Schedules at one revision: what each is and how it stands, by id or by name, and what became of their instants.

import { compareText } from '../core/order.js'
import { DAY_MS } from '../core/time.js'
import { selectAssets } from '../projections/asset-selection.js'
import type { RunRow } from '../projections/run-table.js'
import type { ScheduleStateRow, ScheduleTickRow } from '../projections/schedule-table.js'
import { ticksOf } from '../projections/schedule-ticks.js'
import type { Condition } from '../tables/table-files.js'
import { readAssetGraph } from './assets.js'
import { type Defined, defineReads } from './defined.js'
import { type Newest, type Place, readNewest } from './newest.js'
import type { View } from './reader.js'

export type Schedule = Defined<'schedule_definitions', 'schedule_state'>

export const SCHEDULE_READS = defineReads({
  word: 'schedule',
  kind: 'SCHEDULE',
  definitions: 'schedule_definitions',
  states: 'schedule_state',
  id_member: 'schedule_id',
  name_member: 'schedule_name',
})

type ScheduleFilter = {
  readonly status?: ScheduleStateRow['status'] | undefined
  readonly name_prefix?: string | undefined
  readonly location_name?: string | undefined
  /** Those that select it now. */
  readonly asset?: string | undefined
}

/** Without a status, those that are not removed. */
export async function scheduleFilter(view: View | undefined, filter: ScheduleFilter): Promise<(schedule: Schedule) => boolean> {
  const { status, name_prefix = '', location_name, asset } = filter
  const selects = asset === undefined || view === undefined ? () => true : await selectorOf(view, asset)
  return ({ definition, state }) =>
    (status === undefined ? state.status !== 'REMOVED' : state.status === status) &&
    definition.schedule_name.startsWith(name_prefix) &&
    (location_name === undefined || definition.location_name === location_name) &&
    selects(definition.asset_selection)
}

/** Schedules often select alike: each selection is looked up once. */
async function selectorOf(view: View, asset: string): Promise<(asset_selection: readonly string[]) => boolean> {
  const graph = await readAssetGraph(view)
  const known = new Map<string, boolean>()
  return (asset_selection) => {
    const key = JSON.stringify(asset_selection)
    const found = known.get(key) ?? selectAssets(graph, asset_selection).asset_keys.includes(asset)
    known.set(key, found)
    return found
  }
}

/** When it fires next; null: it is paused or removed, it has no instants left, or its cron cannot be read. */
export function nextFireMs({ definition, state }: Schedule, now: number): number | null {
  if (state.status !== 'ACTIVE') return null
  const ticks = ticksOf(definition)
  return 'problem' in ticks ? null : ticks.next(Math.max(now, state.floor_at))
}

type TickFilter = {
  readonly status?: ScheduleTickRow['status'] | undefined
  readonly kind?: ScheduleTickRow['kind'] | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export function readNewestTicks(
  view: View | undefined,
  schedule_id: string,
  { status, kind, from, to }: TickFilter,
  limit: number,
  after?: Place,
): Promise<Newest<ScheduleTickRow>> {
  const where: readonly Condition[] = [
    { column: 'schedule_id', is: '=', value: schedule_id },
    ...(status === undefined ? [] : [{ column: 'status', is: '=', value: status } as const]),
    ...(kind === undefined ? [] : [{ column: 'kind', is: '=', value: kind } as const]),
  ]
  return readNewest(view, 'schedule_ticks', { at: 'scheduled_for', id: 'tick_id', where, from, to, limit, after })
}

/** A tick and its requests are one batch: runs of other days, which may be years of them, need not be looked at. */
const requestedBy = (ticks: readonly Pick<ScheduleTickRow, 'tick_id' | 'decided_at'>[]): readonly Condition[] => [
  { column: 'tick_id', in: ticks.map(({ tick_id }) => tick_id) },
  { column: 'requested_at', is: '>=', value: Math.min(...ticks.map(({ decided_at }) => decided_at)) - DAY_MS },
  { column: 'requested_at', is: '<=', value: Math.max(...ticks.map(({ decided_at }) => decided_at)) + DAY_MS },
]

/** The runs that ticks asked for, by the ids of the ticks. Most ticks have one, and their row names it. */
export async function readRunsOfTicks(
  view: View | undefined,
  ticks: readonly Pick<ScheduleTickRow, 'tick_id' | 'run_id' | 'run_count' | 'decided_at'>[],
): Promise<ReadonlyMap<string, readonly RunRow[]>> {
  if (view === undefined) return new Map()
  const single = ticks.flatMap(({ run_id, run_count }) => (run_id === null || run_count > 1 ? [] : [[run_id] as const]))
  const several = ticks.filter(({ run_count }) => run_count > 1)
  const [one, many] = await Promise.all([
    single.length === 0 ? [] : view.rows('runs', single),
    several.length === 0 ? [] : view.few('runs', requestedBy(several)),
  ])
  const runs = new Map<string, RunRow[]>()
  for (const run of [...one, ...many]) {
    const tick_id = run.tick_id ?? ''
    runs.set(tick_id, [...(runs.get(tick_id) ?? []), run])
  }
  for (const [tick_id, found] of runs)
    runs.set(
      tick_id,
      found.sort((a, b) => compareText(a.run_key, b.run_key)),
    )
  return runs
}
