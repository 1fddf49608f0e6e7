// What a user may define, read once: bounds are instants afterwards and formats compiled. What this version does not know
// is said in plain words and never guessed at, because keys that rows are sorted by must not change their meaning.

import { z } from 'zod'
import { partitionKeyProblem } from '../core/partition-key.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.js'
import { fixedInstantOf, isZone } from '../core/zone.js'
import { type KeyFormat, parseKeyFormat, readOffset } from './key-format.js'
import { isRefusal, type Refusal } from './key-order.js'

export type DailyDefinition = {
  readonly type: 'daily'
  readonly timezone: string
  readonly format: KeyFormat
  /** Where in the day a window starts, on the wall clock. */
  readonly time_of_day_ms: number
  readonly start_ms: number
  readonly end_ms: number | null
  readonly end_offset: number
  /** Days since 1970 of the dates that are left out, in order, each once. */
  readonly excluded_days: readonly number[]
}

export type StaticDefinition = { readonly type: 'static'; readonly keys: readonly string[] }

export type PartitionDefinition = DailyDefinition | StaticDefinition

const KNOWN_TYPES = ['daily', 'static'] as const

/** Far beyond any use, and small enough for exact sums. */
const END_OFFSET_MAX = 1_000_000
const FORMAT_LENGTH_MAX = 100

const whole = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}
const text = (example: string) => z.string({ error: `must be text, such as "${example}"` })

const DAILY = z.strictObject({
  type: z.literal('daily'),
  start_date: text('2025-01-01'),
  end_date: text('2026-01-01').optional(),
  timezone: text('Europe/Berlin')
    .refine(isZone, { error: 'must be a name of the IANA time zone database, such as "Europe/Berlin"' })
    .optional(),
  minute_offset: whole(0, 59).optional(),
  hour_offset: whole(0, 23).optional(),
  end_offset: whole(-END_OFFSET_MAX, END_OFFSET_MAX).optional(),
  fmt: text('%Y-%m-%d')
    .max(FORMAT_LENGTH_MAX, { error: `must have at most ${FORMAT_LENGTH_MAX} characters` })
    .optional(),
  exclusions: z.array(text('2025-12-25'), { error: 'must be a list of dates, such as ["2025-12-25"]' }).optional(),
})

/** For suggestions where somebody wrote another word. */
export const DAILY_MEMBERS: readonly string[] = Object.keys(DAILY.shape)

const STATIC = z.strictObject({
  type: z.literal('static'),
  keys: z.array(text('europe'), { error: 'must be a list of keys' }).min(1, { error: 'must have at least one key' }),
})

export function parseDefinition(definition: unknown): PartitionDefinition | Refusal {
  const type = typeof definition === 'object' && definition !== null && 'type' in definition ? definition.type : undefined
  if (type === 'daily') {
    const parsed = DAILY.safeParse(definition)
    return parsed.success ? readDaily(parsed.data) : schemaRefusal(parsed.error)
  }
  if (type === 'static') {
    const parsed = STATIC.safeParse(definition)
    return parsed.success ? readStatic(parsed.data) : schemaRefusal(parsed.error)
  }
  const known = KNOWN_TYPES.join(' and ')
  if (typeof type !== 'string') return { problem: `The partitions have no type. Give "type" one of these: ${known}.` }
  return {
    problem: `Partitions of type "${type}" are not known to this version of Servo, which knows ${known}. Use one of them, or a later version.`,
  }
}

function readStatic({ keys }: z.infer<typeof STATIC>): StaticDefinition | Refusal {
  const seen = new Set<string>()
  for (const [i, key] of keys.entries()) {
    const problem = seen.has(key) ? 'is there twice: name each key once' : partitionKeyProblem(key)
    if (problem !== null) return fieldRefusal(`keys[${i}]`, `${JSON.stringify(key)} ${problem}`)
    seen.add(key)
  }
  return { type: 'static', keys }
}

