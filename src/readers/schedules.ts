// Schedules at one revision: what each is and how it stands, by id or by name, and what became of their instants.

import { isUlid } from '../core/ids.js'
import { compareText } from '../core/order.js'
import { DAY_MS } from '../core/time.js'
import { selectAssets } from '../projections/asset-selection.js'
import type { RunRow } from '../projections/run-table.js'
import type { ScheduleDefinitionRow, ScheduleStateRow, ScheduleTickRow } from '../projections/schedule-table.js'
import { ticksOf } from '../projections/schedule-ticks.js'
import type { Condition } from '../tables/table-files.js'
import { readAssetGraph } from './assets.js'
import { type Newest, type Place, readNewest } from './newest.js'
import { readAll } from './pages.js'
import type { View } from './reader.js'

export type Schedule = { readonly definition: ScheduleDefinitionRow; readonly state: ScheduleStateRow }

/** By id first: a removed schedule is found by its id alone, because its name may be another's. */
export async function lookUpSchedule(view: View | undefined, id_or_name: string): Promise<Schedule | undefined> {
  if (view === undefined) return undefined
  const byId = isUlid(id_or_name) ? await readSchedule(view, id_or_name) : undefined
  if (byId !== undefined) return byId
  const holder = await scheduleIdOf(view, id_or_name)
  return holder === undefined ? undefined : readSchedule(view, holder)
}

/** Whose the name is now. */
export async function scheduleIdOf(view: View, schedule_name: string): Promise<string | undefined> {
  const name = await view.row('names', ['SCHEDULE', schedule_name])
  return name === undefined || name.released_at !== null ? undefined : name.entity_id
}

async function readSchedule(view: View, schedule_id: string): Promise<Schedule | undefined> {
  const [definition, state] = await Promise.all([
    view.row('schedule_definitions', [schedule_id]),
    view.row('schedule_state', [schedule_id]),
  ])
  if (definition === undefined || state === undefined) return undefined
  return { definition, state }
}

/** Those of removed ones too. */
export async function scheduleNamesOf(view: View, schedule_ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await view.rows(
    'schedule_definitions',
    [...new Set(schedule_ids)].map((schedule_id) => [schedule_id]),
  )
  return new Map(rows.map(({ schedule_id, schedule_name }) => [schedule_id, schedule_name]))
}

/** All of them, removed ones too, in the order of their names. */
export async function readSchedules(view: View | undefined): Promise<readonly Schedule[]> {
  if (view === undefined) return []
  // Ticks change states alone: definitions are read again when one of them has changed.
  const [definitions, states] = await Promise.all([
    view.derived('schedule_definitions', ['schedule_definitions'], async () => {
      const rows = await readAll(view, 'schedule_definitions')
      return rows.sort(byName)
    }),
    view.derived('schedule_state', ['schedule_state'], async () => {
      const rows = await readAll(view, 'schedule_state')
      return new Map(rows.map((row) => [row.schedule_id, row]))
    }),
  ])
  return definitions.flatMap((definition) => {
    const state = states.get(definition.schedule_id)
    return state === undefined ? [] : [{ definition, state }]
  })
}

type Named = Pick<ScheduleDefinitionRow, 'schedule_name' | 'schedule_id'>
const byName = (left: Named, right: Named): number =>
  compareText(left.schedule_name, right.schedule_name) || compareText(left.schedule_id, right.schedule_id)

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
