// Finds the one thing that a person or a program names, or answers that it is not there: the one place that has these sentences.
// The answer of a thing that is missing is a problem as commands and the API know them.

import { suggestion } from '../core/spelling.js'
import type { AssetDefinitionRow, CodeLocationRow } from '../projections/asset-table.js'
import type { RunRow, TaskRow } from '../projections/run-table.js'
import { type AssetGraph, readAssetGraph } from './assets.js'
import { isPoolThere, type Pools, readPools } from './pools.js'
import type { View } from './reader.js'
import { SCHEDULE_READS, type Schedule } from './schedules.js'

/** A `Problem` of commands without anything else to say. */
export type NotFound = { readonly problem: 'not-found'; readonly detail: string; readonly faults?: never; readonly members?: never }
/** With the view that it was found in. */
export type Found<Thing> = Readonly<Thing> & { readonly view: View }

export const notFound = (detail: string): NotFound => ({ problem: 'not-found', detail })

/** `names`: what it may have been meant for; without one, the command that lists them is named. */
export function missing(word: string, named: string, names: readonly string[] = []): NotFound {
  const meant = suggestion(named, names) || ` \`servo ${word} list\` shows all.`
  return notFound(`There is no ${word} ${named}.${meant} If it was made just now, ask again in a moment, or the API with fresh=true.`)
}

export async function findRun(view: View | undefined, run_id: string): Promise<Found<{ run: RunRow }> | NotFound> {
  const run = await view?.row('runs', [run_id])
  return view === undefined || run === undefined ? missing('run', run_id) : { view, run }
}

export async function findTask(view: View | undefined, run_id: string, task_key: string): Promise<Found<{ task: TaskRow }> | NotFound> {
  const task = await view?.row('tasks', [run_id, task_key])
  return view === undefined || task === undefined ? noTask(run_id, task_key) : { view, task }
}

export const noTask = (run_id: string, task_key: string): NotFound =>
  notFound(`There is no task ${task_key} in run ${run_id}. A run has its tasks once it is planned.`)

/** One that was removed too. */
export async function findSchedule(view: View | undefined, id_or_name: string): Promise<Found<Schedule> | NotFound> {
  const schedule = await SCHEDULE_READS.lookUp(view, id_or_name)
  if (view !== undefined && schedule !== undefined) return { ...schedule, view }
  const living = (await SCHEDULE_READS.readAll(view)).filter(({ state }) => state.status !== 'REMOVED')
  const names = living.map(({ definition }) => definition.schedule_name)
  return missing('schedule', id_or_name, names)
}

type FoundAsset = Found<{ definition: AssetDefinitionRow; graph: AssetGraph }>

/** By the definitions of now. */
export async function findAsset(view: View | undefined, asset_key: string): Promise<FoundAsset | NotFound> {
  const graph = view === undefined ? undefined : await readAssetGraph(view)
  const definition = graph?.definitions.get(asset_key)
  if (view !== undefined && graph !== undefined && definition !== undefined) return { view, definition, graph }
  return notFound(`${asset_key} is not defined.${suggestion(asset_key, graph?.definitions.keys() ?? [])}`)
}

export async function findLocation(
  view: View | undefined,
  location_name: string,
): Promise<Found<{ location: CodeLocationRow }> | NotFound> {
  const location = await view?.row('code_locations', [location_name])
  if (view !== undefined && location !== undefined) return { view, location }
  return notFound(`There is no code location ${location_name}. \`servo deploy\` makes one.`)
}

/** The workspace's own is there before anything is published. */
export async function findPool(view: View | undefined, pool_key: string): Promise<{ readonly pools: Pools } | NotFound> {
  const pools = await readPools(view)
  if (isPoolThere(pools, pool_key)) return { pools }
  return notFound(`There is no pool ${pool_key}: it has no cap, and no asset names it. \`servo pool list\` shows all.`)
}
