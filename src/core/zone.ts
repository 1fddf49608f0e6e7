// Time zones as spans of constant offset. Everything that counts with wall clocks (cron, partitions) asks here, and nothing
// asks the zone library anything else. A wall clock is a number too: the epoch milliseconds that it would be in UTC.

import { IANAZone } from 'luxon'
import { assert } from './errors.js'
import { DAY_MS, SECOND_MS } from './time.js'

/** Half open: from_ms is inside, to_ms is not. */
export type OffsetSpan = { readonly from_ms: number; readonly to_ms: number; readonly offset_ms: number }

/** No zone has ever held an offset for less: the shortest since 1900 is Freetown's in 1939 (3.99 days), and the shortest that
 *  the rules foresee 6.96 days (Gaza). Looking this often therefore finds every transition. */
const LOOK_EVERY_MS = 3 * DAY_MS

/** The years that are searched for dates that a zone skipped whole. The first was in 1993, none is planned. */
const SKIP_YEAR_FIRST = 1900
const SKIP_YEAR_LAST = 2100

/** About 300 bytes a zone and year. What a workspace uses is a few zones over some decades. */
const REMEMBERED_YEARS_MAX = 4_000
const REMEMBERED_ZONES_MAX = 700

// Memory of pure functions: reading one year of a zone takes 2 ms, asking whether it is one 0.1 ms.
const spansByYear = new Map<string, readonly OffsetSpan[]>()
const zoneNames = new Map<string, boolean>()
const skippedByZone = new Map<string, readonly number[]>()

/** A name of the IANA database. Plain offsets such as UTC+2 are none: they hide the change of the clocks. */
export const isZone = (name: string): boolean =>
  remembered(zoneNames, name, REMEMBERED_ZONES_MAX, () => /^[A-Za-z]/.test(name) && !/^utc[+-]/i.test(name) && IANAZone.isValidZone(name))

/** The spans of one year of UTC, in order, cut at both ends of the year. */
export function offsetSpans(zone: string, year: number): readonly OffsetSpan[] {
  return remembered(spansByYear, `${zone} ${year}`, REMEMBERED_YEARS_MAX, () => readSpans(zone, year))
}

export function offsetAt(zone: string, at_ms: number): number {
  const span = offsetSpans(zone, yearOf(at_ms)).find((each) => at_ms < each.to_ms)
  assert(span, `The spans of ${zone} do not hold ${at_ms}.`)
  return span.offset_ms
}

/** The wall clock at an instant. */
export const localAt = (zone: string, at_ms: number): number => at_ms + offsetAt(zone, at_ms)

/** The instants that show a wall clock, in order: one, two where the clock was set back, none where it was set forward. */
export function instantsOf(zone: string, local_ms: number): readonly number[] {
  const found: number[] = []
  for (const span of spansAround(zone, local_ms)) {
    const at_ms = local_ms - span.offset_ms
    if (at_ms >= span.from_ms && at_ms < span.to_ms) found.push(at_ms)
  }
  return found
}

/** The one instant of a fixed time: a time that is shown twice is its second pass, one that is never shown is the end of
 *  the gap. In this reading later wall clocks are never earlier instants, which is what counting rests on. */
export function fixedInstantOf(zone: string, local_ms: number): number {
  const last = instantsOf(zone, local_ms).at(-1)
  if (last !== undefined) return last
  const spans = spansAround(zone, local_ms)
  const after = spans.find((span, i) => {
    const before = spans[i - 1]
    return before !== undefined && span.from_ms + before.offset_ms <= local_ms && local_ms < span.from_ms + span.offset_ms
  })
  assert(after, `The wall clock ${local_ms} of ${zone} is neither shown nor in a gap.`)
  return after.from_ms
}

