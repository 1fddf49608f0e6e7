// From what is selected of one asset to what is selected of the other. Ranges stay ranges: the answer is as short as the
// question, and keys are spelled out only where they are scattered.

import { assert } from '../../core/errors.js'
import { INLINE_KEYS_MAX } from '../../core/limits.js'
import { compareText } from '../../core/order.js'
import { type DimensionSelector, dimensionSpans } from '../block.js'
import { isCalendar } from '../calendar.js'
import { indexRange, isRefusal, type KeyOrder, type Refusal } from '../key-order.js'
import { isMulti, sidesOf } from '../multi.js'
import { type PartitionSelector, sliceOf } from '../selector.js'
import { clipSpan, countOf, indexesIn, mergeSpans, type Span } from '../spans.js'
import { UNPARTITIONED } from '../unpartitioned.js'
import { type Box, boxesOfKeys, boxesOfRange, entryIn, keysIn, mergeBoxes, placesIn } from './boxes.js'
import type { Mapping } from './definition.js'
import type { Sides } from './map.js'
import { downstreamBoxes, upstreamBoxes } from './map-boxes.js'

type Bounds = {
  readonly lists: (sha256: string) => readonly string[] | undefined
  /** How many keys may be spelled out. */
  readonly keys_max: number
}

export type Mapped =
  | { readonly selector: PartitionSelector }
  /** To be written as a list, before the event that names it. */
  | { readonly long_list: readonly string[] }
  /** No partition of the other asset has to do with these. */
  | { readonly none: true }
  | Refusal

/** What the selected downstream partitions are made from. */
export function upstreamSelector(mapping: Mapping, sides: Sides, selector: PartitionSelector, bounds: Bounds): Mapped {
  const boxes = boxesOf(sides.downstream, selector, bounds)
  return isRefusal(boxes) ? boxes : selectorOf(sides.upstream, upstreamBoxes(mapping, sides, boxes), bounds)
}

/** What is made from the selected upstream partitions. */
export function downstreamSelector(mapping: Mapping, sides: Sides, selector: PartitionSelector, bounds: Bounds): Mapped {
  const boxes = boxesOf(sides.upstream, selector, bounds)
  return isRefusal(boxes) ? boxes : selectorOf(sides.downstream, downstreamBoxes(mapping, sides, boxes), bounds)
}

function boxesOf(order: KeyOrder, selector: PartitionSelector, { lists }: Bounds): readonly Box[] | Refusal {
  if (selector === null || order === UNPARTITIONED) {
    if (selector === null && order === UNPARTITIONED) return [[[{ first: 0, count: 1 }]]]
    if (selector === null) return { problem: `No partitions are selected of ${order.description}. Select some.` }
    return { problem: 'Partitions are selected of an asset that has none. Select null of it.' }
  }
  if ('range' in selector) {
    const found = indexRange(order, selector.range)
    return isRefusal(found) ? found : boxesOfRange(order, found)
  }
  if ('dims' in selector) {
    const box = dimensionSpans(order, selector.dims)
    return isRefusal(box) ? box : [box]
  }
  if ('all' in selector) {
    const sides = sidesOf(order).map((side) => side.order.total)
    if (!sides.includes(null)) return mergeBoxes([sides.map((count) => mergeSpans([{ first: 0, count: count ?? 0 }]))])
    return { problem: `All at once cannot be selected of ${order.description}, which have no end: select a range.` }
  }
  const keys = 'keys' in selector ? selector.keys : sliceOf(selector.list, lists)
  if (isRefusal(keys)) return keys
  for (const key of keys) {
    const found = order.indexOf(key)
    if (isRefusal(found)) return { problem: `The partition key ${found.problem}` }
  }
  return boxesOfKeys(order, keys)
}

/** What these numbers select, as short as it can be said. */
export function selectorOf(order: KeyOrder, boxes: readonly Box[], bounds: Pick<Bounds, 'keys_max'>): Mapped {
  const clipped = mergeBoxes(boxes.map((box) => sidesOf(order).map((side, place) => knownIn(side.order, box[place] ?? []))))
  const [box] = clipped
  if (box === undefined) return { none: true }
  if (order === UNPARTITIONED) return { selector: null }
  if (clipped.length > 1 || keysIn(box) === 1) return spelled(order, clipped, bounds)
  if (!isMulti(order)) {
    const side = sideSelector(order, box[0] ?? [], 1)
    return side === undefined ? spelled(order, clipped, bounds) : { selector: side }
  }
  const dims = order.dimensions.map(
    ({ name, order: side }, place) => [name, sideSelector(side, box[place] ?? [], INLINE_KEYS_MAX)] as const,
  )
  if (dims.some(([, side]) => side === undefined)) return spelled(order, clipped, bounds)
  return { selector: { dims: Object.fromEntries(dims) as Readonly<Record<string, DimensionSelector>> } }
}

/** Offsets may reach past the last year that has keys. */
function knownIn(order: KeyOrder, spans: readonly Span[]): readonly Span[] {
  const last = spans.at(-1)
  if (last === undefined || order.keyAt(last.first + last.count - 1) !== null) return spans
  const size = order.size()
  return mergeSpans(spans.map(({ first, count }) => clipSpan(first, first + count, size)))
}

type SideSelector =
  | { readonly keys: readonly string[] }
  | { readonly range: { readonly start: string; readonly end: string } }
  | { readonly all: true }

/** All only of keys that are listed: a definition of time may get a later end. undefined: too scattered. */
function sideSelector(order: KeyOrder, spans: readonly Span[], keys_max: number): SideSelector | undefined {
  const [span, ...others] = spans
  if (span === undefined) return undefined
  if (others.length > 0 || span.count === 1) {
    return countOf(spans) > keys_max ? undefined : { keys: [...indexesIn(spans)].map((index) => keyOf(order, index)).sort(compareText) }
  }
  if (!isCalendar(order) && span.count === order.total) return { all: true }
  return { range: { start: keyOf(order, span.first), end: keyOf(order, span.first + span.count - 1) } }
}

function keyOf(order: KeyOrder, index: number): string {
  const key = order.keyAt(index)
  assert(key !== null, `Number ${index} was mapped to in ${order.description} and has no key.`)
  return key
}

/** Boxes may overlap. */
function spelled(order: KeyOrder, boxes: readonly Box[], { keys_max }: Pick<Bounds, 'keys_max'>): Mapped {
  const most = Math.max(...boxes.map(keysIn))
  const keys = new Set<string>()
  if (most <= keys_max) {
    for (const box of boxes) {
      for (const places of placesIn(box)) {
        keys.add(entryIn(order, places).partition_key)
        if (keys.size > keys_max) return tooMany(order, keys_max)
      }
    }
    const sorted = [...keys].sort(compareText)
    return sorted.length <= INLINE_KEYS_MAX ? { selector: { keys: sorted } } : { long_list: sorted }
  }
  return tooMany(order, keys_max)
}

const tooMany = ({ description }: KeyOrder, keys_max: number): Refusal => ({
  problem: `More than ${keys_max} scattered keys are mapped to, of ${description}. Select fewer, or a range.`,
})
