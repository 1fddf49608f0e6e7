// Where a listing begins that finds what a revision has not folded: after which minute of the names.

import { CREATION_SKEW_MS_MAX, STORE_CLOCKS_APART_MS, WRITE_MS_MAX } from '../core/limits.js'
import { floorTo, instantMs, MINUTE_MS } from '../core/time.js'
import type { Revision } from './revision.js'

type Marks = Pick<Revision['watermarks'], 'closed_through' | 'last_processed_at'>

/** Nothing but what is late lies before it. */
export const wholeListingAfter = ({ closed_through }: Marks): number => instantMs(closed_through)

/** Nothing that was acknowledged lies before it: what could be seen before the processed mark is folded, and what is seen later was
 *  created a moment before that, and is acknowledged only where its creation is near the minute of its name. What
 *  nobody acknowledged may lie before it. */
export function recentListingAfter(marks: Marks): number {
  const created_from = instantMs(marks.last_processed_at) - STORE_CLOCKS_APART_MS - WRITE_MS_MAX
  return Math.max(wholeListingAfter(marks), floorTo(created_from - CREATION_SKEW_MS_MAX, MINUTE_MS))
}
