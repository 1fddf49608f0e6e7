// The wall clocks that an expression names, by number: how many there are before one, and which is the n-th. Days repeat
// every 400 years, so the count of them is a table of 4,800 months and a division; nothing here walks from the start, and
// nothing knows of zones.

import { DAY_MS, SECOND_MS } from '../time.js'
import type { CronDays, CronExpression } from './expression.js'

/** Wall clocks are numbers, as in zone.ts: the epoch milliseconds that they would be in UTC. */
export type CronCalendar = {
  /** Matching wall clocks before this one, less those before 2000-01-01: below zero for older ones. */
  readonly rankOf: (local_ms: number) => number
  readonly localAt: (rank: number) => number
  /** Tells the matching wall clocks of ranks from `first` on, below `end`, in order, until it answers false. */
  readonly walk: (first: number, end: number, tell: (local_ms: number) => boolean) => boolean
  /** Of every hour: what is shown twice fires twice, and what is not shown does not fire. */
  readonly is_every_hour: boolean
  /** No day ever fits. */
  readonly is_empty: boolean
}

const CYCLE_DAYS = 146_097
const CYCLE_MONTHS = 4_800
/** 2000-01-01, from where the 400 years are counted, as days since 1970. */
const CYCLE_START_DAY = 10_957
/** 2000-01-01 was a Saturday. */
const CYCLE_START_WEEKDAY = 6
const DAY_SECONDS = 86_400

const monthTables = readMonths()

/** Of each month of the cycle: its first day, its length, the weekday that it begins with. */
function readMonths() {
  const first = new Int32Array(CYCLE_MONTHS + 1)
  for (let month = 0; month <= CYCLE_MONTHS; month++) {
    first[month] = Date.UTC(2000 + Math.floor(month / 12), month % 12, 1) / DAY_MS - CYCLE_START_DAY
  }
  return first
}

const monthStart = (month: number): number => monthTables[month] as number

/** The month of the cycle that holds a day of the cycle: no month is longer than 31 days or much shorter than 30.4. */
function monthOf(day: number): number {
  let month = Math.min(CYCLE_MONTHS - 1, Math.floor(day / 30.436875))
  while (monthStart(month) > day) month -= 1
  while (monthStart(month + 1) <= day) month += 1
  return month
}

export function openCronCalendar({ seconds, minutes, hours, months, days }: CronExpression): CronCalendar {
  const times = hours.flatMap((hour) =>
    minutes.flatMap((minute) => seconds.map((second) => ((hour * 60 + minute) * 60 + second) * SECOND_MS)),
  )
  const timesBefore = ranksOf(times)
  const perDay = times.length
  const masks = masksOf(months, days)
  const daysBefore = new Int32Array(CYCLE_MONTHS + 1)
  for (let month = 0; month < CYCLE_MONTHS; month++) daysBefore[month + 1] = (daysBefore[month] as number) + bitCount(masks(month))
  const perCycle = daysBefore[CYCLE_MONTHS] as number

  function rankOf(local_ms: number): number {
    const seconds_since = Math.ceil(local_ms / SECOND_MS)
    const day_since = Math.floor(seconds_since / DAY_SECONDS)
    const second = seconds_since - day_since * DAY_SECONDS
    const cycle = Math.floor((day_since - CYCLE_START_DAY) / CYCLE_DAYS)
    const day = day_since - CYCLE_START_DAY - cycle * CYCLE_DAYS
    const month = monthOf(day)
    const mask = masks(month)
    const in_month = day - monthStart(month)
    const before = cycle * perCycle + (daysBefore[month] as number) + bitCount(mask & ((1 << in_month) - 1))
    return before * perDay + ((mask >>> in_month) & 1 ? timesBefore(second) : 0)
  }

  /** The place of a day among those that fit, as its cycle, its month there, and the bit of that month. */
  function dayAt(rank: number): { readonly cycle: number; month: number; rest: number } {
    const cycle = Math.floor(rank / perCycle)
    const in_cycle = rank - cycle * perCycle
    let low = 0
    let high = CYCLE_MONTHS - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if ((daysBefore[middle] as number) <= in_cycle) low = middle
      else high = middle - 1
    }
    return { cycle, month: low, rest: lastBits(masks(low), in_cycle - (daysBefore[low] as number)) }
  }

  const dayMs = (cycle: number, month: number, rest: number): number =>
    (CYCLE_START_DAY + cycle * CYCLE_DAYS + monthStart(month) + lowestBit(rest)) * DAY_MS

  return {
    is_every_hour: hours.length === 24,
    is_empty: perCycle === 0,
    rankOf,
    localAt(rank) {
      const day = Math.floor(rank / perDay)
      const { cycle, month, rest } = dayAt(day)
      return dayMs(cycle, month, rest) + (times[rank - day * perDay] as number)
    },
    walk(first, end, tell) {
      if (first >= end) return true
      const day = Math.floor(first / perDay)
      let { cycle, month, rest } = dayAt(day)
      let time = first - day * perDay
      for (let left = end - first; ; ) {
        const day_ms = dayMs(cycle, month, rest)
        for (; time < perDay; time++) {
          if (!tell(day_ms + (times[time] as number))) return false
          if (--left === 0) return true
        }
        time = 0
        rest &= rest - 1
        while (rest === 0) {
          month += 1
          if (month === CYCLE_MONTHS) [cycle, month] = [cycle + 1, 0]
          rest = masks(month)
        }
      }
    },
  }
}

