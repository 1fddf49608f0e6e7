// Partitions of one asset in a run: how many, any slice of them as a selector, and where one is among them. Ranges are
// counted and cut by arithmetic and never spelled out.

import { canonicalJson } from '../core/canonical.js'
import { assert } from '../core/errors.js'
import { listSha256 } from '../core/keys.js'
import { INLINE_KEYS_MAX, MAPPED_KEYS_MAX } from '../core/limits.js'
import { compareText } from '../core/order.js'
import type { Partitions } from '../events/partitions.js'
import type { Selector } from '../events/value.js'
import { blockOf, dimensionSpans } from '../partitions/block.js'
import { indexRange, isRefusal, type KeyOrder, type Refusal } from '../partitions/key-order.js'
import { type Box, boxesOfKeys, boxesOfRange, entryIn, keysIn, placesIn } from '../partitions/mapping/boxes.js'
import { selectorOf } from '../partitions/mapping/map-selector.js'
import { isMulti } from '../partitions/multi.js'
import { keyOrderOf } from '../partitions/order.js'
import { type RunRequestInstant, requestableOrder } from '../partitions/requestable.js'
import { expandIn } from '../partitions/selector.js'
import { clipSpan, mergeSpans, type Span } from '../partitions/spans.js'

export type Lane = {
  readonly count: number
  /** The partitions from one position on, as they are written into a task. */
  readonly slice: (first: number, count: number) => Selector
  /** Where a part of it is written key by key: the most that fit an event. */
  readonly slice_max?: number
  /** Where this is equal, equal positions are equal partitions. */
  readonly alignment: string | object
  /** The partitions from one position on, as numbers; undefined: the definition has no order that this version knows. */
  readonly boxesAt: (first: number, count: number) => readonly Box[] | undefined
  /** Where partitions are in this lane, by their keys or, without spelling them out, by their numbers. */
  readonly placeOf: (partition_key: string) => number | undefined
  readonly placesOf?: (spans: readonly Span[]) => readonly Span[]
  /** Its keys, which a list has to be written of where they are many. */
  readonly spelled?: readonly string[]
}

type Lists = (sha256: string) => readonly string[] | undefined
type RunPartitions = NonNullable<Selector>

/** What a run may name of an asset: all keys of the definition, as what it makes through mappings was found in them, or
 *  those that exist when it is requested. A task's selector is always read by all keys, whenever that is. */
type LaneOrder = KeyOrder | Refusal

export const wholeOrder = (partitions: Partitions): LaneOrder => keyOrderOf(partitions)
export const namedOrder = (partitions: Partitions, run: RunRequestInstant): LaneOrder => requestableOrder(partitions, run)

/** Every key is looked at once, so that no task is planned for a partition that its asset does not have. */
export function openLane(partitions: Partitions, order: LaneOrder, selector: RunPartitions, lists: Lists): Lane | Refusal {
  if ('keys' in selector || 'list' in selector) {
    const selected = expandIn(order, selector, lists, Number.POSITIVE_INFINITY)
    if ('problem' in selected) return selected
    const known = knownKeys(
      partitions,
      selected.keys.map(({ partition_key }) => partition_key),
    )
    return { ...('keys' in selector ? laneOfKeys(selector) : laneOfList(selector)), ...known }
  }
  const whole = keyOrderOf(partitions)
  if (isRefusal(order) || isRefusal(whole)) {
    // The selector's own sentence: what is refused here is refused there before anything is counted.
    const refused = expandIn(order, selector, lists, 0)
    assert('problem' in refused, 'A selector of keys without an order was expanded.')
    return refused
  }
  if ('dims' in selector) return laneOfDims(partitions, [order, whole], selector)
  const span = spanOf([order, whole], selector)
  if (isRefusal(span)) return span
  if (!isNumberedAs(order, whole)) return laneOfBoxes(partitions, whole, boxesOfRange(order, span))
  return laneOfSpan(order, 'all' in selector && order.total !== whole.total ? undefined : selector, span)
}

/** Keys have the same numbers in both, unless a dimension after the first one has fewer of them. */
function isNumberedAs(order: KeyOrder, whole: KeyOrder): boolean {
  if (!isMulti(order) || !isMulti(whole)) return true
  return order.dimensions.every((dimension, place) => place === 0 || dimension.order.total === whole.dimensions[place]?.order.total)
}

/** Partitions that no range of all keys holds: spelled out where a list can hold them, and by dimensions where they are more. */
function laneOfBoxes(partitions: Partitions, whole: KeyOrder, boxes: readonly Box[]): Lane | Refusal {
  if (boxes.reduce((sum, box) => sum + keysIn(box), 0) <= MAPPED_KEYS_MAX) {
    const keys = boxes.flatMap((box) => [...placesIn(box)].map((places) => entryIn(whole, places).partition_key))
    return spelledLane(partitions, keys.sort(compareText))
  }
  const written = selectorOf(whole, boxes, { keys_max: MAPPED_KEYS_MAX })
  if (isRefusal(written)) return written
  assert('selector' in written && written.selector !== null, 'More keys than a list holds were spelled out.')
  return openLane(partitions, whole, written.selector as RunPartitions, () => undefined)
}

/** Partitions that the run does not name as they are, under the keys that a definition writes. */
export function laneOfSpelled(partitions: Partitions, order: LaneOrder, keys: readonly string[]): Lane | Refusal {
  const selected = expandIn(order, { keys }, () => undefined, Number.POSITIVE_INFINITY)
  return 'problem' in selected ? selected : spelledLane(partitions, [...new Set(selected.keys.map(({ partition_key }) => partition_key))])
}