/** The dates that no instant ever shows (Apia's 2011-12-30), as days since 1970, in order. */
export function skippedDays(zone: string): readonly number[] {
  return remembered(skippedByZone, zone, REMEMBERED_ZONES_MAX, () => {
    const days: number[] = []
    const offsetOf = offsetReader(zone)
    for (let year = SKIP_YEAR_FIRST; year <= SKIP_YEAR_LAST; year++) {
      // Only a move over the date line skips a date, and such a zone ends the year far from where it began.
      if (offsetOf(Date.UTC(year + 1, 0, 1)) - offsetOf(Date.UTC(year - 1, 11, 31)) < DAY_MS / 2) continue
      const spans = [...offsetSpans(zone, year - 1).slice(-1), ...offsetSpans(zone, year)]
      for (const [i, span] of spans.entries()) {
        const before = spans[i - 1]
        if (before === undefined) continue
        const firstWhole = Math.ceil((span.from_ms + before.offset_ms) / DAY_MS)
        const afterGap = Math.floor((span.from_ms + span.offset_ms) / DAY_MS)
        for (let day = firstWhole; day < afterGap; day++) days.push(day)
      }
    }
    return days
  })
}

const yearOf = (at_ms: number): number => new Date(at_ms).getUTCFullYear()

/** No offset is as large as a day, so this holds every instant that could show the wall clock, and the gap it may be in. */
function spansAround(zone: string, local_ms: number): readonly OffsetSpan[] {
  const first = yearOf(local_ms - DAY_MS)
  const last = yearOf(local_ms + DAY_MS)
  return first === last ? offsetSpans(zone, first) : [...offsetSpans(zone, first), ...offsetSpans(zone, last)]
}

function readSpans(zone: string, year: number): readonly OffsetSpan[] {
  const year_from_ms = Date.UTC(year, 0, 1)
  const year_to_ms = Date.UTC(year + 1, 0, 1)
  const offsetOf = offsetReader(zone)
  const spans: OffsetSpan[] = []
  let from_ms = year_from_ms
  let offset_ms = offsetOf(from_ms)
  let seen_ms = from_ms
  while (seen_ms < year_to_ms - SECOND_MS) {
    const look_ms = Math.min(seen_ms + LOOK_EVERY_MS, year_to_ms - SECOND_MS)
    const offset_there_ms = offsetOf(look_ms)
    while (offset_ms !== offset_there_ms) {
      const to_ms = firstChange(offsetOf, seen_ms, look_ms)
      spans.push({ from_ms, to_ms, offset_ms })
      from_ms = to_ms
      seen_ms = to_ms
      offset_ms = offsetOf(to_ms)
    }
    seen_ms = look_ms
  }
  return [...spans, { from_ms, to_ms: year_to_ms, offset_ms }]
}

/** Bisects to the second: transitions are whole seconds. */
function firstChange(offsetOf: (at_ms: number) => number, before_ms: number, after_ms: number): number {
  const offset_ms = offsetOf(before_ms)
  let same_ms = before_ms
  let other_ms = after_ms
  while (other_ms - same_ms > SECOND_MS) {
    const middle_ms = same_ms + Math.floor((other_ms - same_ms) / 2 / SECOND_MS) * SECOND_MS
    if (offsetOf(middle_ms) === offset_ms) same_ms = middle_ms
    else other_ms = middle_ms
  }
  return other_ms
}

/** Old offsets have seconds, which the library gives as fractions of a minute; adding zero turns -0 into 0. */
const offsetReader = (zone: string) => {
  if (zone === 'UTC') return () => 0
  const reader = IANAZone.create(zone)
  return (at_ms: number): number => Math.round(reader.offset(at_ms) * 60) * SECOND_MS + 0
}

function remembered<V>(memory: Map<string, V>, key: string, countMax: number, compute: () => V): V {
  const known = memory.get(key)
  if (known !== undefined) return known
  const value = compute()
  // Starting over is enough of a bound: reaching it at all means that something walks through all zones.
  if (memory.size >= countMax) memory.clear()
  memory.set(key, value)
  return value
}
