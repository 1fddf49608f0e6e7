// Expressions drawn by chance, each with what it means: the text is for the engine, the meaning for the rule.

import type { Random } from '../fixtures/random.js'
import type { CronMeaning } from './cron-rule.js'

export type GeneratedCron = { readonly text: string; readonly meaning: CronMeaning }

type Field = { readonly text: string; readonly values: ReadonlySet<number> }
type Bounds = { readonly min: number; readonly max: number; readonly names?: readonly string[] }

const MONTHS = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const NAMED: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1',
  '@annually': '0 0 1 1',
  '@monthly': '0 0 1 *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * *',
  '@midnight': '0 0 * *',
  '@hourly': '0 * * *',
}

/** `hours` are those in which the clocks of the zone change: half of all expressions name some of them. */
export function generateCron(random: Random, hours: readonly number[], has_seconds: boolean): GeneratedCron {
  if (!has_seconds && random.isTrue(0.03)) return namedCron(random)
  const seconds = has_seconds ? fieldOf(random, { min: 0, max: 59 }) : null
  const minutes = random.isTrue(0.4) ? single(random.pick([0, 0, 15, 30, 45, 59])) : fieldOf(random, { min: 0, max: 59 })
  const hour = hourField(random, hours)
  const months = random.isTrue(0.7) ? every(1, 12) : fieldOf(random, { min: 1, max: 12, names: MONTHS })
  const day = random.isTrue(0.6) ? { text: random.pick(['*', '*', '?']), day_of_month: null } : dayField(random)
  const weekday = random.isTrue(0.6) ? { text: '*', day_of_week: null } : weekdayField(random)
  const texts = [...(seconds === null ? [] : [seconds.text]), minutes.text, hour.text, day.text, months.text, weekday.text]
  return {
    text: random.isTrue(0.05) ? ` ${texts.join('  ')}\t` : texts.join(' '),
    meaning: {
      seconds: seconds?.values ?? null,
      minutes: minutes.values,
      hours: hour.values,
      months: months.values,
      day_of_month: day.day_of_month,
      day_of_week: weekday.day_of_week,
    },
  }
}

function namedCron(random: Random): GeneratedCron {
  const text = random.pick(Object.keys(NAMED))
  const [minute, hour, day, month, weekday] = (NAMED[text] as string).split(' ') as [string, string, string, string, string?]
  const values = (field: string, min: number, max: number): ReadonlySet<number> =>
    (field === '*' ? every(min, max) : single(Number(field))).values
  return {
    text,
    meaning: {
      seconds: null,
      minutes: values(minute, 0, 59),
      hours: values(hour, 0, 23),
      months: values(month, 1, 12),
      day_of_month: day === '*' ? null : (of_month) => of_month === Number(day),
      day_of_week: weekday === undefined ? null : (of_week) => of_week === Number(weekday),
    },
  }
}

const single = (value: number): Field => ({ text: String(value), values: new Set([value]) })
const every = (min: number, max: number): Field => ({ text: '*', values: new Set(range(min, max, 1)) })
const range = (from: number, to: number, step: number): readonly number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step)

function hourField(random: Random, hours: readonly number[]): Field {
  const near = (): number => (random.pick(hours) + random.below(3) + 23) % 24
  const drawn = random.below(8)
  if (drawn === 0) return every(0, 23)
  if (drawn === 1) return { text: '0-23', values: every(0, 23).values }
  if (hours.length === 0 || drawn > 5) return fieldOf(random, { min: 0, max: 23 })
  if (drawn < 4) return single(near())
  const values = [near(), near(), random.below(24)]
  return { text: values.join(','), values: new Set(values) }
}

/** One to three terms, of all forms that there are. */
function fieldOf(random: Random, bounds: Bounds): Field {
  if (random.isTrue(0.15)) return every(bounds.min, bounds.max)
  const terms = range(1, random.pick([1, 1, 2, 3]), 1).map(() => termOf(random, bounds))
  return { text: terms.map(({ text }) => text).join(','), values: new Set(terms.flatMap(({ values }) => [...values])) }
}

function termOf(random: Random, { min, max, names }: Bounds): Field {
  const [a, b] = [min + random.below(max - min + 1), min + random.below(max - min + 1)]
  const write = (value: number): string => {
    const name = names?.[value] ?? ''
    if (name === '' || random.isTrue(0.5)) return String(value)
    return random.pick([name, name.toUpperCase(), `${name.charAt(0).toUpperCase()}${name.slice(1)}`])
  }
  const step = 1 + random.below(Math.max(2, Math.floor((max - min) / 2)))
  const form = random.below(5)
  if (form < 2 || a === b) return { text: write(a), values: new Set([a]) }
  if (form === 2) return { text: `*/${step}`, values: new Set(range(min, max, step)) }
  const text = `${write(a)}-${write(b)}`
  // From the larger to the smaller it goes on past the end.
  const around = (value: number): number => min + ((value - min) % (max - min + 1))
  const to = a < b ? b : b + (max - min + 1)
  if (form === 3) return { text, values: new Set(range(a, to, 1).map(around)) }
  return { text: `${text}/${step}`, values: new Set(range(a, to, step).map(around)) }
}

function dayField(random: Random): { readonly text: string; readonly day_of_month: NonNullable<CronMeaning['day_of_month']> } {
  if (random.isTrue(0.2)) return { text: 'L', day_of_month: (day, length) => day === length }
  const has_last = random.isTrue(0.1)
  const bounds = { min: 1, max: 31 }
  const { text, values } = has_last
    ? single(1 + random.below(31))
    : random.isTrue(0.2)
      ? single(28 + random.below(4))
      : fieldOf(random, bounds)
  const day_of_month = (day: number, length: number): boolean => values.has(day) || (has_last && day === length)
  // A star alone is no restriction: `1-31` is the same days, and one.
  return { text: has_last ? `${text},L` : text === '*' ? '1-31' : text, day_of_month }
}

function weekdayField(random: Random): { readonly text: string; readonly day_of_week: NonNullable<CronMeaning['day_of_week']> } {
  const terms = range(1, random.pick([1, 1, 2]), 1).map(() => weekdayTerm(random))
  return {
    text: terms.map(({ text }) => text).join(','),
    day_of_week: (weekday, day, length) => terms.some(({ day_of_week }) => day_of_week(weekday, day, length)),
  }
}

function weekdayTerm(random: Random): { readonly text: string; readonly day_of_week: NonNullable<CronMeaning['day_of_week']> } {
  const weekday = random.below(7)
  const name = random.pick([WEEKDAYS[weekday] as string, String(weekday), (WEEKDAYS[weekday] as string).toUpperCase()])
  const form = random.below(8)
  if (form === 0) {
    const which = 1 + random.below(5)
    return { text: `${name}#${which}`, day_of_week: (of_week, day) => of_week === weekday && Math.ceil(day / 7) === which }
  }
  if (form === 1) return { text: `${name}L`, day_of_week: (of_week, day, length) => of_week === weekday && day + 7 > length }
  if (form === 2) return { text: '7', day_of_week: (of_week) => of_week === 0 }
  if (form === 3) return { text: `${weekday}-7`, day_of_week: (of_week) => of_week >= weekday || of_week === 0 }
  const { text, values } = termOf(random, { min: 0, max: 6, names: WEEKDAYS })
  return { text: text === '*' ? '0-6' : text, day_of_week: (of_week) => values.has(of_week) }
}
