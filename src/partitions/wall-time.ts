// A time as it was written: what the clocks of a zone show, and their offset where it was said.

import { fixedInstantOf, instantsOf } from '../core/zone.js'

export type WallTime = { readonly local_ms: number; readonly offset_ms: number | null }

/** Years beyond these have no partitions; the text of one would be another number as a date. */
const LOCAL_MIN_MS = Date.UTC(1899, 0, 1)
const LOCAL_MAX_MS = Date.UTC(2201, 0, 1)

/** The first instant that shows a wall clock, or the end of the gap that it is in. */
export function firstInstantOf(zone: string, { local_ms, offset_ms }: WallTime): number {
  const within_ms = Math.min(Math.max(local_ms, LOCAL_MIN_MS), LOCAL_MAX_MS)
  if (offset_ms !== null) return within_ms - offset_ms
  return instantsOf(zone, within_ms)[0] ?? fixedInstantOf(zone, within_ms)
}
