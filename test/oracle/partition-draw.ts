// Partition definitions drawn by chance, each with what it means: the JSON is for the engine, the rule for the comparison.

import type { Random } from '../fixtures/random.js'
import type { CronMeaning } from './cron-rule.js'
import { type SideRule, type TimeRule, timeRuleOf } from './partition-rule.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A spring in which the clocks of both zones change. */
export const HORIZON = { from_ms: Date.UTC(2024, 1, 20), to_ms: Date.UTC(2024, 4, 10) }
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York']

const EVERY_MONTH = new Set(Array.from({ length: 12 }, (_, month) => month + 1))
const EVERY_HOUR = new Set(Array.from({ length: 24 }, (_, hour) => hour))
const at = (minute: number, hours: Iterable<number>, days: Partial<CronMeaning> = {}): CronMeaning => ({
  seconds: null,
  minutes: new Set([minute]),
  hours: new Set(hours),
  months: EVERY_MONTH,
  day_of_month: null,
  day_of_week: null,
  ...days,
})

type Kind = { readonly fields: object; readonly bounds: readonly [start: string, end: string]; readonly starts: CronMeaning }
const DATES = ['start_date', 'end_date'] as const
const KINDS: readonly Kind[] = [
  { fields: { type: 'hourly', minute_offset: 15 }, bounds: DATES, starts: at(15, EVERY_HOUR) },
  { fields: { type: 'daily', hour_offset: 6 }, bounds: DATES, starts: at(0, [6]) },
  { fields: { type: 'daily' }, bounds: DATES, starts: at(0, [0]) },
  { fields: { type: 'weekly', day_offset: 1 }, bounds: DATES, starts: at(0, [0], { day_of_week: (weekday) => weekday === 1 }) },
  { fields: { type: 'monthly' }, bounds: DATES, starts: at(0, [0], { day_of_month: (day) => day === 1 }) },
  {
    fields: { type: 'cron', cron_schedule: '30 6,18 * * 1-5' },
    bounds: ['start', 'end'],
    starts: at(30, [6, 18], { day_of_week: (weekday) => weekday >= 1 && weekday <= 5 }),
  },
]

export type DrawnSide = { readonly definition: object; readonly rule: SideRule }

export function drawTime(random: Random, name: string | null): DrawnSide & Pick<TimeRule, 'ever'> {
  // Hours of dimensions would be more combinations than are worth their time.
  const { fields, bounds, starts } = random.pick(name === null ? KINDS : KINDS.slice(1))
  const zone = random.pick(ZONES)
  const start_ms = HORIZON.from_ms + random.below(25) * DAY_MS
  const end_ms = random.isTrue(0.5) ? null : start_ms + random.below(45 * 24) * HOUR_MS
  const end_offset = random.pick([0, 0, 0, 1, 3, -1, -2, -10])
  const isLeftOut = random.isTrue(0.3) ? isWednesdayIn(zone) : () => false
  const [startField, endField] = bounds
  const definition = {
    ...fields,
    timezone: zone,
    [startField]: new Date(start_ms).toISOString(),
    ...(end_ms === null ? {} : { [endField]: new Date(end_ms).toISOString() }),
    ...(end_offset === 0 && random.isTrue(0.5) ? {} : { end_offset }),
    ...(isLeftOut(Date.UTC(2024, 2, 6, 12)) ? { exclusions: ['* * * * 3'] } : {}),
  }
  const rule = timeRuleOf({ zone, starts, start_ms, end_ms, end_offset, isLeftOut }, HORIZON)
  const keysAt: SideRule['keysAt'] = (now_ms, ahead) => rule.startsAt(now_ms, ahead).map((start) => new Date(start).toISOString())
  return { definition, rule: { name, is_time: true, is_endless: end_ms === null, keysAt }, ever: rule.ever }
}

/** A cron of every hour leaves out what a window shows when it starts. */
function isWednesdayIn(zone: string): (at_ms: number) => boolean {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, weekday: 'short' })
  return (at_ms) => format.format(at_ms) === 'Wed'
}

const WORDS = ['ap', 'br', 'eu', 'us', 'za']

export function drawStatic(random: Random, name: string | null): DrawnSide {
  const keys = WORDS.filter(() => random.isTrue(0.6))
  const some = keys.length === 0 ? ['eu'] : keys
  return { definition: { type: 'static', keys: some }, rule: { name, is_time: false, is_endless: false, keysAt: () => some } }
}

export type Drawn = { readonly definition: object; readonly sides: readonly SideRule[] }

/** Names in their order, so that time comes first, in the middle or last. */
const NAMES = ['area', 'by', 'zone']

export function drawDefinition(random: Random, single = 0.4): Drawn {
  if (random.isTrue(single)) {
    const { definition, rule } = random.isTrue(0.7) ? drawTime(random, null) : drawStatic(random, null)
    return { definition, sides: [rule] }
  }
  const names = NAMES.filter(() => random.isTrue(0.75))
  let times = 0
  const drawn = (names.length === 0 ? ['by'] : names).map((name) => {
    const isTime = times < TIMES_MAX && random.isTrue(0.6)
    times += isTime ? 1 : 0
    return [name, isTime ? drawTime(random, name) : drawStatic(random, name)] as const
  })
  const dimensions = Object.fromEntries(drawn.map(([name, { definition }]) => [name, definition]))
  return { definition: { type: 'multi', dimensions }, sides: drawn.map(([, { rule }]) => rule) }
}

const TIMES_MAX = 2

export const drawInstant = (random: Random): number =>
  HORIZON.from_ms + Math.floor(random.next() * ((HORIZON.to_ms - HORIZON.from_ms) / HOUR_MS)) * HOUR_MS
