// Which mappings an asset may be deployed with. A plan knows the same key alone, so any other is refused even where it fits:
// an asset that looks mapped and is not would be made from the wrong partitions, and nobody would see it.

import { isRefusal, type KeyOrder, type Refusal } from '../key-order.js'
import { keyOrderOf } from '../order.js'
import { UNPARTITIONED } from '../unpartitioned.js'
import { parseMapping } from './definition.js'

export const SAME_KEY_ONLY =
  'this version of Servo maps a partition to the one with the same key only. Leave mapping out, or give it {"type": "identity"}.'

/** What no mapping means, whether it is written or not. */
export const isSameKey = (mapping: unknown): boolean =>
  mapping === undefined || (typeof mapping === 'object' && mapping !== null && 'type' in mapping && mapping.type === 'identity')

/** By the JSON of the partitions of both assets, undefined where one has none. What does not fit them is said before what
 *  cannot be done yet. */
export function mappingRefusal(mapping: unknown, downstream: unknown, upstream: unknown): Refusal | undefined {
  if (mapping === undefined) return undefined
  const [down, up] = [orderOf(downstream), orderOf(upstream)]
  // What is wrong with partitions is said where they are, and any mapping is read with others.
  const parsed = parseMapping(mapping, isRefusal(down) ? UNPARTITIONED : down, isRefusal(up) ? UNPARTITIONED : up)
  if (isRefusal(parsed)) return isRefusal(down) || isRefusal(up) ? undefined : parsed
  if (isSameKey(mapping)) return undefined
  return { problem: `It is of type "${parsed.type}", and ${SAME_KEY_ONLY}` }
}

const orderOf = (partitions: unknown): KeyOrder | Refusal =>
  partitions === undefined || partitions === null ? UNPARTITIONED : keyOrderOf(partitions)
