// Where a listing begins that finds what a revision has not folded: after which minute of the names.

import { CREATION_SKEW_MS_MAX, STORE_CLOCKS_APART_MS } from '../core/limits.js'
import { floorTo, instantMs, MINUTE_MS } from '../core/time.js'
import type { Revision } from './revision.js'

type Marks = Pick<Revision['watermarks'], 'closed_through' | 'last_processed_at'>

/** Nothing but what is late lies before it. */
export const wholeListingAfter = ({ closed_through }: Marks): number => instantMs(closed_through)

/** Nothing that was acknowledged lies before it: of what was created before the processed mark all is folded, and what was
 *  created later is only acknowledged under a minute near its creation. What nobody acknowledged may lie before it. */
export function recentListingAfter(marks: Marks): number {
  const named_from = floorTo(instantMs(marks.last_processed_at) - CREATION_SKEW_MS_MAX - STORE_CLOCKS_APART_MS, MINUTE_MS)
  return Math.max(wholeListingAfter(marks), named_from - MINUTE_MS)
}
