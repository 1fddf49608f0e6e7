// From partitions of one asset to those of the other, in both directions: numbers in, numbers out, as ranges. What has no
// partner on the other side is left out.

import { type Calendar, isCalendar } from '../calendar.js'
import { isRefusal, type KeyOrder } from '../key-order.js'
import { clipSpan, indexesIn, mergeSpans, type Span, spansOf } from '../spans.js'
import type { SingleMapping } from './definition.js'

export type Sides = { readonly downstream: KeyOrder; readonly upstream: KeyOrder; readonly now_ms: number }

/** The upstream partitions that these downstream ones are made from. */
export function upstreamSpans(mapping: SingleMapping, { downstream, upstream, now_ms }: Sides, spans: readonly Span[]): readonly Span[] {
  if (mapping.type === 'identity') return sameKeys(downstream, upstream, spans)
  if (mapping.type === 'static') {
    return spansOf(
      [...indexesIn(spans)].flatMap((index) => indexesOf(upstream, mapping.upstream_keys.get(downstream.keyAt(index) ?? '') ?? [])),
    )
  }
  if (spans.length === 0) return []
  if (mapping.type === 'time_window') {
    if (!isCalendar(downstream) || !isCalendar(upstream)) return []
    const { start_offset, end_offset } = mapping
    return mergeSpans(
      spans.flatMap((span) =>
        windowsOf(downstream, span).map((window) => {
          const { first, end } = upstream.overlapping(window)
          return end <= first ? { first: 0, count: 0 } : within(upstream, first + start_offset, end + end_offset)
        }),
      ),
    )
  }
  const total = upstream.at(now_ms).total ?? 0
  return mapping.type === 'all' ? mergeSpans([{ first: 0, count: total }]) : mergeSpans([clipSpan(total - 1, total, total)])
}

/** The downstream partitions that any of these upstream ones is in. */
export function downstreamSpans(mapping: SingleMapping, { downstream, upstream, now_ms }: Sides, spans: readonly Span[]): readonly Span[] {
  if (mapping.type === 'identity') return sameKeys(upstream, downstream, spans)
  if (mapping.type === 'static') {
    const wanted = new Set([...indexesIn(spans)].map((index) => upstream.keyAt(index)))
    const keys = [...mapping.upstream_keys].flatMap(([key, each]) => (each.some((one) => wanted.has(one)) ? [key] : []))
    return spansOf(indexesOf(downstream, keys))
  }
  if (mapping.type === 'time_window') {
    if (!isCalendar(downstream) || !isCalendar(upstream)) return []
    const sides = { downstream, upstream }
    return mergeSpans(spans.flatMap((span) => reaching(sides, mapping, span)))
  }
  const exists = upstream.at(now_ms).total ?? 0
  const isMeant = spans.some(({ first, count }) =>
    mapping.type === 'all' ? count > 0 && first < exists : first < exists && first + count >= exists,
  )
  return isMeant ? mergeSpans([{ first: 0, count: downstream.at(now_ms).total ?? 0 }]) : []
}

function sameKeys(from: KeyOrder, to: KeyOrder, spans: readonly Span[]): readonly Span[] {
  if (from === to) return mergeSpans(spans)
  return spansOf([...indexesIn(spans)].flatMap((index) => indexesOf(to, [from.keyAt(index) ?? ''])))
}

const indexesOf = (order: KeyOrder, keys: readonly string[]): readonly number[] =>
  keys.flatMap((key) => {
    const found = order.indexOf(key)
    return isRefusal(found) ? [] : [found.index]
  })

type Window = { readonly start_ms: number; readonly end_ms: number }

/** From the first window's start to the last one's end, in as many pieces as something is left out between. */
function windowsOf(order: Calendar, { first, count }: Span): readonly Window[] {
  if (count === 0) return []
  if (order.isGapless(first, count)) {
    const [start, end] = [order.windowAt(first), order.windowAt(first + count - 1)]
    return start === null || end === null ? [] : [{ start_ms: start.start_ms, end_ms: end.end_ms }]
  }
  // One that has no window is past the end.
  if (count === 1) return []
  const half = Math.floor(count / 2)
  return [...windowsOf(order, { first, count: half }), ...windowsOf(order, { first: first + half, count: count - half })]
}

/** Without an end nothing is past it, up to the last year that has any. */
const within = (order: KeyOrder, first: number, end: number): Span => clipSpan(first, end, order.total ?? Number.MAX_SAFE_INTEGER)

/** A downstream window reaches from the first upstream one that it shares an instant with to the last, each shifted. Both
 *  never fall from one window to the next, so those that reach into a range are a range, and its ends are found by halving. */
function reaching(
  sides: { readonly downstream: Calendar; readonly upstream: Calendar },
  offsets: Offsets,
  { first, count }: Span,
): readonly Span[] {
  const { downstream, upstream } = sides
  const reachOf = (index: number) => reach(downstream, upstream, offsets, index)
  const [exact, past] = [first, first + count]
  const from = firstIndex(downstream, (index) => (reachOf(index)?.end ?? Number.POSITIVE_INFINITY) > exact)
  const to = firstIndex(downstream, (index) => (reachOf(index)?.first ?? Number.POSITIVE_INFINITY) >= past)
  const span = { first: from, count: Math.max(0, to - from) }
  const upstreamFirst = Math.max(0, first - Math.abs(offsets.end_offset))
  if (upstream.isGapless(upstreamFirst, past + Math.abs(offsets.start_offset) - upstreamFirst)) return [span]
  // Where upstream windows are left out, a downstream one between them shares an instant with none.
  return spansOf([...indexesIn([span])].filter((index) => reachOf(index)?.is_empty === false))
}

type Offsets = { readonly start_offset: number; readonly end_offset: number }

function reach(downstream: Calendar, upstream: Calendar, { start_offset, end_offset }: Offsets, index: number) {
  const window = downstream.windowAt(index)
  if (window === null) return null
  const { first, end } = upstream.overlapping(window)
  return { first: first + start_offset, end: end + end_offset, is_empty: end <= first }
}

/** The first index that passes a test which every later one passes too; indexes past the end do. */
function firstIndex(order: KeyOrder, passes: (index: number) => boolean): number {
  let high = 1
  while (!passes(high)) high *= 2
  let low = 0
  high = Math.min(high, order.total ?? high)
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (passes(middle)) high = middle
    else low = middle + 1
  }
  return low
}
