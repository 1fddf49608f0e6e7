// A segment as it lies in the store, parsed by the one rule that folds and checks share. It decides nothing by its own clock.

import type { Scope } from '../core/ids.js'
import { instantText, stampMs } from '../core/time.js'
import { ulidTime } from '../core/ulid.js'
import type { SegmentHead } from './read.js'
import { type ParsedSegment, parseSegment, quarantinedSegment } from './segment.js'

type Stamped = Pick<SegmentHead, 'segment_name' | 'creation_time'>

/** One that was created later than its minute plus the listing window was never acknowledged: it is quarantined whole. */
export function parseStored(head: Stamped, bytes: Uint8Array, scope: Scope, listing_window_ms: number): ParsedSegment {
  const window_end = ulidTime(head.segment_name) + listing_window_ms
  if (!isLate(head, listing_window_ms)) return parseSegment(bytes, scope)
  const detail = `Created at ${head.creation_time}, after ${instantText(window_end)}, where the listing window of its name ends.`
  return quarantinedSegment('LATE', bytes, detail)
}

export const isLate = ({ segment_name, creation_time }: Stamped, listing_window_ms: number) =>
  stampMs(creation_time) > ulidTime(segment_name) + listing_window_ms

/** What of it counts in the equation of I2; a segment that is quarantined whole counts as one. */
export const countEntries = ({ batches }: ParsedSegment): number => batches.reduce((sum, { entries }) => sum + entries.length, 0)
