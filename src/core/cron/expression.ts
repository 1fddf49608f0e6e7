// One cron expression, read: five or six fields (seconds first), names, aliases. cron-parser reads and validates each field;
// what it would let pass, guess at or refuse against our rule is dealt with here, so that a fault is a sentence and nothing
// about an expression is random.

import { CronExpressionParser } from 'cron-parser'
import { messageOf } from '../errors.js'

/** Days of the week count from Sunday, 0. */
export type CronExpression = {
  readonly seconds: readonly number[]
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly months: readonly number[]
  readonly days: CronDays
}

/** With both restricted, a day that fits either of them fits. */
export type CronDays = {
  /** null: every day of the month. */
  readonly of_month: { readonly days: readonly number[]; readonly has_last: boolean } | null
  /** null: every day of the week. Entries: of every week, the n-th of the month, the last of the month. */
  readonly of_week: readonly { readonly weekdays: readonly number[]; readonly which: 'every' | 'last' | number }[] | null
}

export type CronFault = { readonly problem: string }

const ALIASES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const FIELDS = ['second', 'minute', 'hour', 'day of the month', 'month', 'day of the week'] as const
type Field = (typeof FIELDS)[number]

/** The least and the most of each field, for ranges that go past the end. Sunday is 0 and 7. */
const BOUNDS: { readonly [Name in Field]: readonly [number, number] } = {
  second: [0, 59],
  minute: [0, 59],
  hour: [0, 23],
  'day of the month': [1, 31],
  month: [1, 12],
  'day of the week': [0, 6],
}

const NAMES: { readonly [Name in Field]?: readonly string[] } = {
  month: ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  'day of the week': ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
}

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
  if (trimmed.startsWith('@') && ALIASES[trimmed] === undefined) {
    return fault(`is no name that is known: use one of ${Object.keys(ALIASES).join(', ')}, or five fields.`)
  }
  const parts = (ALIASES[trimmed] ?? trimmed).split(/\s+/)
  if (parts.length !== 5 && parts.length !== 6) {
    return fault(`has ${parts.length} fields. Give it five (minute, hour, day, month, weekday), or six with seconds first.`)
  }
  const texts = parts.length === 5 ? ['0', ...parts] : parts
  const fields: string[] = []
  for (const [i, name] of FIELDS.entries()) {
    const field = readField(name, texts[i] as string)
    if (typeof field !== 'string') return fault(`has ${JSON.stringify(texts[i])} as its ${name}: ${field.problem}`)
    fields.push(field)
  }
  try {
    const expression = readWhole(fields)
    const never = neverMatches(expression)
    return never === null ? expression : fault(`can never match: ${never}`)
  } catch (error) {
    return fault(`is not understood: ${messageOf(error)}.`)
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
  const parts = (ALIASES[text.trim()] ?? text.trim()).split(/\s+/)
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

/** As cron-parser takes it: without what it draws by chance, and with ranges past the end as lists. */
function readField(name: Field, text: string): string | CronFault {
  if (/h/i.test(withoutNames(name, text))) return { problem: 'H would be drawn by chance. Write the value that is meant.' }
  if (/w/i.test(withoutNames(name, text))) return { problem: 'W is not known. Write the days that are meant.' }
  const terms: string[] = []
  for (const term of text.split(',')) {
    if (term === '') return { problem: 'a value is missing between commas.' }
    const range = /^([^-/#]+)-([^-/#]+)(?:\/(\d+))?$/.exec(term)
    if (range === null) {
      terms.push(name === 'day of the week' ? term.replace(/^L(.+)$/i, '$1L') : term)
      continue
    }
    const [from, to] = [valueOf(name, range[1] as string), valueOf(name, range[2] as string)]
    const isPastEnd = from !== null && to !== null && from > to
    terms.push(isPastEnd ? aroundTheEnd(name, from, to, Number(range[3] ?? 1)) : term)
  }
  return terms.join(',')
}

/** Letters of names are no signs: `thu` has no H in it, nor `wed` a W. */
const withoutNames = (name: Field, text: string): string =>
  NAMES[name] === undefined ? text : text.replace(new RegExp(NAMES[name].filter((each) => each !== '').join('|'), 'gi'), '')

function valueOf(name: Field, text: string): number | null {
  if (/^\d{1,2}$/.test(text)) return Number(text)
  const place = NAMES[name]?.indexOf(text.toLowerCase()) ?? -1
  return place <= 0 && text.toLowerCase() !== 'sun' ? null : place
}

/** `22-2` is 22, 23, 0, 1, 2; with a step it goes on counting past the end. */
function aroundTheEnd(name: Field, from: number, to: number, step: number): string {
  const [min, max] = BOUNDS[name]
  const size = max - min + 1
  const values: number[] = []
  for (let value = from; step > 0 && value <= to + size; value += step) values.push(((value - min) % size) + min)
  // A step of nothing is for cron-parser to refuse.
  return values.length === 0 ? `${from}-${to}/${step}` : values.join(',')
}

function readWhole(fields: readonly string[]): CronExpression {
  const [second, minute, hour, day, month, weekday] = fields as [string, string, string, string, string, string]
  const parse = (weekdays: string) => CronExpressionParser.parse(['0', '0', '0', '*', month, weekdays].join(' ')).fields
  // Without the month: cron-parser has an opinion of its own on days that a month does not have.
  const read = CronExpressionParser.parse([second, minute, hour, day, '*', '*'].join(' ')).fields
  const of_month = isEvery(day) ? null : { days: numbersIn(read.dayOfMonth.values), has_last: read.dayOfMonth.hasLastChar }
  return {
    seconds: numbersIn(read.second.values),
    minutes: numbersIn(read.minute.values),
    hours: numbersIn(read.hour.values),
    months: numbersIn(parse('*').month.values),
    days: { of_month, of_week: isEvery(weekday) ? null : weekdayTerms(weekday).map((term) => readWeekdays(term, parse(term).dayOfWeek)) },
  }
}

const isEvery = (field: string): boolean => field === '*' || field === '?'

/** cron-parser takes `1#2` and `5L` alone, and never in a list with others. */
function weekdayTerms(field: string): readonly string[] {
  const terms = field.split(',')
  if (terms.some((term) => /^L$/i.test(term))) throw new Error('L does not say which day of the week: write 5L for the last Friday')
  const plain = terms.filter((term) => !isSpecial(term))
  return [...(plain.length === 0 ? [] : [plain.join(',')]), ...terms.filter(isSpecial)]
}

const isSpecial = (term: string): boolean => /[#L]/i.test(term.replace(/[a-z]{3}/gi, ''))

function readWeekdays(term: string, { values, nthDay }: { readonly values: readonly (number | string)[]; readonly nthDay: number }) {
  const last = /^(.+)L$/i.exec(term)
  const which = nthDay > 0 ? nthDay : last === null ? ('every' as const) : ('last' as const)
  const weekdays = values.map((value) => Number.parseInt(String(value), 10) % 7)
  return { weekdays: [...new Set(weekdays)].sort((a, b) => a - b), which }
}

/** L of a month is kept apart. */
const numbersIn = (values: readonly (number | string)[]): readonly number[] =>
  [...new Set(values.flatMap((value) => (typeof value === 'number' ? [value] : [])))].sort((a, b) => a - b)
