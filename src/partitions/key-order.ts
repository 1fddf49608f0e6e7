// What every kind of partitioning is to those who select, chunk and map: keys in an order, found by index and back.

export type Found = { readonly index: number } | { readonly problem: string }

export type KeyOrder = {
  readonly type: 'daily' | 'static'
  /** For messages: what it is and from where to where. */
  readonly description: string
  /** null where it goes on with time. */
  readonly total: number | null
  readonly keyAt: (index: number) => string | null
  /** The key with time values replaced by their window's start in UTC, so that rows sort by time (DATA section 5). */
  readonly sortKeyAt: (index: number) => string | null
  readonly indexOf: (key: string) => Found
}

export type Refusal = { readonly problem: string }

export const isRefusal = <T extends object>(value: T | Refusal): value is Refusal => 'problem' in value

/** Both ends are part of the range. */
export function indexRange(
  order: KeyOrder,
  range: { readonly start: string; readonly end: string },
): { readonly first: number; readonly count: number } | Refusal {
  const first = order.indexOf(range.start)
  if (isRefusal(first)) return { problem: `The range's start ${first.problem}` }
  const last = order.indexOf(range.end)
  if (isRefusal(last)) return { problem: `The range's end ${last.problem}` }
  if (last.index < first.index) {
    return { problem: `The range runs backwards: "${range.end}" comes before "${range.start}". Name the earlier key first.` }
  }
  return { first: first.index, count: last.index - first.index + 1 }
}
