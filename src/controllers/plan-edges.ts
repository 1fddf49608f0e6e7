// Which tasks of a run wait for which: by their positions where assets have all of the run's partitions, and by the
// partitions themselves where a rerun has some of them. It costs tasks, edges, and partitions that are spelled out.

import { canonicalJson } from '../core/canonical.js'
import { isSameKey } from '../partitions/mapping/deployable.js'
import type { AssetDefinitionRow } from '../projections/asset-table.js'
import type { RunRow } from '../projections/run-table.js'
import type { Lane } from './plan-partitions.js'

/** The tasks of one asset: they have numbers in a row. */
export type AssetTasks = {
  readonly definition: AssetDefinitionRow
  readonly upstream: readonly string[]
  /** null: the asset has no partitions. */
  readonly lane: Lane | null
  readonly partitions_per_task: number
  readonly isSplit: boolean
  readonly first: number
  readonly count: number
}

export type Tasks = ReadonlyMap<string, AssetTasks>
type Span = { readonly first: number; readonly last: number }

export function countEdges(run: RunRow, tasks: Tasks, downstream: AssetTasks): number {
  let edges = 0
  for (const upstream of upstreamOf(tasks, downstream)) {
    const matched = matchPartitions(run, downstream, upstream)
    if (matched !== undefined) for (const places of matched.values()) edges += places.size
    else if (!sharesPositions(downstream, upstream)) edges += downstream.count * upstream.count
    else {
      for (let index = 0; index < downstream.count; index++) {
        const { first, last } = upstreamSpan(downstream, upstream, index)
        edges += last - first + 1
      }
    }
  }
  return edges
}

/** The numbers of the tasks that a task of this asset waits for, in their order. */
export function upstreamTasksOf(run: RunRow, tasks: Tasks, asset: AssetTasks): (index: number) => number[] {
  const upstream = upstreamOf(tasks, asset).map((each) => ({ each, matched: matchPartitions(run, asset, each) }))
  return (index) => {
    const numbers: number[] = []
    for (const { each, matched } of upstream) {
      if (matched === undefined) {
        const { first, last } = upstreamSpan(asset, each, index)
        for (let place = first; place <= last; place++) numbers.push(each.first + place)
      } else for (const place of [...(matched.get(index) ?? [])].sort((left, right) => left - right)) numbers.push(each.first + place)
    }
    return numbers
  }
}

/** In the order of their numbers, so that the numbers of a task's upstream tasks go up. */
const upstreamOf = (tasks: Tasks, { upstream }: AssetTasks): readonly AssetTasks[] =>
  upstream.map((asset_key) => tasks.get(asset_key) as AssetTasks).sort((left, right) => left.first - right.first)

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
  // A lane with some of the partitions has other positions.
  if (downstream.lane.spelled !== undefined || upstream.lane.spelled !== undefined) return false
  return isIdentity(downstream, upstream) && downstream.lane.isAlignedWith(upstream.lane)
}

const isIdentity = (downstream: AssetTasks, { definition: { asset_key } }: AssetTasks): boolean =>
  downstream.definition.deps.every((dependency) => dependency.asset_key !== asset_key || isSameKey(dependency.mapping))

/** By the index of a downstream task, the places of the upstream tasks that have one of its partitions: what an upstream
 *  asset does not have succeeded in the parent, and is not waited for. undefined: not told by the partitions. */
function matchPartitions(run: RunRow, downstream: AssetTasks, upstream: AssetTasks): ReadonlyMap<number, ReadonlySet<number>> | undefined {
  const [below, above] = [downstream.lane, upstream.lane]
  if (below === null || above === null || !isIdentity(downstream, upstream) || !hasSameKeys(run, downstream, upstream)) return undefined
  const keys = below.spelled ?? above.spelled
  const { placeOf: placeBelow } = below
  const { placeOf: placeAbove } = above
  if (keys === undefined || placeBelow === undefined || placeAbove === undefined) return undefined
  const matched = new Map<number, Set<number>>()
  for (const key of keys) {
    const [position, wanted] = [placeBelow(key), placeAbove(key)]
    if (position === undefined || wanted === undefined) continue
    const index = Math.floor(position / downstream.partitions_per_task)
    const places = matched.get(index) ?? new Set<number>()
    matched.set(index, places.add(Math.floor(wanted / upstream.partitions_per_task)))
  }
  return matched
}

/** Whether equal keys are equal partitions: by equal definitions, or because the run names each of them itself. Keys of
 *  dimensions are written in the order of their definition. */
function hasSameKeys({ partitions }: RunRow, { definition: left }: AssetTasks, { definition: right }: AssetTasks): boolean {
  if (canonicalJson(left.partitions) === canonicalJson(right.partitions)) return true
  const isNamed = partitions !== null && ('keys' in partitions || 'list' in partitions)
  return isNamed && left.partitions?.type !== 'multi' && right.partitions?.type !== 'multi'
}
