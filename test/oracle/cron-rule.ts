// The rule for cron and changes of the clocks (docs/schedules.md), written a second time and by brute force: every minute
// (second, where an expression has seconds) is looked at, and every wall clock is looked up among all that the zone shows.
// Nothing of src is used here.

import type { Stretch } from './zone-clock.js'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Further than any offset, and than any two changes of the clocks whose wall clocks could meet. */
const AROUND_MS = 3 * DAY_MS

/** What an expression says, as its generator knows it: nobody reads its text here. */
export type CronMeaning = {
  /** null: of five fields, which begin at the start of a minute. */
  readonly seconds: ReadonlySet<number> | null
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  /** With both of them, either is enough. */
  readonly day_of_month: ((day: number, month_length: number) => boolean) | null
  readonly day_of_week: ((weekday: number, day: number, month_length: number) => boolean) | null
}

/** The instants of a list from from_ms, included, to to_ms, excluded; `stretches` have to reach AROUND_MS beyond both. */
export function instantsByRule(
  crons: readonly CronMeaning[],
  stretches: readonly Stretch[],
  from_ms: number,
  to_ms: number,
): readonly number[] {
  const found: number[] = []
  const tell = (at_ms: number): void => {
    if (at_ms >= from_ms && at_ms < to_ms) found.push(at_ms)
  }
  for (const cron of crons) {
    if (cron.hours.size === 24) tellShown(cron, stretches, tell)
    else tellFixed(cron, stretches, [from_ms - 2 * DAY_MS, to_ms + 2 * DAY_MS], tell)
  }
  const instants: number[] = []
  for (const at_ms of Float64Array.from(found).sort()) if (at_ms !== instants.at(-1)) instants.push(at_ms)
  return instants
}

type Tell = (at_ms: number) => void

export const stretchBorders = (from_ms: number, to_ms: number): readonly [number, number] => [from_ms - AROUND_MS, to_ms + AROUND_MS]

/** Of every hour: each real minute whose wall clock fits. */
function tellShown(cron: CronMeaning, stretches: readonly Stretch[], tell: Tell): void {
  for (const { from_ms, to_ms, offset_ms } of stretches) {
    tellFitting(cron, from_ms + offset_ms, to_ms + offset_ms, (local_ms) => tell(local_ms - offset_ms))
  }
}

/** Fixed times: for each wall clock that fits, the last instant that shows it, or the end of the gap that swallowed it. */
function tellFixed(
  cron: CronMeaning,
  stretches: readonly Stretch[],
  [local_from_ms, local_to_ms]: readonly [number, number],
  tell: Tell,
): void {
  tellFitting(cron, local_from_ms, local_to_ms, (local_ms) => {
    const last_ms = lastShown(local_ms, stretches)
    if (last_ms !== null) tell(last_ms)
    else if (isDateShown(local_ms, stretches)) tell(endOfGap(local_ms, stretches))
  })
}

function lastShown(local_ms: number, stretches: readonly Stretch[]): number | null {
  let last_ms: number | null = null
  for (const { from_ms, to_ms, offset_ms } of stretches) {
    const at_ms = local_ms - offset_ms
    if (at_ms >= from_ms && at_ms < to_ms && (last_ms === null || at_ms > last_ms)) last_ms = at_ms
  }
  return last_ms
}

function isDateShown(local_ms: number, stretches: readonly Stretch[]): boolean {
  const date_ms = Math.floor(local_ms / DAY_MS) * DAY_MS
  return stretches.some(({ from_ms, to_ms, offset_ms }) => from_ms + offset_ms < date_ms + DAY_MS && to_ms + offset_ms > date_ms)
}

function endOfGap(local_ms: number, stretches: readonly Stretch[]): number {
  const i = stretches.findIndex((each, place) => {
    const before = stretches[place - 1]
    return before !== undefined && each.from_ms + before.offset_ms <= local_ms && local_ms < each.from_ms + each.offset_ms
  })
  const after = stretches[i]
  if (after === undefined) throw new Error(`The wall clock ${new Date(local_ms).toISOString()} is neither shown nor in a gap.`)
  return after.from_ms
}

/** Every wall clock of an interval that the fields name, whether a zone shows it or not. */
function tellFitting(cron: CronMeaning, local_from_ms: number, local_to_ms: number, tell: Tell): void {
  const seconds =
    cron.seconds === null ? [0] : Array.from({ length: 60 }, (_, second) => second).filter((second) => cron.seconds?.has(second))
  for (let day_ms = Math.floor(local_from_ms / DAY_MS) * DAY_MS; day_ms < local_to_ms; day_ms += DAY_MS) {
    if (!isDay(cron, new Date(day_ms))) continue
    for (let hour = 0; hour < 24; hour++) {
      if (!cron.hours.has(hour)) continue
      for (let minute = 0; minute < 60; minute++) {
        if (!cron.minutes.has(minute)) continue
        for (const second of seconds) {
          const local_ms = day_ms + (hour * 60 + minute) * MINUTE_MS + second * SECOND_MS
          if (local_ms >= local_from_ms && local_ms < local_to_ms) tell(local_ms)
        }
      }
    }
  }
}

function isDay({ months, day_of_month, day_of_week }: CronMeaning, date: Date): boolean {
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  if (!months.has(month + 1)) return false
  const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  if (day_of_month === null && day_of_week === null) return true
  return day_of_month?.(day, length) === true || day_of_week?.(date.getUTCDay(), day, length) === true
}
