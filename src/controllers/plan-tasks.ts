// From definitions in their order to the tasks of a run and the edges between them. Everything is counted before any of
// it is made: a plan that is too large costs its figures.

import { assert } from '../core/errors.js'
import { taskKey } from '../core/keys.js'
import { INLINE_KEYS_MAX, RUN_EDGES_MAX, RUN_TASKS_MAX, TASK_PARTITIONS_MAX } from '../core/limits.js'
import type { PlannedTask } from '../events/run.js'
import type { AssetDefinitionRow } from '../projections/asset-table.js'
import type { RunRow } from '../projections/run-table.js'
import type { WorkingSet } from '../projections/working-set.js'
import { type AssetTasks, type Edges, edgesOf } from './plan-edges.js'
import { type PlanFault, planFault } from './plan-fault.js'
import { openLanes } from './plan-lanes.js'
import { type Left, leftLane } from './plan-left.js'
import { selectedUpstream } from './plan-order.js'

export type TaskOfAsset = { readonly definition: AssetDefinitionRow; readonly task: Omit<PlannedTask, 'd'> }

type Definitions = ReadonlyMap<string, AssetDefinitionRow>

type PlanOf = { readonly rows: WorkingSet; readonly run: RunRow; readonly left: Left; readonly definitions: Definitions }
type PlannedTasks = { readonly tasks: readonly TaskOfAsset[]; readonly lists: readonly (readonly string[])[] }

export function planTasks(plan: PlanOf, order: readonly string[]): PlannedTasks | PlanFault {
  const counted = countTasks(plan, order)
  if ('code' in counted) return counted
  const assets = [...counted.assets.values()].map((asset) => ({ ...asset, edges: edgesOf(plan.run, counted.assets, asset) }))
  const edges = assets.reduce((sum, asset) => sum + asset.edges.count, 0)
  if (edges > RUN_EDGES_MAX) {
    const advice = 'select fewer assets or partitions, or give assets that depend on each other the same partitions_per_task'
    return planFault('PLAN_TOO_LARGE', `The run has ${edges} edges between its tasks, and ${RUN_EDGES_MAX} is the most: ${advice}.`)
  }
  const tasks = assets.flatMap(tasksOf)
  const lists = assets.flatMap(({ lane, partitions_per_task }) => {
    return lane?.spelled !== undefined && Math.min(partitions_per_task, lane.count) > INLINE_KEYS_MAX ? [lane.spelled] : []
  })
  return { tasks, lists }
}

function countTasks(plan: PlanOf, order: readonly string[]): { readonly assets: ReadonlyMap<string, AssetTasks> } | PlanFault {
  const { rows, run, definitions } = plan
  const wholeLaneOf = openLanes(rows, run, definitions, order)
  const assets = new Map<string, AssetTasks>()
  let total = 0
  for (const asset_key of order) {
    const definition = definitions.get(asset_key)
    assert(definition, `The asset ${asset_key} was ordered and not selected.`)
    const whole = wholeLaneOf(asset_key)
    if (whole === 'none') continue
    const lane = whole === null || 'code' in whole ? whole : leftLane(plan, whole, definition)
    if (lane !== null && 'code' in lane) return lane
    const { partitions_per_task } = definition.definition
    const all = lane?.count ?? 1
    const isSplit = lane !== null && partitions_per_task !== undefined
    const size = isSplit ? partitions_per_task : all
    if (Math.min(size, all) > TASK_PARTITIONS_MAX) {
      const advice = 'select fewer, or define partitions_per_task'
      return planFault(
        'PLAN_TOO_LARGE',
        `One task of ${asset_key} would have ${all} partitions, and ${TASK_PARTITIONS_MAX} is the most: ${advice}.`,
      )
    }
    if (lane?.slice_max !== undefined && size > lane.slice_max && size < all) {
      const advice = `define partitions_per_task of at most ${lane.slice_max}, or ask for a range`
      return planFault('PLAN_TOO_LARGE', `A task of ${asset_key} would have ${size} of the partitions that dimensions select: ${advice}.`)
    }
    const count = Math.ceil(all / size)
    const upstream = selectedUpstream(definitions, definition.deps)
    assets.set(asset_key, { definition, upstream, lane, partitions_per_task: size, isSplit, first: total, count })
    total += count
  }
  if (total <= RUN_TASKS_MAX) return { assets }
  const advice = 'select fewer assets or partitions, or define a larger partitions_per_task'
  return planFault('PLAN_TOO_LARGE', `The run has ${total} tasks, and ${RUN_TASKS_MAX} is the most: ${advice}.`)
}

function tasksOf(asset: AssetTasks & { readonly edges: Edges }): readonly TaskOfAsset[] {
  const { definition, lane, partitions_per_task: size, isSplit, count, edges } = asset
  return Array.from({ length: count }, (_, index) => {
    const w = edges.upstreamOf(index)
    const k = isSplit ? taskKey(definition.asset_key, index) : definition.asset_key
    const n = lane === null ? 1 : Math.min(size, lane.count - index * size)
    const p = lane === null ? null : lane.slice(index * size, n)
    return { definition, task: { k, p, n, ...(w.length === 0 ? {} : { w }) } }
  })
}
