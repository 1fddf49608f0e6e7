// Which partitions of each of its assets a run makes: what it ends with has those that the run names, and the others those
// that they are made from, through the mappings between them. It costs assets, dependencies, and keys that are scattered.

import { canonicalJson } from '../core/canonical.js'
import { listSha256 } from '../core/keys.js'
import { MAPPED_KEYS_MAX } from '../core/limits.js'
import type { Selector } from '../events/value.js'
import { isRefusal, type KeyOrder } from '../partitions/key-order.js'
import { anchoredAssets } from '../partitions/mapping/anchored.js'
import { type Box, existingIn, mergeBoxes } from '../partitions/mapping/boxes.js'
import { openLink } from '../partitions/mapping/link.js'
import { upstreamBoxes } from '../partitions/mapping/map-boxes.js'
import { selectorOf } from '../partitions/mapping/map-selector.js'
import type { AssetDefinitionRow } from '../projections/asset-table.js'
import type { RunRow } from '../projections/run-table.js'
import type { WorkingSet } from '../projections/working-set.js'
import { type PlanFault, planFault } from './plan-fault.js'
import { type Lane, laneOfSpelled, namedOrder, openLane, wholeOrder } from './plan-partitions.js'

type Definitions = ReadonlyMap<string, AssetDefinitionRow>

/** null: the asset has no partitions. `none`: it has some, and nothing in the run is made from any that exists. */
type LaneOf = (asset_key: string) => Lane | PlanFault | null | 'none'

/** `order` names what is made from something after it. */
export function openLanes(rows: WorkingSet, run: RunRow, definitions: Definitions, order: readonly string[]): LaneOf {
  const anchored = new Set(anchoredAssets([...definitions.values()]).map(({ asset_key }) => asset_key))
  const laneOfNamed = openNamed(rows, run)
  if (order.every((asset_key) => anchored.has(asset_key) || definitions.get(asset_key)?.partitions === null)) {
    return (asset_key) => laneOfNamed(definitions.get(asset_key) as AssetDefinitionRow)
  }
  const lanes = new Map<string, ReturnType<LaneOf>>()
  const laneOfMapped = openMapped(rows, run, lanes)
  const dependents = new Map<string, AssetDefinitionRow[]>()
  for (const asset_key of [...order].reverse()) {
    const definition = definitions.get(asset_key) as AssetDefinitionRow
    const isNamed = anchored.has(asset_key) || definition.partitions === null
    lanes.set(asset_key, isNamed ? laneOfNamed(definition) : laneOfMapped(definition, dependents.get(asset_key) ?? []))
    for (const dependency of definition.deps) {
      const known = dependents.get(dependency.asset_key)
      if (known === undefined) dependents.set(dependency.asset_key, [definition])
      else known.push(definition)
    }
  }
  return (asset_key) => lanes.get(asset_key) ?? null
}

/** Assets with the same partitions share a lane, so that the run's keys are looked at once for all of them. */
function openNamed(rows: WorkingSet, run: RunRow) {
  const { partitions: selector } = run
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
    const lane = lanes.get(text) ?? openLane(partitions, namedOrder(partitions, run), selector, rows.list)
    lanes.set(text, lane)
    return isRefusal(lane) ? badPartition(asset_key, lane.problem) : lane
  }
}

const badPartition = (asset_key: string, problem: string): PlanFault => planFault('BAD_PARTITION', `${asset_key}: ${problem}`)

function openMapped(rows: WorkingSet, { requested_at }: RunRow, lanes: ReadonlyMap<string, ReturnType<LaneOf>>) {
  const opened = new Map<string, Lane | { readonly problem: string }>()
  return (definition: AssetDefinitionRow, dependents: readonly AssetDefinitionRow[]): ReturnType<LaneOf> => {
    const { asset_key, partitions } = definition
    const wanted: Box[] = []
    let upstream: KeyOrder | undefined
    for (const dependent of dependents) {
      const lane = lanes.get(dependent.asset_key)
      if (lane === undefined || lane === null || lane === 'none') continue
      if ('code' in lane) return lane
      const found = mappedFrom(dependent, lane, definition, requested_at)
      if (isRefusal(found))
        return badPartition(asset_key, `${dependent.asset_key} is made from it, and it cannot be told how. ${found.problem}`)
      wanted.push(...found.boxes)
      upstream = found.upstream
    }
    if (upstream === undefined || partitions === null) return 'none'
    // By the time of the request, so that every turn makes the same plan.
    const mapped = selectorOf(upstream, existingIn(upstream, mergeBoxes(wanted), requested_at), { keys_max: MAPPED_KEYS_MAX })
    if (isRefusal(mapped)) return badPartition(asset_key, mapped.problem)
    if ('none' in mapped) return 'none'
    const selector = 'selector' in mapped ? (mapped.selector as Selector) : null
    const long_list = 'long_list' in mapped ? mapped.long_list : []
    const text = `${canonicalJson(partitions)} ${selector === null ? listSha256(long_list) : canonicalJson(selector)}`
    const whole = wholeOrder(partitions)
    const lane =
      opened.get(text) ??
      (selector === null ? laneOfSpelled(partitions, whole, long_list) : openLane(partitions, whole, selector, rows.list))
    opened.set(text, lane)
    return isRefusal(lane) ? badPartition(asset_key, lane.problem) : lane
  }
}

type MappedFrom = { readonly boxes: readonly Box[]; readonly upstream: KeyOrder } | { readonly problem: string }

function mappedFrom(dependent: AssetDefinitionRow, lane: Lane, { asset_key, partitions }: AssetDefinitionRow, now_ms: number): MappedFrom {
  const dependency = dependent.deps.find((each) => each.asset_key === asset_key)
  const link = openLink(dependency?.mapping, dependent.partitions, partitions, now_ms)
  if (isRefusal(link)) return link
  const boxes = lane.boxesAt(0, lane.count)
  if (boxes === undefined) return { problem: `This version of Servo does not know the partitions of ${dependent.asset_key}.` }
  return { boxes: upstreamBoxes(link.mapping, link.sides, boxes), upstream: link.sides.upstream }
}
