// Partitions by time as users write them, read once: bounds are instants afterwards, and each kind is a cron expression
// whose instants are the starts of its windows.

import { z } from 'zod'
import { type CronExpression, parseCron } from '../core/cron/expression.js'
import { readCrons } from '../core/cron/schedule-ticks.js'
import { openTicks } from '../core/cron/ticks.js'
import { PARTITION_END_MS_MAX, PARTITION_EXCLUSIONS_MAX } from '../core/limits.js'
import { partitionKeyProblem } from '../core/partition-key.js'
import { DAY_MS, HOUR_MS, instantText, MINUTE_MS } from '../core/time.js'
import { fixedInstantOf, isZone } from '../core/zone.js'
import { zoneProblem } from '../core/zone-name.js'
import { fieldRefusal } from './field-refusal.js'
import { openKeptTicks } from './kept-ticks.js'
import { type KeyFormat, parseKeyFormat, readOffset, readSuffixed } from './key-format.js'
import { isRefusal, type Refusal } from './key-order.js'
import { firstInstantOf, type WallTime } from './wall-time.js'

export type TimeDefinition = {
  readonly type: 'hourly' | 'daily' | 'weekly' | 'monthly' | 'cron'
  readonly timezone: string
  readonly format: KeyFormat
  /** Its instants start the windows. */
  readonly cron: CronExpression
  readonly start_ms: number
  readonly end_ms: number | null
  readonly end_offset: number
  /** Windows that start at an instant of one of these are no partitions. */
  readonly left_out: readonly CronExpression[]
  /** Nor are these. */
  readonly removed: readonly Exclusion[]
}

/** A key, or a time. */
export type Exclusion = WallTime & { readonly text: string }

/** Far beyond any use, and small enough for exact sums. */
const END_OFFSET_MAX = 1_000_000
const FORMAT_LENGTH_MAX = 100
const YEAR_MS = 366 * DAY_MS

const whole = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}
const text = (example: string) => z.string({ error: `must be text, such as "${example}"` })

const EXCLUSIONS = 'must be a list of keys, times or cron expressions, such as ["2025-12-25", "0 0 * * 6"]'
const COMMON = {
  timezone: text('Europe/Berlin')
    .refine(isZone, { error: ({ input }) => `is not right: ${zoneProblem(String(input))}` })
    .optional(),
  end_offset: whole(-END_OFFSET_MAX, END_OFFSET_MAX).optional(),
  fmt: text('%Y-%m-%d')
    .max(FORMAT_LENGTH_MAX, { error: `must have at most ${FORMAT_LENGTH_MAX} characters` })
    .optional(),
  exclusions: z
    .array(text('2025-12-25'), { error: EXCLUSIONS })
    .max(PARTITION_EXCLUSIONS_MAX, {
      error: `must have at most ${PARTITION_EXCLUSIONS_MAX} entries: leave out what repeats by a cron expression`,
    })
    .optional(),
}
const DATES = { start_date: text('2025-01-01'), end_date: text('2026-01-01').optional() }
const [minute_offset, hour_offset] = [whole(0, 59).optional(), whole(0, 23).optional()]

export const TIME_SCHEMAS = {
  hourly: z.strictObject({ type: z.literal('hourly'), ...DATES, minute_offset, ...COMMON }),
  daily: z.strictObject({ type: z.literal('daily'), ...DATES, minute_offset, hour_offset, ...COMMON }),
  weekly: z.strictObject({
    type: z.literal('weekly'),
    ...DATES,
    minute_offset,
    hour_offset,
    day_offset: whole(0, 6).optional(),
    ...COMMON,
  }),
  monthly: z.strictObject({
    type: z.literal('monthly'),
    ...DATES,
    minute_offset,
    hour_offset,
    day_offset: whole(1, 31).optional(),
    ...COMMON,
  }),
  cron: z.strictObject({
    type: z.literal('cron'),
    start: text('2025-01-01'),
    end: text('2026-01-01').optional(),
    cron_schedule: text('0 6 * * 1-5'),
    ...COMMON,
  }),
}

type Given = { readonly [Type in keyof typeof TIME_SCHEMAS]: z.infer<(typeof TIME_SCHEMAS)[Type]> }[keyof typeof TIME_SCHEMAS]

