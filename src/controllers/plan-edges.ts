// Which tasks of a run wait for which: by their positions where both assets have the same partitions in the same order, and
// by what each partition is made from where they do not. It costs tasks, edges, and partitions that are scattered.

import { MAPPED_KEYS_FOUND_MAX } from '../core/limits.js'
import { isRefusal, type KeyOrder } from '../partitions/key-order.js'
import { type Box, entryIn, keysIn, placesIn } from '../partitions/mapping/boxes.js'
import { isSameKey, openLink } from '../partitions/mapping/link.js'
import { upstreamBoxes } from '../partitions/mapping/map-boxes.js'
import { isMulti } from '../partitions/multi.js'
import { countOf, indexesIn, mergeSpans, type Span, spansOf } from '../partitions/spans.js'
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

type Tasks = ReadonlyMap<string, AssetTasks>

export type Edges = {
  readonly count: number
  /** The numbers of the tasks that a task of this asset waits for, in their order. */
  readonly upstreamOf: (index: number) => number[]
}

export function edgesOf(run: RunRow, tasks: Tasks, asset: AssetTasks): Edges {
  const links = asset.upstream
    .flatMap((asset_key) => tasks.get(asset_key) ?? [])
    // In the order of their numbers, so that the numbers of a task's upstream tasks go up.
    .sort((left, right) => left.first - right.first)
    .map((upstream) => ({ upstream, placesOf: linkOf(run, asset, upstream) }))
  const perTask = (index: number) => links.reduce((sum, { placesOf }) => sum + countOf(placesOf(index)), 0)
  let count = 0
  for (let index = 0; index < asset.count; index++) count += perTask(index)
  return {
    count,
    upstreamOf: (index) =>
      links.flatMap(({ upstream, placesOf }) => [...indexesIn(placesOf(index))].map((place) => upstream.first + place)),
  }
}

/** By the index of a downstream task, its upstream tasks by their places among those of that asset. */
type PlacesOf = (index: number) => readonly Span[]

function linkOf(run: RunRow, downstream: AssetTasks, upstream: AssetTasks): PlacesOf {
  // What cannot be told is waited for: too long a wait is seen, and a wait too short gives wrong data.
  const everyOne: readonly Span[] = [{ first: 0, count: upstream.count }]
  return byPosition(downstream, upstream) ?? byMapping(run, downstream, upstream) ?? (() => everyOne)
}

const mappingsOf = ({ definition: { deps } }: AssetTasks, { definition: { asset_key } }: AssetTasks): readonly unknown[] =>
  deps.flatMap((dependency) => (dependency.asset_key === asset_key ? [dependency.mapping] : []))

function byPosition(downstream: AssetTasks, upstream: AssetTasks): PlacesOf | undefined {
  const [below, above] = [downstream.lane, upstream.lane]
  if (below === null || above === null || below.alignment !== above.alignment) return undefined
  if (!mappingsOf(downstream, upstream).every(isSameKey)) return undefined
  const size = downstream.partitions_per_task
  return (index) => {
    const first = index * size
    return tasksAt(upstream, [{ first, count: Math.min(size, below.count - first) }])
  }
}

/** The tasks that have the partitions at these positions. */
function tasksAt({ partitions_per_task: size }: AssetTasks, positions: readonly Span[]): readonly Span[] {
  return mergeSpans(
    positions.map(({ first, count }) => {
      const place = Math.floor(first / size)
      return { first: place, count: count === 0 ? 0 : Math.floor((first + count - 1) / size) - place + 1 }
    }),
  )
}

/** A partition that no task of the upstream asset has is not waited for: it exists already, or never will. */
function byMapping({ requested_at }: RunRow, downstream: AssetTasks, upstream: AssetTasks): PlacesOf | undefined {
  const [mapping, ...others] = mappingsOf(downstream, upstream)
  // Without partitions there is no key to be the same.
  if (others.length > 0 || (isSameKey(mapping) && (downstream.lane === null || upstream.lane === null))) return undefined
  const link = openLink(mapping, downstream.definition.partitions, upstream.definition.partitions, requested_at)
  if (isRefusal(link)) return undefined
  const tasksOf = openTasksOf(upstream, link.sides.upstream)
  const places: (readonly Span[])[] = []
  for (let index = 0; index < downstream.count; index++) {
    const boxes = boxesOfTask(downstream, index)
    const found = boxes === undefined ? undefined : tasksOf(upstreamBoxes(link.mapping, link.sides, boxes))
    if (found === undefined) return undefined
    places.push(found)
  }
  return (index) => places[index] ?? []
}

const ONLY: readonly Span[] = [{ first: 0, count: 1 }]

function boxesOfTask({ lane, partitions_per_task: size }: AssetTasks, index: number): readonly Box[] | undefined {
  if (lane === null) return [[ONLY]]
  return lane.boxesAt(index * size, Math.min(size, lane.count - index * size))
}

/** The tasks that have these partitions; undefined where there are too many to look for one by one. */
function openTasksOf(upstream: AssetTasks, order: KeyOrder): (boxes: readonly Box[]) => readonly Span[] | undefined {
  const { lane } = upstream
  if (lane === null) return (boxes) => (boxes.length === 0 ? [] : ONLY)
  let left = MAPPED_KEYS_FOUND_MAX
  const known = new Map<string, readonly Span[]>()
  const find = (boxes: readonly Box[]): readonly Span[] | undefined => {
    if (lane.placesOf !== undefined && !isMulti(order)) return tasksAt(upstream, lane.placesOf(boxes.flatMap(([spans]) => spans ?? [])))
    left -= boxes.reduce((sum, box) => sum + keysIn(box), 0)
    if (left < 0) return undefined
    const positions = boxes.flatMap((box) =>
      [...placesIn(box)].flatMap((places) => lane.placeOf(entryIn(order, places).partition_key) ?? []),
    )
    return tasksAt(upstream, spansOf(positions))
  }
  return (boxes) => {
    // Where all are made from the same ones, those are looked for once.
    const text = JSON.stringify(boxes)
    const before = known.get(text)
    if (before !== undefined) return before
    const found = find(boxes)
    if (found !== undefined) known.set(text, found)
    return found
  }
}
