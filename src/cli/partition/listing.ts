// What `servo partition keys` says of a definition: pure, so that tests ask it as the command does.

import { PARTITION_END_MS_MAX, PARTITION_KEYS_LISTED_MAX } from '../../core/limits.js'
import { zonedText } from '../../core/zoned-text.js'
import { type PartitionDefinition, parseDefinition } from '../../partitions/definition.js'
import { indexRange, isRefusal, type KeyOrder, type Window } from '../../partitions/key-order.js'
import { openOrder } from '../../partitions/order.js'
import { UsageError } from '../exit-code.js'

type ListingOptions = {
  /** Those that exist at an instant; where it is left out, all that the definition has, or, without an end, those of now. */
  readonly now_ms?: number
  readonly range?: { readonly start: string; readonly end: string }
  readonly limit?: number
  readonly windows?: boolean
}

/** An end_offset holds back the last ones of a definition that has an end, however long ago that is. */
const AFTER_ALL_MS = PARTITION_END_MS_MAX

type Listing = {
  /** All of them, whatever the limit. */
  readonly count: number
  readonly keys: readonly string[]
  /** Start and end of each key, in the zone of the definition; null for keys that mean no time. */
  readonly windows?: readonly (readonly [string, string] | null)[]
}

export function listPartitions(json: unknown, { now_ms, range, limit, windows }: ListingOptions): Listing {
  const definition = parseDefinition(json)
  if (isRefusal(definition)) throw new UsageError(definition.problem)
  const whole = openOrder(definition)
  if (isRefusal(whole)) throw new UsageError(whole.problem)
  const order = whole.at(now_ms ?? (whole.total === null ? Date.now() : AFTER_ALL_MS))
  const { first, count } = spanOf(order, range)
  const shown = Math.min(count, limit ?? count)
  if (shown > PARTITION_KEYS_LISTED_MAX) {
    throw new UsageError(`There are ${count} keys, and ${PARTITION_KEYS_LISTED_MAX} is the most at once. Give --limit, or a --range.`)
  }
  const places = Array.from({ length: shown }, (_, place) => first + place)
  const keys = places.map((index) => order.keyAt(index) ?? '')
  if (windows !== true) return { count, keys }
  const zone = zoneOf(definition)
  return { count, keys, windows: places.map((index) => windowText(order.windowAt(index), zone)) }
}

function spanOf(order: KeyOrder, range: ListingOptions['range']): { readonly first: number; readonly count: number } {
  if (range === undefined) return { first: 0, count: order.size() }
  const found = indexRange(order, range)
  if (isRefusal(found)) throw new UsageError(found.problem)
  return found
}

/** Of several dimensions the zone of the one that has windows. */
function zoneOf(definition: PartitionDefinition): string {
  if ('timezone' in definition) return definition.timezone
  const zones = definition.type === 'multi' ? definition.dimensions.map((dimension) => zoneOf(dimension.definition)) : []
  return zones.find((zone) => zone !== 'UTC') ?? 'UTC'
}

const windowText = (window: Window | null, zone: string): readonly [string, string] | null =>
  window === null ? null : [zonedText(zone, window.start_ms), zonedText(zone, window.end_ms)]
