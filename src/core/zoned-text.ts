// An instant as the clocks of a zone show it, with the offset: `2025-03-09T03:00:00-04:00`.

import { HOUR_MS, MINUTE_MS, SECOND_MS } from './time.js'
import { offsetAt } from './zone.js'

/** The clocks of New Year's Eve 9999 show a year of five digits in the east. */
const LOCAL_END_MS = Date.UTC(10_000, 0, 1)

/** RFC 3339, whole seconds. It has no place for the seconds that offsets of old years have, nor for years of five digits: such
 *  instants are told in UTC. */
export function zonedText(zone: string, at_ms: number): string {
  const offset_ms = offsetAt(zone, at_ms)
  const is_telling = offset_ms % MINUTE_MS === 0 && at_ms + offset_ms < LOCAL_END_MS
  return `${clockText(at_ms + (is_telling ? offset_ms : 0))}${is_telling ? offsetText(offset_ms) : 'Z'}`
}

/** A wall clock, which is a number as in zone.ts. */
const clockText = (local_ms: number): string => new Date(Math.floor(local_ms / SECOND_MS) * SECOND_MS).toISOString().slice(0, 19)

function offsetText(offset_ms: number): string {
  const minutes = Math.abs(offset_ms) / MINUTE_MS
  const two = (count: number): string => String(count).padStart(2, '0')
  return `${offset_ms < 0 ? '-' : '+'}${two(Math.floor((minutes * MINUTE_MS) / HOUR_MS))}:${two(minutes % 60)}`
}
