// The wall clocks that a list of expressions names, by number: how many there are before one, and which is the n-th. Days
// repeat every 400 years, so the count of them is a table of those years and a division; nothing here walks from the start, and
// nothing knows of zones.

import { DAY_MS, SECOND_MS } from '../time.js'
import { type DayTimes, fitsOf, openDayTimes } from './day-times.js'
import type { CronExpression } from './expression.js'
import {
  CYCLE_DAYS,
  CYCLE_MONTHS,
  CYCLE_START_DAY,
  CYCLE_YEARS,
  firstYears,
  monthOf,
  monthShapes,
  monthStart,
  shapeIndexOf,
  yearKindOf,
} from './months.js'

/** Wall clocks are numbers, as in zone.ts: the epoch milliseconds that they would be in UTC. */
export type CronCalendar = {
  /** Matching wall clocks before this one, less those before 2000-01-01: below zero for older ones. */
  readonly rankOf: (local_ms: number) => number
  readonly localAt: (rank: number) => number
  /** Tells the matching wall clocks of ranks from `first` on, below `end`, in order and less `shift_ms`, until it answers
   *  false. */
  readonly walk: (first: number, end: number, shift_ms: number, tell: (at_ms: number) => boolean) => boolean
  /** No day ever fits. */
  readonly is_empty: boolean
}

/** A month's days by number: the times of each (null: none), and how many times there are before it. */
type Shape = { readonly days: readonly (DayTimes | null)[]; readonly before: Float64Array }

const DAY_SECONDS = 86_400

export function openCronCalendar(expressions: readonly CronExpression[]): CronCalendar {
  const shapes = readShapes(expressions)
  const shapeAt = (month: number): Shape => shapes[shapeIndexOf(month)] as Shape
  const kinds = firstYears.map((year) => sumsOf(12, (month) => countOf(shapeAt(year * 12 + month))))
  const kindAt = (year: number): Float64Array => kinds[yearKindOf(year)] as Float64Array
  const before = sumsOf(CYCLE_YEARS, (year) => kindAt(year)[12] as number)
  const perCycle = before[CYCLE_YEARS] as number
  const beforeMonth = (month: number): number =>
    (before[Math.floor(month / 12)] as number) + (kindAt(Math.floor(month / 12))[month % 12] as number)

  function rankOf(local_ms: number): number {
    const seconds_since = Math.ceil(local_ms / SECOND_MS)
    const day_since = Math.floor(seconds_since / DAY_SECONDS)
    const cycle = Math.floor((day_since - CYCLE_START_DAY) / CYCLE_DAYS)
    const day = day_since - CYCLE_START_DAY - cycle * CYCLE_DAYS
    const month = monthOf(day)
    const { days, before: beforeDay } = shapeAt(month)
    const in_month = day - monthStart(month)
    const today = days[in_month]?.before(seconds_since - day_since * DAY_SECONDS) ?? 0
    return cycle * perCycle + beforeMonth(month) + (beforeDay[in_month] as number) + today
  }

  /** The place of a time: its cycle, its month there, its day of that month from 0, its number in that day. */
  function placeOf(rank: number): { cycle: number; month: number; day: number; time: number } {
    const cycle = Math.floor(rank / perCycle)
    const in_cycle = rank - cycle * perCycle
    const year = lastUpTo(before, in_cycle)
    const month = year * 12 + lastUpTo(kindAt(year), in_cycle - (before[year] as number))
    const in_month = in_cycle - beforeMonth(month)
    const { before: beforeDay } = shapeAt(month)
    const day = lastUpTo(beforeDay, in_month)
    return { cycle, month, day, time: in_month - (beforeDay[day] as number) }
  }

  const dayMs = (cycle: number, month: number, day: number): number =>
    (CYCLE_START_DAY + cycle * CYCLE_DAYS + monthStart(month) + day) * DAY_MS

  return {
    is_empty: perCycle === 0,
    rankOf,
    localAt(rank) {
      const { cycle, month, day, time } = placeOf(rank)
      return dayMs(cycle, month, day) + ((shapeAt(month).days[day] as DayTimes).times[time] as number)
    },
    walk(first, end, shift_ms, tell) {
      if (first >= end) return true
      let { cycle, month, day, time } = placeOf(first)
      for (let left = end - first; ; ) {
        const { days } = shapeAt(month)
        const start_ms = dayMs(cycle, month, 0) - shift_ms
        for (; day < days.length; day++) {
          const today = days[day]
          if (today === null || today === undefined) continue
          const { times } = today
          const until = Math.min(times.length, time + left)
          const day_ms = start_ms + day * DAY_MS
          left -= until - time
          for (; time < until; time++) if (!tell(day_ms + (times[time] as number))) return false
          if (left === 0) return true
          time = 0
        }
        day = 0
        month += 1
        if (month === CYCLE_MONTHS) [cycle, month] = [cycle + 1, 0]
      }
    },
  }
}

function readShapes(expressions: readonly CronExpression[]): readonly Shape[] {
  const kinds = new Map<number, DayTimes | null>([[0, null]])
  const byFits = new Map<string, Shape>()
  return monthShapes.map((monthShape) => {
    const fits = fitsOf(expressions, monthShape)
    const known = byFits.get(fits.join())
    if (known !== undefined) return known
    const days = [...fits.subarray(1)].map((kind) => kindTimes(expressions, kinds, kind))
    const shape = { days, before: sumsOf(days.length, (day) => days[day]?.times.length ?? 0) }
    byFits.set(fits.join(), shape)
    return shape
  })
}

function kindTimes(expressions: readonly CronExpression[], kinds: Map<number, DayTimes | null>, kind: number): DayTimes | null {
  const known = kinds.get(kind)
  if (known !== undefined) return known
  const times = openDayTimes(expressions.filter((_, i) => ((kind >>> i) & 1) === 1))
  kinds.set(kind, times)
  return times
}

const countOf = ({ before, days }: Shape): number => before[days.length] as number

/** Of so many places: how much there is before each, and at the end how much in all. */
function sumsOf(length: number, count: (place: number) => number): Float64Array {
  const sums = new Float64Array(length + 1)
  for (let place = 0; place < length; place++) sums[place + 1] = (sums[place] as number) + count(place)
  return sums
}

/** The last place with no more than this before it: places with nothing are passed over. */
function lastUpTo(sums: Float64Array, count: number): number {
  let low = 0
  let high = sums.length - 2
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((sums[middle] as number) <= count) low = middle
    else high = middle - 1
  }
  return low
}
