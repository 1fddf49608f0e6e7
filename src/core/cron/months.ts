// The 400 years after which days of the month and days of the week fall together again: where each of their 4,800 months
// begins, and which of 91 shapes it has, of which 14 kinds of years are made. A month's shape is all that decides which of
// its days fit an expression.

import { DAY_MS } from '../time.js'

export const CYCLE_DAYS = 146_097
export const CYCLE_MONTHS = 4_800
export const CYCLE_YEARS = 400
/** 2000-01-01, from where the 400 years are counted, as days since 1970. */
export const CYCLE_START_DAY = 10_957
/** 2000-01-01 was a Saturday. */
const CYCLE_START_WEEKDAY = 6
/** No month is much shorter than this, so that the guess of `monthOf` is near. */
const MONTH_DAYS_MEAN = 30.436875

export type MonthShape = {
  /** From 1. */
  readonly month: number
  readonly length: number
  /** Of its first day, Sunday is 0. */
  readonly weekday: number
}

const starts = new Int32Array(CYCLE_MONTHS + 1)
const shapeIndexes = new Uint8Array(CYCLE_MONTHS)
export const monthShapes: readonly MonthShape[] = readShapes()
const yearKinds = new Uint8Array(CYCLE_YEARS)
/** Of each kind the first year: it stands for all that begin on the same weekday and are as long. */
export const firstYears: readonly number[] = readYears()

function readShapes(): readonly MonthShape[] {
  const shapes: MonthShape[] = []
  const indexes = new Map<number, number>()
  for (let month = 0; month <= CYCLE_MONTHS; month++) {
    starts[month] = Date.UTC(2000 + Math.floor(month / 12), month % 12, 1) / DAY_MS - CYCLE_START_DAY
  }
  for (let i = 0; i < CYCLE_MONTHS; i++) {
    const month = (i % 12) + 1
    const length = monthStart(i + 1) - monthStart(i)
    const weekday = (monthStart(i) + CYCLE_START_WEEKDAY) % 7
    const key = (month * 32 + length) * 7 + weekday
    let index = indexes.get(key)
    if (index === undefined) {
      index = shapes.push({ month, length, weekday }) - 1
      indexes.set(key, index)
    }
    shapeIndexes[i] = index
  }
  return shapes
}

function readYears(): readonly number[] {
  const first: number[] = []
  for (let year = 0; year < CYCLE_YEARS; year++) {
    const known = first.findIndex((other) => [0, 1].every((month) => shapeIndexOf(other * 12 + month) === shapeIndexOf(year * 12 + month)))
    yearKinds[year] = known === -1 ? first.push(year) - 1 : known
  }
  return first
}

/** The first day of a month of the cycle, as a day of the cycle. */
export function monthStart(month: number): number {
  return starts[month] as number
}

export function shapeIndexOf(month: number): number {
  return shapeIndexes[month] as number
}

/** The place among `firstYears` of a year of the cycle. */
export const yearKindOf = (year: number): number => yearKinds[year] as number

/** The month of the cycle that holds a day of the cycle. */
export function monthOf(day: number): number {
  let month = Math.min(CYCLE_MONTHS - 1, Math.floor(day / MONTH_DAYS_MEAN))
  while (monthStart(month) > day) month -= 1
  while (monthStart(month + 1) <= day) month += 1
  return month
}
