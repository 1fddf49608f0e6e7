// One cron expression, read: five or six fields (seconds first), names, aliases. cron-parser reads and validates each field;
// what it would let pass, guess at or refuse against our rule is dealt with here, so that a fault is a sentence and nothing
// about an expression is random.

import { CronExpressionParser } from 'cron-parser'
import { BOUNDS, type CronFault, FIELDS, type Field, partsOf } from './field.js'
import { unreadSentence } from './unread.js'

/** Days of the week count from Sunday, 0. */
export type CronExpression = {
  readonly seconds: readonly number[]
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly months: readonly number[]
  readonly days: CronDays
}

/** With both restricted, a day that fits either of them fits. */
type CronDays = {
  /** null: every day of the month. */
  readonly of_month: { readonly days: readonly number[]; readonly has_last: boolean } | null
  /** null: every day of the week. Entries: of every week, the n-th of the month, the last of the month. */
  readonly of_week: readonly { readonly weekdays: readonly number[]; readonly which: 'every' | 'last' | number }[] | null
}

export type { CronFault } from './field.js'

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

/** What stands for the fields, in any case as other names are; undefined: it is none. */
const aliasOf = (trimmed: string): string | undefined => ALIASES.get(trimmed.toLowerCase())

const MONTH_NAMES = [
  '',
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
/** Of leap years. */
const MONTH_DAYS_MAX = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** As many as list every value of every field. */
const TEXT_CHARACTERS_MAX = 1_000

export function parseCron(text: string): CronExpression | CronFault {
  const fault = (problem: string): CronFault => ({ problem: `The cron expression ${JSON.stringify(text)} ${problem}` })
  if (text.length > TEXT_CHARACTERS_MAX) return { problem: `The cron expression has more than ${TEXT_CHARACTERS_MAX} characters.` }
  const trimmed = text.trim()
  if (trimmed === '') return fault('is empty. Give it five fields, such as "0 6 * * *" for six every morning.')
  if (trimmed.startsWith('@') && aliasOf(trimmed) === undefined) {
    return fault(`is no name that is known: use one of ${[...ALIASES.keys()].join(', ')}, or five fields.`)
  }
  const parts = (aliasOf(trimmed) ?? trimmed).split(/\s+/)
  if (parts.length !== 5 && parts.length !== 6) {
    return fault(`has ${parts.length} fields. Give it five (minute, hour, day, month, weekday), or six with seconds first.`)
  }
  const texts = parts.length === 5 ? ['0', ...parts] : parts
  const fields: (readonly string[])[] = []
  for (const [i, name] of FIELDS.entries()) {
    const field = partsOf(name, texts[i] as string)
    if ('problem' in field) return fault(`has ${JSON.stringify(texts[i])} as its ${name}: ${field.problem}`)
    fields.push(field)
  }
  try {
    const expression = readWhole(fields)
    const never = neverMatches(expression)
    return never === null ? expression : fault(`can never match: ${never}`)
  } catch {
    // What cron-parser says names neither the field nor the cure.
    const fieldTexts = FIELDS.map((name, i) => ({ name, text: texts[i] as string })).slice(FIELDS.length - parts.length)
    return fault(`is not understood: ${unreadSentence(fieldTexts, isReadAlone)}`)
  }
}

function isReadAlone(name: Field, term: string): boolean {
  const parts = partsOf(name, term)
  if ('problem' in parts) return false
  try {
    readWhole(FIELDS.map((each) => (each === name ? parts : ['*'])))
    return true
  } catch {
    return false
  }
}

/** Days of the week come in every month, and so do days up to the 29th in some year. */
function neverMatches({ months, days: { of_month, of_week } }: CronExpression): string | null {
  if (of_month === null || of_week !== null || of_month.has_last) return null
  const first = Math.min(...of_month.days)
  if (months.some((month) => first <= (MONTH_DAYS_MAX[month] as number))) return null
  const names = months.map((month) => MONTH_NAMES[month])
  return `${names.join(' and ')} ${names.length === 1 ? 'has' : 'have'} no day ${first}. For the last day of a month write L.`
}

/** What a definition should be warned of: it means something else than it seems to. */
export function cronWarning(text: string): string | undefined {
  const parts = (aliasOf(text.trim()) ?? text.trim()).split(/\s+/)
  const names = parts.length === 5 ? FIELDS.slice(1) : FIELDS
  for (const [i, name] of names.entries()) {
    const [min, max] = BOUNDS[name]
    for (const term of (parts[i] ?? '').split(',')) {
      const step = /^[*?]\/(\d+)$/.exec(term)?.[1]
      if (step !== undefined && Number(step) > max - min) {
        return `${JSON.stringify(term)} as the ${name} of ${JSON.stringify(text)} is ${min} alone: steps start anew with each ${WHOLE[name]}.`
      }
    }
  }
  return undefined
}

const WHOLE: { readonly [Name in Field]: string } = {
  second: 'minute',
  minute: 'hour',
  hour: 'day',
  'day of the month': 'month',
  month: 'year',
  'day of the week': 'week',
}

type Values = readonly (number | string)[]
type Read = {
  readonly seconds: Values
  readonly minutes: Values
  readonly hours: Values
  readonly months: Values
  readonly days: Values
  readonly has_last: boolean
  readonly weekdays: Values
  readonly which: number
}

/** The first parts of all fields are read at once, then the second ones: a field that has no more is read again. */
function readWhole(fields: readonly (readonly string[])[]): CronExpression {
  const rounds = Math.max(...fields.map((parts) => parts.length))
  const read = Array.from({ length: rounds }, (_, round) => readRound(fields.map((parts) => parts[round] ?? (parts[0] as string))))
  const numbersOf = (valuesIn: (round: Read) => Values): readonly number[] => numbersIn(read.flatMap(valuesIn))
  const [days, weekdays] = [fields[3] as readonly string[], fields[5] as readonly string[]]
  return {
    seconds: numbersOf((round) => round.seconds),
    minutes: numbersOf((round) => round.minutes),
    hours: numbersOf((round) => round.hours),
    months: numbersOf((round) => round.months),
    days: {
      of_month: isEvery(days) ? null : { days: numbersOf((round) => round.days), has_last: read.some(({ has_last }) => has_last) },
      of_week: isEvery(weekdays) ? null : weekdays.map((part, round) => readWeekdays(part, read[round] as Read)),
    },
  }
}

/** Days and months apart: cron-parser has an opinion of its own on days that a month does not have. */
function readRound([second, minute, hour, day, month, weekday]: readonly string[]): Read {
  const read = CronExpressionParser.parse([second, minute, hour, day, '*', weekday].join(' ')).fields
  const months = month === '*' ? read : CronExpressionParser.parse(['0', '0', '0', '*', month, '*'].join(' ')).fields
  return {
    seconds: read.second.values,
    minutes: read.minute.values,
    hours: read.hour.values,
    months: months.month.values,
    days: read.dayOfMonth.values,
    has_last: read.dayOfMonth.hasLastChar,
    weekdays: read.dayOfWeek.values,
    which: read.dayOfWeek.nthDay,
  }
}

const isEvery = (parts: readonly string[]): boolean => parts.length === 1 && (parts[0] === '*' || parts[0] === '?')

function readWeekdays(part: string, { weekdays, which }: Read) {
  const last = /^(.+)L$/i.exec(part)
  const numbers = weekdays.map((value) => Number.parseInt(String(value), 10) % 7)
  return {
    weekdays: [...new Set(numbers)].sort((a, b) => a - b),
    which: which > 0 ? which : last === null ? ('every' as const) : ('last' as const),
  }
}

/** L of a month is kept apart. */
const numbersIn = (values: readonly (number | string)[]): readonly number[] =>
  [...new Set(values.flatMap((value) => (typeof value === 'number' ? [value] : [])))].sort((a, b) => a - b)
