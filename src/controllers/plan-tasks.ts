// From definitions in their order to the tasks of a run and the edges between them. Everything is counted before any of
// it is made: a plan that is too large costs its figures.

import { canonicalJson } from '../core/canonical.js'
import { assert } from '../core/errors.js'
import { taskKey } from '../core/keys.js'
import { RUN_EDGES_MAX, RUN_TASKS_MAX, TASK_PARTITIONS_MAX } from '../core/limits.js'
import type { PlannedTask } from '../events/run.js'
import type { AssetDefinitionRow } from '../projections/asset-table.js'
import type { RunRow } from '../projections/run-table.js'
import type { WorkingSet } from '../projections/working-set.js'
import { type PlanFault, planFault } from './plan-fault.js'
import { selectedUpstream } from './plan-order.js'
import { type Lane, openLane } from './plan-partitions.js'

export type TaskOfAsset = { readonly definition: AssetDefinitionRow; readonly task: Omit<PlannedTask, 'd'> }

/** The tasks of one asset: they have numbers in a row. */
type AssetTasks = {
  readonly definition: AssetDefinitionRow
  readonly upstream: readonly string[]
  /** null: the asset has no partitions. */
  readonly lane: Lane | null
  readonly partitions_per_task: number
  readonly isSplit: boolean
  readonly first: number
  readonly count: number
}

type Definitions = ReadonlyMap<string, AssetDefinitionRow>

export function planTasks(
  rows: WorkingSet,
  run: RunRow,
  definitions: Definitions,
  order: readonly string[],
): { readonly tasks: readonly TaskOfAsset[] } | PlanFault {
  const counted = countTasks(rows, run, definitions, order)
  if ('code' in counted) return counted
  const assets = [...counted.assets.values()]
  const edges = assets.reduce((sum, asset) => sum + countEdges(counted.assets, asset), 0)
  if (edges > RUN_EDGES_MAX) {
    const advice = 'select fewer assets or partitions, or give assets that depend on each other the same partitions_per_task'
    return planFault('PLAN_TOO_LARGE', `The run has ${edges} edges between its tasks, and ${RUN_EDGES_MAX} is the most: ${advice}.`)
  }
  return { tasks: assets.flatMap((asset) => tasksOf(counted.assets, asset)) }
}

function countTasks(
  rows: WorkingSet,
  run: RunRow,
  definitions: Definitions,
  order: readonly string[],
): { readonly assets: ReadonlyMap<string, AssetTasks> } | PlanFault {
  const laneOf = lanesOf(rows, run)
  const assets = new Map<string, AssetTasks>()
  let total = 0
  for (const asset_key of order) {
    const definition = definitions.get(asset_key)
    assert(definition, `The asset ${asset_key} was ordered and not selected.`)
    const lane = laneOf(definition)
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

/** Assets with the same partitions share a lane, so that the run's keys are looked at once for all of them. */
function lanesOf(rows: WorkingSet, { partitions: selector }: RunRow) {
  const lanes = new Map<string, Lane | { readonly problem: string }>()
  return ({ asset_key, partitions }: AssetDefinitionRow): Lane | PlanFault | null => {
    if (partitions === null) return null
    if (selector === null) {
      return planFault(
        'NO_PARTITIONS',
        `The asset ${asset_key} has partitions, and the run names none: ask for it with a range, keys or a list.`,
      )
    }
    const text = canonicalJson(partitions)
    const lane = lanes.get(text) ?? openLane(partitions, selector, rows.list)
    lanes.set(text, lane)
    return 'problem' in lane ? planFault('BAD_PARTITION', `${asset_key}: ${lane.problem}`) : lane
  }
}

type Tasks = ReadonlyMap<string, AssetTasks>
type Span = { readonly first: number; readonly last: number }

/** Which tasks of an upstream asset a downstream task waits for, by their places among the tasks of that asset. */
function upstreamSpan(downstream: AssetTasks, upstream: AssetTasks, index: number): Span {
  if (!sharesPositions(downstream, upstream)) return { first: 0, last: upstream.count - 1 }
  const size = downstream.partitions_per_task
  const lastPosition = Math.min((index + 1) * size, downstream.lane?.count ?? 1) - 1
  return { first: Math.floor((index * size) / upstream.partitions_per_task), last: Math.floor(lastPosition / upstream.partitions_per_task) }
}

/** What cannot be told is waited for: too long a wait is seen, and a wait too short gives wrong data. */
function sharesPositions(downstream: AssetTasks, upstream: AssetTasks): boolean {
  if (downstream.lane === null || upstream.lane === null) return false
  const { asset_key } = upstream.definition
  const isIdentity = downstream.definition.deps.every(
    (dependency) => dependency.asset_key !== asset_key || dependency.mapping === undefined,
  )
  return isIdentity && downstream.lane.isAlignedWith(upstream.lane)
}

function countEdges(tasks: Tasks, downstream: AssetTasks): number {
  let edges = 0
  for (const upstream of upstreamOf(tasks, downstream)) {
    if (!sharesPositions(downstream, upstream)) edges += downstream.count * upstream.count
    else {
      for (let index = 0; index < downstream.count; index++) {
        const { first, last } = upstreamSpan(downstream, upstream, index)
        edges += last - first + 1
      }
    }
  }
  return edges
}

/** In the order of their numbers, so that the numbers of a task's upstream tasks go up. */
const upstreamOf = (tasks: Tasks, { upstream }: AssetTasks): readonly AssetTasks[] =>
  upstream.map((asset_key) => tasks.get(asset_key) as AssetTasks).sort((left, right) => left.first - right.first)

function tasksOf(tasks: Tasks, asset: AssetTasks): readonly TaskOfAsset[] {
  const { definition, lane, partitions_per_task: size, isSplit, count } = asset
  const upstream = upstreamOf(tasks, asset)
  return Array.from({ length: count }, (_, index) => {
    const w: number[] = []
    for (const each of upstream) {
      const { first, last } = upstreamSpan(asset, each, index)
      for (let place = first; place <= last; place++) w.push(each.first + place)
    }
    const k = isSplit ? taskKey(definition.asset_key, index) : definition.asset_key
    const n = lane === null ? 1 : Math.min(size, lane.count - index * size)
    const p = lane === null ? null : lane.slice(index * size, n)
    return { definition, task: { k, p, n, ...(w.length === 0 ? {} : { w }) } }
  })
}
