// Which rows of an asset's partitions are keys of its definition, and which of these exist at an instant. A row outlives its
// key: what an older definition had stays as history.

import { instantText } from '../core/time.js'
import { isCalendar } from './calendar.js'
import { isRefusal, type KeyOrder } from './key-order.js'
import { isMulti, sidesOf } from './multi.js'
import { keyOrderOf } from './order.js'

/** `ahead`: it is a key, and does not exist yet. */
export type KeyStanding = 'exists' | 'ahead' | 'gone'

type PartitionName = { readonly sort_key: string; readonly partition_key: string }

/** `isKey`: the row was written by a definition with the same keys, so that it need not be looked up. */
type StandingOf = (row: PartitionName, isKey: boolean) => KeyStanding

export function openCurrentKeys(partitions: unknown, now_ms: number): StandingOf {
  if (partitions === null || partitions === undefined) return ({ partition_key }) => (partition_key === '' ? 'exists' : 'gone')
  const order = keyOrderOf(partitions)
  // Of partitions that this version does not know nothing can be told.
  if (isRefusal(order)) return () => 'exists'
  let isAhead: ((sort_key: string) => boolean) | undefined
  return (row, isKey) => {
    isAhead ??= openBounds(order, now_ms)
    // Keys that an end_offset holds back for good lie past the bound too, and were written by older versions.
    if (isAhead(row.sort_key)) return hasKey(order, row) ? 'ahead' : 'gone'
    return isKey || hasKey(order, row) ? 'exists' : 'gone'
  }
}

/** A key whose window has another start is another partition. */
function hasKey(order: KeyOrder, { sort_key, partition_key }: PartitionName): boolean {
  const found = order.indexOf(partition_key)
  if (isRefusal(found)) return false
  const entry = order.entryAt(found.index)
  return entry?.sort_key === sort_key && entry.partition_key === partition_key
}

/** Rows are sorted by the start of their window: those from the end of the last existing one on do not exist yet. */
function openBounds(order: KeyOrder, now_ms: number): (sort_key: string) => boolean {
  const bounds = sidesOf(order).map((side) => (isCalendar(side.order) ? endOf(side.order.at(now_ms)) : null))
  if (bounds.every((bound) => bound === null)) return () => false
  if (!isMulti(order)) return (sort_key) => sort_key >= (bounds[0] ?? '')
  return (sort_key) => {
    const parts = sort_key.split('|')
    return bounds.some((bound, place) => {
      const part = parts[place] ?? ''
      return bound !== null && part.slice(part.indexOf('=') + 1) >= bound
    })
  }
}

function endOf(existing: KeyOrder): string {
  const last = existing.windowAt((existing.total ?? 0) - 1)
  return last === null ? '' : instantText(last.end_ms)
}
