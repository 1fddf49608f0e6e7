// Finds the one thing that a person or a program names, or answers that it is not there: the one place that has these sentences.
// The answer of a thing that is missing is a problem as commands and the API know them.

import { suggestion } from '../core/spelling.js'
import type { AssetDefinitionRow, CodeLocationRow } from '../projections/asset-table.js'
import type { RunRow, TaskRow } from '../projections/run-table.js'
import { type AssetGraph, readAssetGraph } from './assets.js'
import { type Found, missing, type NotFound, notFound } from './not-found.js'
import { isPoolThere, type Pools, readPools } from './pools.js'
import type { View } from './reader.js'

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
