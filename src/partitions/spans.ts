// Partitions by their numbers, as few ranges as there can be: in order, and none touches the next.

export type Span = { readonly first: number; readonly count: number }

/** In any order, overlapping or empty, into the fewest that hold the same. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = []
  for (const span of [...spans].filter(({ count }) => count > 0).sort((a, b) => a.first - b.first)) {
    const last = merged.at(-1)
    if (last === undefined || span.first > last.first + last.count) merged.push(span)
    else merged[merged.length - 1] = { first: last.first, count: Math.max(last.count, span.first + span.count - last.first) }
  }
  return merged
}

/** What of a span is below an end, and not below zero. */
export function clipSpan(first: number, end: number, size: number): Span {
  const from = Math.max(0, first)
  return { first: from, count: Math.max(0, Math.min(end, size) - from) }
}

export const spansOf = (indexes: readonly number[]): readonly Span[] => mergeSpans(indexes.map((first) => ({ first, count: 1 })))

export const countOf = (spans: readonly Span[]): number => spans.reduce((sum, { count }) => sum + count, 0)

export function* indexesIn(spans: readonly Span[]): Generator<number> {
  for (const { first, count } of spans) for (let index = first; index < first + count; index++) yield index
}
