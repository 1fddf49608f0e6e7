// What a tick of a schedule asks for: assets by the definitions of now, partitions by its instant, and a request for a run
// for each. Ticks of the clock and those of people ask in the same way.

import { canonicalJson } from '../core/canonical.js'
import { listSha256 } from '../core/keys.js'
import { INLINE_KEYS_MAX, TICK_RUN_REQUESTS_MAX } from '../core/limits.js'
import type { Assets, Selector } from '../events/value.js'
import { isRefusal } from '../partitions/key-order.js'
import { type LastComplete, lastComplete } from '../partitions/last-complete.js'
import { anchoredAssets } from '../partitions/mapping/anchored.js'
import { keyOrderOf } from '../partitions/order.js'
import { endOffsetOf } from '../partitions/requestable.js'
import { type AssetGraph, selectAssets } from './asset-selection.js'
import type { AssetDefinitionRow } from './asset-table.js'
import { type RequestDraft, type RunIdentity, type RunSpec, requestDraft } from './run-request.js'
import type { ScheduleDefinitionRow } from './schedule-table.js'

export type TickFault = { readonly code: 'BAD_CRON' | 'BAD_SELECTION' | 'BAD_PARTITIONS' | 'TOO_MANY_RUNS'; readonly message: string }
export const isTickFault = <T extends object>(value: T | TickFault): value is TickFault => 'code' in value

/** One run. `suffix` tells it from the others of its tick. */
export type AskedRun = { readonly partitions: Selector; readonly suffix?: string }
type TickAsks = { readonly partitions: Selector; readonly runs: readonly AskedRun[] } | { readonly none: true } | TickFault

export type TickAssets = {
  /** Sorted. */
  readonly asset_keys: readonly string[]
  readonly assets: Assets
  /** To be written before an event names it; undefined: the keys are in the event. */
  readonly long_list: readonly string[] | undefined
  /** What the tick of this instant asks for. */
  readonly asksAt: (at_ms: number) => TickAsks
}

type Asking = Pick<ScheduleDefinitionRow, 'asset_selection' | 'partition_mapping'>

export function openTick({ asset_selection, partition_mapping }: Asking, graph: AssetGraph): TickAssets | TickFault {
  const { asset_keys, faults } = selectAssets(graph, asset_selection)
  if (faults.length > 0) return { code: 'BAD_SELECTION', message: faults.map(({ message }) => message).join(' ') }
  const definitions = asset_keys.flatMap((asset_key) => graph.definitions.get(asset_key) ?? [])
  const isLong = asset_keys.length > INLINE_KEYS_MAX
  return {
    asset_keys,
    assets: isLong ? { list: { sha256: listSha256(asset_keys), count: asset_keys.length } } : { keys: asset_keys },
    long_list: isLong ? asset_keys : undefined,
    asksAt: openPartitions(partition_mapping, definitions),
  }
}

function openPartitions(
  mapping: ScheduleDefinitionRow['partition_mapping'],
  definitions: readonly AssetDefinitionRow[],
): TickAssets['asksAt'] {
  const named = anchoredAssets(definitions)
  const [first] = named
  if (mapping === null) {
    if (first === undefined) return () => ({ partitions: null, runs: [{ partitions: null }] })
    return () => partitionFault(`${first.asset_key} has partitions: give the schedule a partition_mapping.`)
  }
  if (first === undefined) return () => partitionFault('None of the selected assets has partitions. Leave partition_mapping out.')
  // Most selections have one way to be partitioned, or two.
  const kinds = new Map(named.map((definition) => [canonicalJson(definition.partitions), definition]))
  return (at_ms) => {
    const found = [...kinds.values()].map((definition) => ({ definition, last: lastOf(definition, mapping, at_ms) }))
    return asksOf(found)
  }
}

type FoundOf = { readonly definition: AssetDefinitionRow; readonly last: LastComplete }

function lastOf(
  { partitions }: AssetDefinitionRow,
  mapping: NonNullable<ScheduleDefinitionRow['partition_mapping']>,
  at_ms: number,
): LastComplete {
  const order = keyOrderOf(partitions)
  return isRefusal(order) ? order : lastComplete(order, mapping, at_ms, TICK_RUN_REQUESTS_MAX)
}

/** A run has one selection of partitions, so all assets that it ends with have to mean the same. */
function asksOf(found: readonly FoundOf[]): TickAsks {
  for (const { definition, last } of found) if ('problem' in last) return partitionFault(`${definition.asset_key}: ${last.problem}`)
  if (found.some(({ last }) => 'none' in last)) return { none: true }
  const [first, ...others] = found as readonly { readonly definition: AssetDefinitionRow; readonly last: Keyed }[]
  if (first === undefined) return { none: true }
  const other = others.find(({ last }) => last.keys.join('\n') !== first.last.keys.join('\n'))
  if (other !== undefined) {
    return partitionFault(
      `${first.definition.asset_key} and ${other.definition.asset_key} have other partitions at that time ` +
        `("${first.last.keys[0]}" and "${other.last.keys[0]}"). Make a schedule for each.`,
    )
  }
  const { keys, selector, is_single } = first.last
  if (is_single) return { partitions: selector, runs: [{ partitions: selector }] }
  return { partitions: selector, runs: keys.map((key) => ({ partitions: { keys: [key] }, suffix: key })) }
}

type Keyed = Extract<LastComplete, { keys: unknown }>

const partitionFault = (message: string): TickFault => ({ code: 'BAD_PARTITIONS', message })

type RunOfTick = {
  readonly run_key: string
  readonly partitions: Selector
  readonly tick: TickAssets
  readonly definition: Pick<ScheduleDefinitionRow, 'schedule_id' | 'partition_mapping' | 'tags' | 'priority'>
  readonly tick_id: string
  /** Of a tick that a person asked for. */
  readonly by?: Pick<RunSpec['origin'], 'requested_by' | 'reason'>
}

export function requestRunOfTick({ run_key, partitions, tick, definition, tick_id, by }: RunOfTick, identity: RunIdentity): RequestDraft {
  const { schedule_id, tags, priority } = definition
  const { asset_keys, assets } = tick
  const partition_end_offset = endOffsetOf(definition.partition_mapping)
  const trigger = { type: 'SCHEDULE', schedule_id, tick_id } as const
  const origin = { trigger, ...(partition_end_offset === null ? {} : { partition_end_offset }), ...by }
  return requestDraft({ run_key, asset_keys, assets, partitions, tags, priority, origin }, identity)
}
