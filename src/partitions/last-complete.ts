// Which partitions a moment asks for: the last window of time that is complete then, and each key of the other dimensions.

import { type Block, blockOf, type DimensionSelector } from './block.js'
import { type Calendar, isCalendar } from './calendar.js'
import { isRefusal, type KeyOrder, type Refusal } from './key-order.js'
import { isMulti, type MultiOrder } from './multi.js'

type LastCompleteMapping = {
  /** Counts from the last complete one: 1 is the one that is under way. */
  readonly end_offset: number
  /** What is asked for of a dimension; without it all of its keys, or the last complete one where it is time. */
  readonly dims?: Readonly<Record<string, DimensionSelector>>
}

export type LastComplete =
  | {
      /** Each is one request. */
      readonly keys: readonly string[]
      readonly selector: { readonly keys: readonly string[] } | { readonly all: true } | { readonly dims: Dims }
      /** Time alone: there is one key at any moment, and no other to tell it from. */
      readonly is_single: boolean
    }
  /** None is complete yet, or an offset leads past the ends of the definition. A definition that has ended keeps its last
   *  one, and time that is left out keeps the one before it: the last complete one is asked for again then. */
  | { readonly none: true }
  | Refusal

type Dims = Readonly<Record<string, DimensionSelector>>

export function lastComplete(order: KeyOrder, mapping: LastCompleteMapping, at_ms: number, keys_max: number): LastComplete {
  if (isMulti(order)) return lastOfDimensions(order, mapping, at_ms, keys_max)
  if (mapping.dims !== undefined) {
    return { problem: `Dimensions are mapped of partitions that have some, and these are ${order.description}. Leave dims out.` }
  }
  if (isCalendar(order)) {
    const key = lastKey(order, mapping, at_ms)
    return key === null ? { none: true } : { keys: [key], selector: { keys: [key] }, is_single: true }
  }
  const { total } = order
  if (total === null || total > keys_max) return tooMany(order, total, keys_max)
  const keys = Array.from({ length: total }, (_, index) => order.keyAt(index) as string)
  return { keys, selector: { all: true }, is_single: false }
}

function lastKey(order: Calendar, { end_offset }: LastCompleteMapping, at_ms: number): string | null {
  const index = order.rankAt(at_ms) - 1 + end_offset
  return index < 0 ? null : order.keyAt(index)
}

function lastOfDimensions(order: MultiOrder, mapping: LastCompleteMapping, at_ms: number, keys_max: number): LastComplete {
  // What is named of a dimension has to exist as well; an offset above zero leads past it for all of them alike.
  const existing = order.at(at_ms, Math.max(0, mapping.end_offset))
  const dims: Record<string, DimensionSelector> = { ...mapping.dims }
  for (const { name, order: dimension } of order.dimensions) {
    if (Object.hasOwn(dims, name)) continue
    const key = isCalendar(dimension) ? lastKey(dimension, mapping, at_ms) : undefined
    if (key === null) return { none: true }
    dims[name] = key === undefined ? { all: true } : { keys: [key] }
  }
  const block: Block | Refusal = blockOf(existing, dims)
  if (isRefusal(block)) return block
  if (block.count === 0) return { none: true }
  if (block.count > keys_max) return tooMany(order, block.count, keys_max)
  const keys = Array.from({ length: block.count }, (_, position) => block.entryAt(position).partition_key)
  return { keys, selector: { dims }, is_single: false }
}

const tooMany = ({ description }: KeyOrder, count: number | null, keys_max: number): Refusal => ({
  problem: `${count ?? 'Endlessly many'} keys are asked for of ${description}, and ${keys_max} is the most of one tick. Ask for fewer.`,
})