export function readTimeDefinition(given: Given): TimeDefinition | Refusal {
  const timezone = given.timezone ?? 'UTC'
  const cron = parseCron(cronTextOf(given))
  if (isRefusal(cron)) return fieldRefusal('cron_schedule', `is not right: ${cron.problem}`)
  const format = readFormat(given.fmt, cron)
  if (isRefusal(format)) return fieldRefusal('fmt', format.problem)

  const bounds = readBounds(given, { timezone, format, cron })
  if (isRefusal(bounds)) return bounds
  const exclusions = readExclusions(given, format)
  if (isRefusal(exclusions)) return exclusions
  if (isNothingLeft(cron, exclusions.left_out, { timezone, from_ms: bounds.start_ms })) {
    return fieldRefusal('exclusions', 'leave nothing: make them fewer')
  }
  return { type: given.type, timezone, format, cron, ...bounds, end_offset: given.end_offset ?? 0, ...exclusions }
}

/** Weeks start on Sunday, months on their first, unless an offset says otherwise; 31 skips months without one. */
function cronTextOf(given: Given): string {
  if (given.type === 'cron') return given.cron_schedule
  const minute = given.minute_offset ?? 0
  if (given.type === 'hourly') return `${minute} * * * *`
  const time = `${minute} ${given.hour_offset ?? 0}`
  if (given.type === 'daily') return `${time} * * *`
  return given.type === 'weekly' ? `${time} * * ${given.day_offset ?? 0}` : `${time} ${given.day_offset ?? 1} * *`
}

/** What a key has to show, so that no two windows have the same one. */
function neededDirectives({ seconds, minutes, hours, months, days }: CronExpression): readonly string[] {
  const { of_month, of_week } = days
  const isOnceAMonth = of_week === null && of_month !== null && of_month.days.length + (of_month.has_last ? 1 : 0) === 1
  const needs = [true, !(isOnceAMonth && months.length === 1), !isOnceAMonth, hours.length > 1, minutes.length > 1, seconds.length > 1]
  return PARTS.slice(0, needs.lastIndexOf(true) + 1)
}

const PARTS = ['%Y', '%m', '%d', '%H', '%M', '%S'] as const

function readFormat(fmt: string | undefined, cron: CronExpression): KeyFormat | Refusal {
  const needed = neededDirectives(cron)
  const format = parseKeyFormat(fmt ?? defaultFormat(cron, needed.length))
  if (isRefusal(format)) return format
  const shown = PARTS.filter((part) => format.directives.has(part))
  const missing = PARTS.slice(0, Math.max(needed.length, PARTS.indexOf(shown.at(-1) ?? '%Y') + 1))
  if (missing.some((part) => !shown.includes(part))) {
    const list = missing.length === 1 ? missing[0] : `${missing.slice(0, -1).join(', ')} and ${missing.at(-1)}`
    return { problem: `needs ${list}, so that two partitions never have the same key` }
  }
  const problem = partitionKeyProblem(format.write(0, 0))
  return problem === null ? format : { problem: `makes a key that ${problem}` }
}

function defaultFormat(cron: CronExpression, needed: number): string {
  if (needed <= PARTS.indexOf('%d') + 1) return '%Y-%m-%d'
  return cron.seconds.some((second) => second > 0) ? '%Y-%m-%d-%H:%M:%S' : '%Y-%m-%d-%H:%M'
}

type Clock = { readonly timezone: string; readonly format: KeyFormat; readonly cron: CronExpression }

function readBounds(given: Given, clock: Clock): { readonly start_ms: number; readonly end_ms: number | null } | Refusal {
  const [start, end, startField, endField] =
    given.type === 'cron' ? [given.start, given.end, 'start', 'end'] : [given.start_date, given.end_date, 'start_date', 'end_date']
  const start_ms = readInstant(start, clock)
  if (start_ms === null) return fieldRefusal(startField, timeProblem(start, clock.timezone))
  if (start_ms >= PARTITION_END_MS_MAX) {
    const last = instantText(PARTITION_END_MS_MAX).slice(0, 10)
    return fieldRefusal(startField, `is ${start}, and no partition ends after ${last}: make it earlier`)
  }
  const end_ms = end === undefined ? null : readInstant(end, clock)
  if (end !== undefined && end_ms === null) return fieldRefusal(endField, timeProblem(end, clock.timezone))
  if (end_ms !== null && end_ms < start_ms) return fieldRefusal(endField, `is before ${startField}: make it later than ${start}`)
  return { start_ms, end_ms }
}

