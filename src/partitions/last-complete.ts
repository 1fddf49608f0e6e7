// Which partitions a moment asks for: the last one that is complete then, and each key of what is not time.

import { isRefusal, type KeyOrder, type Refusal } from './key-order.js'

export type LastComplete =
  | {
      /** Each is one request. */
      readonly keys: readonly string[]
      /** Time alone: there is one key at any moment, and no other to tell it from. */
      readonly is_single: boolean
    }
  /** None is complete yet, or the definition has ended. */
  | { readonly none: true }
  | Refusal

type Timed = KeyOrder & { readonly countAt: (now_ms: number) => number }
const isTimed = (order: KeyOrder): order is Timed => 'countAt' in order

/** `end_offset` counts from the last complete one: 1 is the one that is under way. */
export function lastComplete(order: KeyOrder, end_offset: number, at_ms: number, keys_max: number): LastComplete {
  if (isTimed(order)) {
    const index = order.countAt(at_ms) - 1 + end_offset
    const key = index < 0 ? null : order.keyAt(index)
    return key === null ? { none: true } : { keys: [key], is_single: true }
  }
  const keys = allKeys(order, keys_max)
  return isRefusal(keys) ? keys : { keys: keys.found, is_single: false }
}

function allKeys(order: KeyOrder, keys_max: number): { readonly found: readonly string[] } | Refusal {
  const { total } = order
  if (total === null) return { problem: `There is no end to ${order.description}. Name the partitions that are meant.` }
  if (total > keys_max) {
    return { problem: `There are ${total} keys in ${order.description}, and a tick asks for ${keys_max} at most. Name fewer of them.` }
  }
  return { found: Array.from({ length: total }, (_, index) => order.keyAt(index) as string) }
}