/** How many of these times are before a second of the day; the table has a place for each. */
function ranksOf(times: readonly number[]): (second: number) => number {
  const before = new Int32Array(DAY_SECONDS / 60 + 1)
  for (const time of times) {
    const minute = Math.floor(time / (60 * SECOND_MS))
    before[minute + 1] = (before[minute + 1] as number) + 1
  }
  for (let minute = 1; minute < before.length; minute++) before[minute] = (before[minute] as number) + (before[minute - 1] as number)
  return (second) => {
    const minute = Math.floor(second / 60)
    let rank = before[minute] as number
    while (rank < times.length && (times[rank] as number) < second * SECOND_MS) rank += 1
    return rank
  }
}

/** Which days of a month fit, a bit each: there are 28 shapes of a month, by its length and its first weekday. */
function masksOf(months: readonly number[], days: CronDays): (month: number) => number {
  const isMonth = Array.from({ length: 12 }, (_, month) => months.includes(month + 1))
  const shapes = new Int32Array(28)
  for (let length = 28; length <= 31; length++) {
    for (let weekday = 0; weekday < 7; weekday++) shapes[(length - 28) * 7 + weekday] = maskOf(length, weekday, days)
  }
  return (month) => {
    if (isMonth[month % 12] !== true) return 0
    const first = monthStart(month)
    const weekday = (first + CYCLE_START_WEEKDAY) % 7
    return shapes[(monthStart(month + 1) - first - 28) * 7 + weekday] as number
  }
}

function maskOf(length: number, first_weekday: number, { of_month, of_week }: CronDays): number {
  let mask = 0
  for (let day = 1; day <= length; day++) {
    const weekday = (first_weekday + day - 1) % 7
    const fitsMonth = of_month !== null && (of_month.days.includes(day) || (of_month.has_last && day === length))
    const fitsWeek =
      of_week?.some(({ weekdays, which }) => {
        if (!weekdays.includes(weekday)) return false
        return which === 'every' || (which === 'last' ? day + 7 > length : Math.ceil(day / 7) === which)
      }) ?? false
    if (fitsMonth || fitsWeek || (of_month === null && of_week === null)) mask |= 1 << (day - 1)
  }
  return mask
}

function bitCount(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return (((fours + (fours >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24
}

const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits)

/** Without the lowest `count` bits that are set. */
function lastBits(bits: number, count: number): number {
  let rest = bits
  for (let i = 0; i < count; i++) rest &= rest - 1
  return rest
}