function readInstant(given: string, { timezone, format, cron }: Clock): number | null {
  const read = readWallTime(given, format)
  if (read === null) return null
  const year = new Date(read.local_ms).getUTCFullYear()
  if (year < 1900 || year > 9999) return null
  // A time that is shown twice is the pass that has a window: the first where both have one.
  return read.offset_ms === null && cron.hours.length < 24 ? fixedInstantOf(timezone, read.local_ms) : firstInstantOf(timezone, read)
}

const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?) ?(Z|[+-]\d{2}:?\d{2})?)?$/

/** ISO 8601, or the form of the definition's own keys; a wall clock of the zone where no offset is given. */
function readWallTime(given: string, format: KeyFormat): WallTime | null {
  const iso = ISO.exec(given)
  if (iso === null) return format.readTime(given) ?? readSuffixed(format, given)
  const day = readDay(iso[1] as string)
  const clock_ms = Date.parse(`1970-01-01T${iso[2] ?? '00:00'}Z`)
  if (day === null || Number.isNaN(clock_ms)) return null
  return { local_ms: day * DAY_MS + clock_ms, offset_ms: iso[3] === undefined ? null : readOffset(iso[3]) }
}

/** Days since 1970 of a date that the calendar has. */
function readDay(date: string): number | null {
  const at_ms = Date.parse(`${date}T00:00:00Z`)
  return Number.isNaN(at_ms) || new Date(at_ms).toISOString().slice(0, 10) !== date ? null : at_ms / DAY_MS
}

const timeProblem = (given: string, zone: string): string =>
  `"${given}" is no time of the years 1900 to 9999: write a date, or a time of ${zone}, such as "2025-01-01" or "2025-01-01T00:00:00"`

type Exclusions = { readonly left_out: readonly CronExpression[]; readonly removed: readonly Exclusion[] }

function readExclusions(given: Given, format: KeyFormat): Exclusions | Refusal {
  const crons: string[] = []
  const removed: Exclusion[] = []
  for (const [i, exclusion] of (given.exclusions ?? []).entries()) {
    const time = readWallTime(exclusion, format)
    if (time !== null) {
      removed.push({ text: exclusion, ...time, local_ms: time.local_ms + (isDate(exclusion) ? timeOfDay(given) : 0) })
    } else {
      const cron = parseCron(exclusion)
      if (isRefusal(cron)) return fieldRefusal(`exclusions[${i}]`, exclusionProblem(exclusion, cron.problem))
      crons.push(exclusion)
    }
  }
  if (crons.length === 0) return { left_out: [], removed }
  // They are counted together with the windows, as one list.
  const list = readCrons([cronTextOf(given), ...crons])
  return isRefusal(list) ? fieldRefusal('exclusions', `are too many: ${list.problem}`) : { left_out: list.slice(1), removed }
}

function exclusionProblem(exclusion: string, problem: string): string {
  const isMeantAsCron = exclusion.startsWith('@') || exclusion.trim().split(/\s+/).length >= 5
  const sentence = `"${exclusion}" is no key, no time and no cron expression, such as "2025-12-25" or "0 0 * * 6".`
  return isMeantAsCron ? `${sentence} ${problem}` : sentence
}

/** After so many years days of the month and of the week fall together again, leap days too. */
const YEARS_LOOKED_AT = 40

function isNothingLeft(
  cron: CronExpression,
  left_out: readonly CronExpression[],
  { timezone, from_ms }: { readonly timezone: string; readonly from_ms: number },
): boolean {
  if (left_out.length === 0) return false
  const kept = openKeptTicks(openTicks(cron, timezone), cron, left_out, timezone)
  for (let year = 0; year < YEARS_LOOKED_AT; year++) {
    if (kept.count(from_ms + year * YEAR_MS, from_ms + (year + 1) * YEAR_MS) > 0) return false
  }
  return true
}

const isDate = (exclusion: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(exclusion)

/** A date leaves out the window that starts on it, at the time of day at which windows start. */
function timeOfDay(given: Given): number {
  if (given.type === 'cron') return 0
  return (given.type === 'hourly' ? 0 : (given.hour_offset ?? 0)) * HOUR_MS + (given.minute_offset ?? 0) * MINUTE_MS
}
