// Which days fit an expression, and the times of such a day: for a list of expressions, a day has those of every expression
// that it fits. Days that fit the same expressions are of one kind and share one table.

import { SECOND_MS } from '../time.js'
import type { CronExpression } from './expression.js'
import type { MonthShape } from './months.js'

const DAY_MINUTES = 1_440
const MINUTE_SECONDS = 60

/** The times of a day of one kind, as milliseconds of the day, in order. */
export type DayTimes = {
  readonly times: Int32Array
  /** How many are before a second of the day. */
  readonly before: (second: number) => number
}

/** A bit for each expression of the list that a day of such a month fits; days count from 1. */
export function fitsOf(expressions: readonly CronExpression[], shape: MonthShape): Int32Array {
  const fits = new Int32Array(shape.length + 1)
  for (const [i, { months, days }] of expressions.entries()) {
    if (!months.includes(shape.month)) continue
    for (let day = 1; day <= shape.length; day++) if (isDay(day, shape, days)) fits[day] = (fits[day] as number) | (1 << i)
  }
  return fits
}

function isDay(day: number, { length, weekday }: MonthShape, { of_month, of_week }: CronExpression['days']): boolean {
  if (of_month === null && of_week === null) return true
  if (of_month !== null && (of_month.days.includes(day) || (of_month.has_last && day === length))) return true
  if (of_week === null) return false
  const of_day = (weekday + day - 1) % 7
  return of_week.some(({ weekdays, which }) => {
    if (!weekdays.includes(of_day)) return false
    return which === 'every' || (which === 'last' ? day + 7 > length : Math.ceil(day / 7) === which)
  })
}

export const timeCount = ({ hours, minutes, seconds }: CronExpression): number => hours.length * minutes.length * seconds.length

export function openDayTimes(expressions: readonly CronExpression[]): DayTimes {
  const each = expressions.map(timesOf)
  const times = each.length === 1 ? Int32Array.from(each[0] as readonly number[]) : Int32Array.from(new Set(each.flat())).sort()
  const first = new Int32Array(DAY_MINUTES + 1)
  for (const time of times) {
    const minute = Math.floor(time / (MINUTE_SECONDS * SECOND_MS))
    first[minute + 1] = (first[minute + 1] as number) + 1
  }
  for (let minute = 1; minute <= DAY_MINUTES; minute++) first[minute] = (first[minute] as number) + (first[minute - 1] as number)
  return {
    times,
    before(second) {
      let rank = first[Math.floor(second / MINUTE_SECONDS)] as number
      while (rank < times.length && (times[rank] as number) < second * SECOND_MS) rank += 1
      return rank
    },
  }
}

const timesOf = ({ hours, minutes, seconds }: CronExpression): readonly number[] =>
  hours.flatMap((hour) =>
    minutes.flatMap((minute) => seconds.map((second) => ((hour * 60 + minute) * MINUTE_SECONDS + second) * SECOND_MS)),
  )