function readDaily(given: z.infer<typeof DAILY>): DailyDefinition | Refusal {
  const timezone = given.timezone ?? 'UTC'
  const format = parseKeyFormat(given.fmt ?? '%Y-%m-%d')
  if (isRefusal(format)) return fieldRefusal('fmt', format.problem)
  const start_ms = readTime(given.start_date, timezone, format)
  if (start_ms === null) return fieldRefusal('start_date', timeProblem(given.start_date, timezone))
  const end_ms = given.end_date === undefined ? null : readTime(given.end_date, timezone, format)
  if (given.end_date !== undefined && end_ms === null) return fieldRefusal('end_date', timeProblem(given.end_date, timezone))
  if (end_ms !== null && end_ms < start_ms) return fieldRefusal('end_date', `is before start_date: make it later than ${given.start_date}`)
  const keyProblem = partitionKeyProblem(format.write(start_ms, 0))
  if (keyProblem !== null) return fieldRefusal('fmt', `makes a key that ${keyProblem}`)

  const excluded = new Set<number>()
  for (const [i, exclusion] of (given.exclusions ?? []).entries()) {
    const day = readDay(exclusion)
    if (day === null)
      return fieldRefusal(`exclusions[${i}]`, `"${exclusion}" is no date: this version leaves out single dates, such as "2025-12-25"`)
    excluded.add(day)
  }
  return {
    type: 'daily',
    timezone,
    format,
    time_of_day_ms: (given.hour_offset ?? 0) * HOUR_MS + (given.minute_offset ?? 0) * MINUTE_MS,
    start_ms,
    end_ms,
    end_offset: given.end_offset ?? 0,
    excluded_days: [...excluded].sort((a, b) => a - b),
  }
}

/** ISO 8601, or the form of the definition's own keys; a wall clock of the zone where no offset is given. */
function readTime(given: string, zone: string, format: KeyFormat): number | null {
  const iso = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/.exec(given)
  if (iso !== null) {
    const day = readDay(iso[1] as string)
    const clock_ms = Date.parse(`1970-01-01T${iso[2] ?? '00:00'}Z`)
    if (day === null || Number.isNaN(clock_ms)) return null
    return instantOf(zone, day * DAY_MS + clock_ms, iso[3] === undefined ? null : iso[3] === 'Z' ? 0 : readOffset(iso[3]))
  }
  const read = format.read(given)
  if (read === null || format.write(read.local_ms, read.offset_ms ?? 0) !== given) return null
  return instantOf(zone, read.local_ms, read.offset_ms)
}

function instantOf(zone: string, local_ms: number, offset_ms: number | null): number | null {
  const year = new Date(local_ms).getUTCFullYear()
  if (year < 1900 || year > 9999) return null
  return offset_ms === null ? fixedInstantOf(zone, local_ms) : local_ms - offset_ms
}

/** Days since 1970 of a date that the calendar has. */
function readDay(date: string): number | null {
  const at_ms = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN
  return Number.isNaN(at_ms) || new Date(at_ms).toISOString().slice(0, 10) !== date ? null : at_ms / DAY_MS
}

const timeProblem = (given: string, zone: string): string =>
  `"${given}" is no time of the years 1900 to 9999: write a date, or a time of ${zone}, such as "2025-01-01" or "2025-01-01T00:00:00"`

const fieldRefusal = (field: string, problem: string): Refusal => ({ problem: `The partitions' ${field} ${problem}.` })

function schemaRefusal(error: z.ZodError): Refusal {
  const issue = error.issues[0]
  if (issue?.code === 'unrecognized_keys') {
    return { problem: `The partitions have the field "${issue.keys[0]}", which this version does not know for their type: remove it.` }
  }
  const path = issue?.path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i > 0 ? `.${String(part)}` : String(part))).join('')
  return fieldRefusal(path ?? '', issue?.message ?? 'are not right')
}
