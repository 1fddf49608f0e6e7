// Partitions as boxes: of each dimension some ranges of numbers, and every combination of them. A selection of two years in
// three regions is one box, however many keys it has.

import { assert } from '../../core/errors.js'
import { type Entry, isRefusal, type KeyOrder } from '../key-order.js'
import { isMulti, joined, sidesOf } from '../multi.js'
import { clipSpan, countOf, indexesIn, mergeSpans, type Span } from '../spans.js'

/** A side for each dimension; one where there are none. */
export type Box = readonly (readonly Span[])[]

export const keysIn = (box: Box): number => box.reduce((product, spans) => product * countOf(spans), 1)

/** The numbers in each dimension of a key; undefined where it is none. */
export function placesOfKey(order: KeyOrder, key: string): readonly number[] | undefined {
  const found = order.indexOf(key)
  if (isRefusal(found)) return undefined
  return isMulti(order) ? (order.placesOf(found.index) ?? undefined) : [found.index]
}

export const boxAt = (places: readonly number[]): Box => places.map((first) => [{ first, count: 1 }])

/** All that exist at an instant. */
export const boxOfAll = (order: KeyOrder, now_ms: number): Box =>
  sidesOf(order).map((side) => mergeSpans([{ first: 0, count: side.order.at(now_ms).total ?? 0 }]))

/** Of these, what exists at an instant. */
export const existingIn = (order: KeyOrder, boxes: readonly Box[], now_ms: number): readonly Box[] => {
  const totals = sidesOf(order).map((side) => side.order.at(now_ms).total ?? 0)
  return mergeBoxes(boxes.map((box) => box.map((spans, place) => clipped(spans, totals[place] ?? 0))))
}

const clipped = (spans: readonly Span[], total: number): readonly Span[] =>
  mergeSpans(spans.map(({ first, count }) => clipSpan(first, first + count, total)))

/** The last of what exists. */
export const boxOfLast = (order: KeyOrder, now_ms: number): Box =>
  sidesOf(order).map((side) => {
    const total = side.order.at(now_ms).total ?? 0
    return mergeSpans([clipSpan(total - 1, total, total)])
  })

export const holdsAny = (box: Box, other: Box): boolean =>
  box.every((spans, place) =>
    spans.some((span) => other[place]?.some(({ first, count }) => first < span.first + span.count && span.first < first + count)),
  )

/** Numbers in a row are the rest of one day, whole days, and the beginning of another, where the days vary slowest. */
export function boxesOfRange(order: KeyOrder, { first, count }: Span): readonly Box[] {
  if (!isMulti(order)) return [[mergeSpans([{ first, count }])]]
  const [from, to] = [order.placesOf(first), order.placesOf(first + count - 1)]
  if (from === null || to === null) return []
  const lasts = order.dimensions.map((each) => each.order.size() - 1)
  const firsts = lasts.map(() => 0)
  return between(from, to, firsts, lasts)
}

function between(from: readonly number[], to: readonly number[], firsts: readonly number[], lasts: readonly number[]): readonly Box[] {
  const [[low = 0, ...from_rest], [high = 0, ...to_rest]] = [from, to]
  const [firsts_rest, lasts_rest] = [firsts.slice(1), lasts.slice(1)]
  if (firsts_rest.length === 0) return [[[{ first: low, count: high - low + 1 }]]]
  const at = (first: number, count: number, start: readonly number[], end: readonly number[]): readonly Box[] =>
    count <= 0 ? [] : between(start, end, firsts_rest, lasts_rest).map((box) => [[{ first, count }], ...box])
  if (low === high) return at(low, 1, from_rest, to_rest)
  return mergeBoxes([
    ...at(low, 1, from_rest, lasts_rest),
    ...at(low + 1, high - low - 1, firsts_rest, lasts_rest),
    ...at(high, 1, firsts_rest, to_rest),
  ])
}

/** Those that differ in one dimension alone become one, until none do. Single keys become the fewest ranges there are. */
export function mergeBoxes(boxes: readonly Box[]): readonly Box[] {
  let merged = boxes.filter((box) => box.every((spans) => spans.length > 0))
  for (;;) {
    const before = merged.length
    for (let place = (merged[0]?.length ?? 0) - 1; place >= 0; place--) merged = mergeAlong(merged, place)
    if (merged.length === before) return merged
  }
}

function mergeAlong(boxes: readonly Box[], place: number): Box[] {
  const groups = new Map<string, { readonly box: Box; readonly spans: Span[] }>()
  for (const box of boxes) {
    const others = JSON.stringify(box.map((spans, each) => (each === place ? null : spans.map(({ first, count }) => [first, count]))))
    const group = groups.get(others)
    if (group === undefined) groups.set(others, { box, spans: [...(box[place] ?? [])] })
    else group.spans.push(...(box[place] ?? []))
  }
  return [...groups.values()].map(({ box, spans }) => box.with(place, mergeSpans(spans)))
}

/** Each once, in the order of their numbers. */
export function* placesIn(box: Box): Generator<readonly number[]> {
  const [spans, ...rest] = box
  if (spans === undefined) yield []
  else for (const first of indexesIn(spans)) for (const others of placesIn(rest)) yield [first, ...others]
}

/** By its number in each dimension. */
export function entryIn(order: KeyOrder, places: readonly number[]): Entry {
  const entries = sidesOf(order).map((side, place) => side.order.entryAt(places[place] ?? 0))
  const [first, ...others] = entries.filter((entry) => entry !== null)
  assert(first && others.length + 1 === entries.length, `Numbers ${places.join(', ')} of ${order.description} have no key.`)
  return isMulti(order) ? joined(order.dimensions, [first, ...others]) : first
}

/** Keys that are none are left out. */
export const boxesOfKeys = (order: KeyOrder, keys: readonly string[]): readonly Box[] =>
  mergeBoxes(
    keys.flatMap((key) => {
      const places = placesOfKey(order, key)
      return places === undefined ? [] : [boxAt(places)]
    }),
  )
