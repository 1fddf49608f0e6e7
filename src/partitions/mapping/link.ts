// How one asset depends on another, by their partitions: the mapping as it is written, read with the order of both.

import { canonicalJson } from '../../core/canonical.js'
import { isRefusal, type KeyOrder, type Refusal } from '../key-order.js'
import { keyOrderOf } from '../order.js'
import { UNPARTITIONED } from '../unpartitioned.js'
import { type Mapping, parseMapping } from './definition.js'
import type { Sides } from './map.js'

type Link = { readonly mapping: Mapping; readonly sides: Sides }

/** What no mapping means, whether it is written or not. */
const SAME_KEY: Mapping = { type: 'identity' }

export const isSameKey = (mapping: unknown): boolean =>
  mapping === undefined || (typeof mapping === 'object' && mapping !== null && 'type' in mapping && mapping.type === SAME_KEY.type)

/** By the JSON of the partitions of both assets, null or undefined where one has none. `now_ms` says what exists. */
export function openLink(mapping: unknown, downstream: unknown, upstream: unknown, now_ms: number): Link | Refusal {
  const down = orderOf(downstream)
  // Equal definitions have one order, so that the same keys are the same numbers.
  const up = isEqual(downstream, upstream) ? down : orderOf(upstream)
  if (isRefusal(down)) return down
  if (isRefusal(up)) return up
  const parsed = mapping === undefined ? SAME_KEY : parseMapping(mapping, down, up)
  return isRefusal(parsed) ? parsed : { mapping: parsed, sides: { downstream: down, upstream: up, now_ms } }
}

const isEqual = (left: unknown, right: unknown): boolean => canonicalJson(left ?? null) === canonicalJson(right ?? null)

const orderOf = (partitions: unknown): KeyOrder | Refusal =>
  partitions === undefined || partitions === null ? UNPARTITIONED : keyOrderOf(partitions)
