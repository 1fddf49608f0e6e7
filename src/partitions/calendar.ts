// Days as partitions, counted by arithmetic: a window starts at one time of day in the definition's zone, by the rule of
// fixed times (zone.ts), and lasts until the next one starts. Dates that the zone skipped whole have no window; dates
// that the definition leaves out have one, which is nobody's. Nothing here walks from the start.

import { DAY_MS, instantText } from '../core/time.js'
import { fixedInstantOf, localAt, offsetAt, skippedDays } from '../core/zone.js'
import type { DailyDefinition } from './definition.js'
import type { Found, KeyOrder } from './key-order.js'

export type Window = { readonly start_ms: number; readonly end_ms: number }

export type Calendar = KeyOrder & {
  /** How many keys exist at an instant: those whose windows are over, shifted by end_offset, none past end_date. */
  readonly countAt: (now_ms: number) => number
  readonly windowAt: (index: number) => Window | null
  /** The index of the window that holds an instant, now or in future; null before the start, past the end, or left out. */
  readonly indexAt: (at_ms: number) => number | null
}

/** 9999-12-30 as days since 1970: the last whole day that a key with a four-digit year can name in every zone. */
const DAY_MAX = 2_932_895

export function openCalendar(definition: DailyDefinition): Calendar {
  const { timezone, format, end_offset } = definition
  const days = openDays(definition)
  const firstDay = days.startingFrom(definition.start_ms)
  const lastDay = definition.end_ms === null ? DAY_MAX : days.holding(definition.end_ms)
  /** Windows from the start that are over once this day's begins; below zero before the start. */
  const countBefore = (day: number): number => days.rank(day) - days.rank(firstDay)
  const countMax = Math.max(0, countBefore(lastDay))

  const inRange = (index: number): boolean => Number.isInteger(index) && index >= 0 && index < countMax
  const dayAt = (index: number): number => days.dayOfRank(days.rank(firstDay) + index)
  const keyOf = (day: number): string => {
    const offset_ms = format.has_offset ? offsetAt(timezone, days.startOf(day)) : 0
    return format.write(days.localStartOf(day), offset_ms)
  }
  const keyAt = (index: number): string | null => (inRange(index) ? keyOf(dayAt(index)) : null)
  const firstKey = keyAt(0)
  const lastKey = definition.end_ms === null ? null : keyAt(countMax - 1)
  const description =
    firstKey === null ? 'no day at all' : `the days from "${firstKey}" ${lastKey === null ? 'on' : `to "${lastKey}"`} in ${timezone}`

  const indexOf = (key: string): Found => {
    if (firstKey === null) return { problem: `"${key}" is no key: the definition has none, because no day ends before its end_date.` }
    const read = format.read(key)
    if (read === null) return { problem: `"${key}" is not written as ${format.text}, such as "${firstKey}", the first key.` }
    const index = Math.min(Math.max(0, countBefore(Math.floor(read.local_ms / DAY_MS))), countMax - 1)
    const nearest = keyAt(index)
    return nearest === key ? { index } : { problem: `"${key}" is none of ${description}. The nearest key is "${nearest}".` }
  }

  return {
    type: 'daily',
    description,
    total: definition.end_ms === null ? null : countMax,
    keyAt,
    sortKeyAt: (index) => (inRange(index) ? instantText(days.startOf(dayAt(index))) : null),
    indexOf,
    countAt: (now_ms) => {
      const over = Math.min(countBefore(days.holding(now_ms)), countMax)
      return Math.min(Math.max(0, over + end_offset), countMax)
    },
    windowAt: (index) => (inRange(index) ? days.windowOf(dayAt(index)) : null),
    indexAt: (at_ms) => {
      const day = days.holding(at_ms)
      const index = countBefore(day)
      return inRange(index) && dayAt(index) === day ? index : null
    },
  }
}

/** Days since 1970, with and without a window, and their ranks among those that are keys. */
function openDays({ timezone, time_of_day_ms, excluded_days }: DailyDefinition) {
  const skipped = new Set(skippedDays(timezone))
  const removed = [...new Set([...skipped, ...excluded_days])].sort((a, b) => a - b)
  const next = (day: number): number => (skipped.has(day + 1) ? next(day + 1) : day + 1)
  const previous = (day: number): number => (skipped.has(day - 1) ? previous(day - 1) : day - 1)
  // The nominal wall clock: on a day that begins in a gap the window starts later than it says.
  const localStartOf = (day: number): number => day * DAY_MS + time_of_day_ms
  const startOf = (day: number): number => fixedInstantOf(timezone, localStartOf(day))

  /** The day whose window holds the instant, left out or not. */
  const holding = (at_ms: number): number => {
    let day = Math.floor((localAt(timezone, at_ms) - time_of_day_ms) / DAY_MS)
    // At most a step or two: the wall clock misses the day only around a change of the clocks.
    while (skipped.has(day) || startOf(day) > at_ms) day = previous(day)
    while (startOf(next(day)) <= at_ms) day = next(day)
    return day
  }
  return {
    localStartOf,
    startOf,
    holding,
    windowOf: (day: number): Window => ({ start_ms: startOf(day), end_ms: startOf(next(day)) }),
    /** The first day whose window starts at the instant or later. */
    startingFrom: (at_ms: number): number => {
      const day = holding(at_ms)
      return startOf(day) === at_ms ? day : next(day)
    },
    rank: (day: number): number => day - countBelow(removed.length, (i) => (removed[i] as number) < day),
    /** Each removed day before the one that is sought moves it on by one. */
    dayOfRank: (rank: number): number => rank + countBelow(removed.length, (i) => (removed[i] as number) - i <= rank),
  }
}

/** How many of the first `count` indexes pass a test that holds up to some index and never after it. */
function countBelow(count: number, passes: (index: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (passes(middle)) low = middle + 1
    else high = middle
  }
  return low
}