function spelledLane(partitions: Partitions, spelled: readonly string[]): Lane {
  const sha256 = listSha256(spelled)
  return {
    count: spelled.length,
    slice(first, count) {
      if (count <= INLINE_KEYS_MAX) return { keys: spelled.slice(first, first + count) }
      return { list: { sha256, count, ...offsetOf(first) } }
    },
    alignment: {},
    ...knownKeys(partitions, spelled),
    spelled,
  }
}

type Known = Pick<Lane, 'boxesAt' | 'placeOf'>
type Written = Omit<Lane, keyof Known>

/** Made when somebody asks: most plans never do. */
function knownKeys(partitions: Partitions, keys: readonly string[]): Known {
  let places: ReadonlyMap<string, number> | undefined
  return {
    boxesAt(first, count) {
      const order = keyOrderOf(partitions)
      return isRefusal(order) ? undefined : boxesOfKeys(order, keys.slice(first, first + count))
    },
    placeOf(partition_key) {
      places ??= new Map(keys.map((key, place) => [key, place]))
      return places.get(partition_key)
    },
  }
}

function laneOfKeys(selector: Extract<RunPartitions, { keys: unknown }>): Written {
  const { keys } = selector
  return {
    count: keys.length,
    slice: (first, count) => (count === keys.length ? selector : { keys: keys.slice(first, first + count) }),
    // In the order in which they are named, whatever the definition.
    alignment: canonicalJson(selector),
  }
}

function laneOfList(selector: Extract<RunPartitions, { list: unknown }>): Written {
  const { sha256, count, offset = 0 } = selector.list
  return {
    count,
    slice: (first, some) => (some === count ? selector : { list: { sha256, count: some, ...offsetOf(offset + first) } }),
    alignment: canonicalJson(selector),
  }
}

/** Left out at the beginning of the list, as whoever asks for a whole one does. */
const offsetOf = (offset: number) => (offset === 0 ? {} : { offset })

function laneOfDims(
  partitions: Partitions,
  [order, whole]: readonly [KeyOrder, KeyOrder],
  selector: Extract<RunPartitions, { dims: unknown }>,
): Lane | Refusal {
  const [block, box] = [blockOf(order, selector.dims), dimensionSpans(order, selector.dims)]
  if (isRefusal(block)) return block
  if (isRefusal(box)) return box
  const { count, entryAt } = block
  if (count === 0) return nothingOf(order)
  if (takesAllOfSome(order, whole, selector.dims)) return laneOfBoxes(partitions, whole, [box])
  const keysOf = (first: number, some: number) => Array.from({ length: some }, (_, place) => entryAt(first + place).partition_key)
  const known = lazily(() => knownKeys(partitions, keysOf(0, count)))
  return {
    count,
    slice_max: INLINE_KEYS_MAX,
    slice(first, some) {
      return some === count ? selector : { keys: keysOf(first, some).sort(compareText) }
    },
    alignment: {},
    boxesAt(first, some) {
      return some < count ? known().boxesAt(first, some) : [box]
    },
    placeOf: (partition_key) => known().placeOf(partition_key),
  }
}

/** All of a dimension that does not have all of its keys yet: read later, `all` would mean more. */
function takesAllOfSome(order: KeyOrder, whole: KeyOrder, dims: Extract<RunPartitions, { dims: unknown }>['dims']): boolean {
  if (!isMulti(order) || !isMulti(whole)) return false
  return order.dimensions.some(({ name, order: { total } }, place) => {
    const taken = dims[name]
    return taken !== undefined && 'all' in taken && total !== whole.dimensions[place]?.order.total
  })
}

const nothingOf = ({ description }: KeyOrder): Refusal => ({ problem: `There is nothing to select: it has ${description}.` })

function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

function spanOf(
  [order, whole]: readonly [KeyOrder, KeyOrder],
  selector: Extract<RunPartitions, { range: unknown } | { all: unknown }>,
): Span | Refusal {
  if ('range' in selector) return indexRange(order, selector.range)
  const { total } = order
  if (total === null || whole.total === null) {
    return { problem: `All at once cannot be selected of ${whole.description}, which have no end: select a range.` }
  }
  return total === 0 ? nothingOf(order) : { first: 0, count: total }
}

/** `selector` names all of it, whenever it is read; undefined: a range has to. */
function laneOfSpan(order: KeyOrder, selector: RunPartitions | undefined, span: Span): Lane {
  const keyAt = (position: number): string => {
    const key = order.keyAt(span.first + position)
    assert(key !== null, `Position ${position} of ${order.description} was counted and has no key.`)
    return key
  }
  const within = ({ first, count }: Span): Span => clipSpan(first - span.first, first - span.first + count, span.count)
  return {
    count: span.count,
    slice(first, count) {
      if (count === span.count && selector !== undefined) return selector
      // A range has two different ends.
      if (count === 1) return { keys: [keyAt(first)] }
      return { range: { start: keyAt(first), end: keyAt(first + count - 1) } }
    },
    // Between the same two keys another definition may have other ones.
    alignment: {},
    boxesAt: (first, count) => boxesOfRange(order, { first: span.first + first, count }),
    placeOf(partition_key) {
      const found = order.indexOf(partition_key)
      const place = isRefusal(found) ? -1 : found.index - span.first
      return place >= 0 && place < span.count ? place : undefined
    },
    ...(isMulti(order) ? {} : { placesOf: (spans) => mergeSpans(spans.map(within)) }),
  }
}
