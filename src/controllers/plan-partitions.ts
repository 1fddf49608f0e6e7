// What a run's partitions are to one definition: how many, and any slice of them as a selector. Ranges are counted and
// cut by arithmetic and never spelled out.

import { assert } from '../core/errors.js'
import { listSha256 } from '../core/keys.js'
import { INLINE_KEYS_MAX } from '../core/limits.js'
import { compareText } from '../core/order.js'
import type { Partitions } from '../events/partitions.js'
import type { Selector } from '../events/value.js'
import { blockOf } from '../partitions/block.js'
import { indexRange, isRefusal, type KeyOrder, type Refusal } from '../partitions/key-order.js'
import { keyOrderOf } from '../partitions/order.js'
import { expandSelector } from '../partitions/selector.js'

export type Lane = {
  readonly count: number
  /** The partitions from one position on, as they are written into a task. */
  readonly slice: (first: number, count: number) => Selector
  /** Where a part of it is written key by key: the most that fit an event. */
  readonly slice_max?: number
  /** Whether equal positions are equal partitions in another lane of the same run. */
  readonly isAlignedWith: (other: Lane) => boolean
  /** Where a partition is in this lane; without it nobody can tell. */
  readonly placeOf?: (partition_key: string) => number | undefined
  /** Its keys, where it has some of the run's partitions and not all of them. */
  readonly spelled?: readonly string[]
}

type Lists = (sha256: string) => readonly string[] | undefined
type RunPartitions = NonNullable<Selector>

/** Every key is looked at once, so that no task is planned for a partition that its asset does not have. */
export function openLane(partitions: Partitions, selector: RunPartitions, lists: Lists): Lane | Refusal {
  if ('keys' in selector || 'list' in selector) {
    const selected = expandSelector(partitions, selector, lists, Number.POSITIVE_INFINITY)
    if ('problem' in selected) return selected
    const placeOf = placesOf(selected.keys.map(({ partition_key }) => partition_key))
    return { ...('keys' in selector ? laneOfKeys(selector) : laneOfList(selector)), placeOf }
  }
  if ('dims' in selector) return laneOfDims(partitions, selector)
  const order = keyOrderOf(partitions)
  const span = isRefusal(order) ? order : spanOf(order, selector)
  if (!isRefusal(order) && !isRefusal(span)) return laneOfSpan(order, selector, span)
  // The selector's own sentence: what is refused here is refused there before anything is counted.
  const refused = expandSelector(partitions, selector, lists, 0)
  assert('problem' in refused, 'A selector that cannot be counted was expanded.')
  return refused
}

/** Some of the run's partitions, under the keys that a definition writes. */
export function laneOfSpelled(partitions: Partitions, keys: readonly string[]): Lane | Refusal {
  const selected = expandSelector(partitions, { keys }, () => undefined, Number.POSITIVE_INFINITY)
  if ('problem' in selected) return selected
  const spelled = [...new Set(selected.keys.map(({ partition_key }) => partition_key))]
  const sha256 = listSha256(spelled)
  const lane: Lane = {
    count: spelled.length,
    slice(first, count) {
      if (count <= INLINE_KEYS_MAX) return { keys: spelled.slice(first, first + count) }
      return { list: { sha256, count, ...offsetOf(first) } }
    },
    isAlignedWith: (other) => other === lane,
    placeOf: placesOf(spelled),
    spelled,
  }
  return lane
}

/** Made when somebody asks: most plans never do. */
function placesOf(keys: readonly string[]): (partition_key: string) => number | undefined {
  let places: ReadonlyMap<string, number> | undefined
  return (partition_key) => {
    places ??= new Map(keys.map((key, place) => [key, place]))
    return places.get(partition_key)
  }
}

function laneOfKeys(selector: Extract<RunPartitions, { keys: unknown }>): Lane {
  const { keys } = selector
  return {
    count: keys.length,
    slice: (first, count) => (count === keys.length ? selector : { keys: keys.slice(first, first + count) }),
    // The keys are the run's, in the run's order, whatever the definition.
    isAlignedWith: () => true,
  }
}

function laneOfList(selector: Extract<RunPartitions, { list: unknown }>): Lane {
  const { sha256, count, offset = 0 } = selector.list
  return {
    count,
    slice: (first, some) => (some === count ? selector : { list: { sha256, count: some, ...offsetOf(offset + first) } }),
    isAlignedWith: () => true,
  }
}

/** Left out at the beginning of the list, as whoever asks for a whole one does. */
const offsetOf = (offset: number) => (offset === 0 ? {} : { offset })

function laneOfDims(partitions: Partitions, selector: Extract<RunPartitions, { dims: unknown }>): Lane | Refusal {
  const order = keyOrderOf(partitions)
  const block = isRefusal(order) ? order : blockOf(order, selector.dims)
  if (isRefusal(block)) return block
  const { count, entryAt } = block
  const lane: Lane = {
    count,
    slice_max: INLINE_KEYS_MAX,
    slice(first, some) {
      if (some === count) return selector
      return { keys: Array.from({ length: some }, (_, place) => entryAt(first + place).partition_key).sort(compareText) }
    },
    isAlignedWith: (other) => other === lane,
  }
  return lane
}

type Span = { readonly first: number; readonly count: number }

function spanOf(order: KeyOrder, selector: Extract<RunPartitions, { range: unknown } | { all: unknown }>): Span | Refusal {
  if ('range' in selector) return indexRange(order, selector.range)
  if ('all' in selector && order.total !== null) return { first: 0, count: order.total }
  return { problem: 'These partitions have no first and last one.' }
}

function laneOfSpan(order: KeyOrder, selector: RunPartitions, span: Span): Lane {
  const keyAt = (position: number): string => {
    const key = order.keyAt(span.first + position)
    assert(key !== null, `Position ${position} of ${order.description} was counted and has no key.`)
    return key
  }
  const lane: Lane = {
    count: span.count,
    slice(first, count) {
      if (count === span.count) return selector
      // A range has two different ends.
      if (count === 1) return { keys: [keyAt(first)] }
      return { range: { start: keyAt(first), end: keyAt(first + count - 1) } }
    },
    // Between the same two keys another definition may have other ones.
    isAlignedWith: (other) => other === lane,
    placeOf(partition_key) {
      const found = order.indexOf(partition_key)
      const place = isRefusal(found) ? -1 : found.index - span.first
      return place >= 0 && place < span.count ? place : undefined
    },
  }
  return lane
}
