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
  const found = new Set<number>()
  for (const cron of crons) {
    const instants = cron.hours.size === 24 ? shownInstants(cron, stretches) : fixedInstants(cron, stretches, from_ms, to_ms)
    for (const at_ms of instants) if (at_ms >= from_ms && at_ms < to_ms) found.add(at_ms)
  }
  return [...found].sort((left, right) => left - right)
}

export const stretchBorders = (from_ms: number, to_ms: number): readonly [number, number] => [from_ms - AROUND_MS, to_ms + AROUND_MS]

/** Of every hour: each real minute whose wall clock fits. */
function* shownInstants(cron: CronMeaning, stretches: readonly Stretch[]): Generator<number> {
  for (const { from_ms, to_ms, offset_ms } of stretches) {
    for (const local_ms of fitting(cron, from_ms + offset_ms, to_ms + offset_ms)) yield local_ms - offset_ms
  }
}

/** Fixed times: for each wall clock that fits, the last instant that shows it, or the end of the gap that swallowed it. */
function* fixedInstants(cron: CronMeaning, stretches: readonly Stretch[], from_ms: number, to_ms: number): Generator<number> {
  const [look_from_ms, look_to_ms] = [from_ms - 2 * DAY_MS, to_ms + 2 * DAY_MS]
  for (const local_ms of fitting(cron, look_from_ms, look_to_ms)) {
    const shown = stretches.filter((each) => isShown(local_ms, each)).map(({ offset_ms }) => local_ms - offset_ms)
    if (shown.length > 0) yield Math.max(...shown)
    else if (isDateShown(local_ms, stretches)) yield endOfGap(local_ms, stretches)
  }
}

const isShown = (local_ms: number, { from_ms, to_ms, offset_ms }: Stretch): boolean =>
  local_ms - offset_ms >= from_ms && local_ms - offset_ms < to_ms

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
function* fitting(cron: CronMeaning, local_from_ms: number, local_to_ms: number): Generator<number> {
  for (let day_ms = Math.floor(local_from_ms / DAY_MS) * DAY_MS; day_ms < local_to_ms; day_ms += DAY_MS) {
    if (!isDay(cron, new Date(day_ms))) continue
    for (let minute = 0; minute < 1_440; minute++) {
      if (!cron.hours.has(Math.floor(minute / 60)) || !cron.minutes.has(minute % 60)) continue
      const minute_ms = day_ms + minute * MINUTE_MS
      if (cron.seconds === null) {
        if (minute_ms >= local_from_ms && minute_ms < local_to_ms) yield minute_ms
        continue
      }
      for (let second = 0; second < 60; second++) {
        const local_ms = minute_ms + second * SECOND_MS
        if (cron.seconds.has(second) && local_ms >= local_from_ms && local_ms < local_to_ms) yield local_ms
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
