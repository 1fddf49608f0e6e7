// Which partitions a run may name: those that exist when it is requested, and nothing else (ADR 0056, 0078). The API, ticks,
// reruns and the plan look a selection up in this order, so that none of them takes what another one refuses.

import { isRefusal, type KeyOrder, type Refusal } from './key-order.js'
import { keyOrderOf } from './order.js'

/** A row of `runs` is one. */
export type RunRequestInstant = {
  readonly requested_at: number
  /** How many windows after the last one that exists the run may name: what the mapping of its schedule adds. null: none. */
  readonly partition_end_offset: number | null
}

export function requestableOrder(partitions: unknown, { requested_at, partition_end_offset }: RunRequestInstant): KeyOrder | Refusal {
  const order = keyOrderOf(partitions)
  return isRefusal(order) ? order : order.at(requested_at, partition_end_offset ?? 0)
}

/** What a schedule's mapping adds: only an offset above zero leads past the partitions that exist. */
export const endOffsetOf = (mapping: { readonly end_offset: number } | null): number | null =>
  mapping !== null && mapping.end_offset > 0 ? mapping.end_offset : null
