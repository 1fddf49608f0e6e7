// What every kind of partitioning is to those who select, chunk and map: keys in an order, found by index and back.

/** Half open: a window ends where the next one starts. */
export type Window = { readonly start_ms: number; readonly end_ms: number }

export type Entry = {
  readonly partition_key: string
  /** The key with time values replaced by their window's start in UTC, so that rows sort by time (DATA section 5). */
  readonly sort_key: string
  /** The value of each dimension; null where there are none. */
  readonly partition_values: Readonly<Record<string, string>> | null
}

/** With the nearest key, where there is any. */
export type NotFound = Refusal & { readonly nearest: string | null }
export type Found = { readonly index: number } | NotFound

export type PartitionType = 'hourly' | 'daily' | 'weekly' | 'monthly' | 'cron' | 'static' | 'dynamic' | 'multi'

export type KeyOrder = {
  readonly type: PartitionType
  /** For messages: what it is and from where to where. */
  readonly description: string
  /** null where it goes on with time. */
  readonly total: number | null
  /** Whether it goes on with time, or is the part of such an order that exists at an instant. */
  readonly is_endless: boolean
  /** As `total`; where it goes on with time, those up to the last year that has any. */
  readonly size: () => number
  readonly keyAt: (index: number) => string | null
  readonly entryAt: (index: number) => Entry | null
  readonly indexOf: (key: string) => Found
  /** null where no time is meant. */
  readonly windowAt: (index: number) => Window | null
  /** The order of the keys that exist at an instant, and of so many more windows of time after the last of them. */
  readonly at: (now_ms: number, ahead?: number) => KeyOrder
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

/** How many values, in order, pass a test that holds up to some place and never after it. */
export function countBelow(values: readonly number[], passes: (value: number, place: number) => boolean): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (passes(values[middle] as number, middle)) low = middle + 1
    else high = middle
  }
  return low
}
