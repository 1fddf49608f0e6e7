// Windows of every kind against a walk over all minutes, or hours, of some weeks: which start where, what they are called,
// and that whatever is asked of one gives the others.

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parseCron } from '../core/cron/expression.js'
import { openTicks } from '../core/cron/ticks.js'
import { DAY_MS, HOUR_MS } from '../core/time.js'
import { type Calendar, openCalendar } from './calendar.js'
import { parseDefinition } from './definition.js'

function calendarOf(fields: object): Calendar {
  const parsed = parseDefinition(fields)
  if ('problem' in parsed || !('cron' in parsed)) throw new Error(JSON.stringify(parsed))
  return openCalendar(parsed)
}

const ZONES = [
  'UTC',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'America/Nuuk',
  'Asia/Beirut',
  'Asia/Kolkata',
  'Pacific/Apia',
]
const at = (text: string): number => Date.parse(text)

/** Every hour of the wall clock that is shown, in order, as `sv-SE` writes it. */
function hoursShown(zone: string, from_ms: number, days: number): { readonly at_ms: number; readonly wall: string }[] {
  const formatter = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
  const shown = []
  for (let at_ms = from_ms; at_ms < from_ms + days * DAY_MS; at_ms += HOUR_MS / 4) shown.push({ at_ms, wall: formatter.format(at_ms) })
  return shown.filter(({ wall }) => wall.endsWith(':00'))
}

describe('hours against a walk', () => {
  test.each(
    ZONES.flatMap((zone) =>
      ['2018-02-16', '2024-03-08', '2024-03-29', '2024-04-05', '2024-10-25', '2024-11-01', '2011-12-28'].map((day) => [zone, day]),
    ),
  )('%s from %s', (timezone = '', day = '') => {
    const shown = hoursShown(timezone, at(`${day}T00:00:00Z`), 4)
    const calendar = calendarOf({ type: 'hourly', start_date: new Date(shown[0]?.at_ms ?? 0).toISOString(), timezone })
    const seen = new Set<string>()
    const keys = shown.map(({ at_ms, wall }) => {
      const plain = wall.replace(' ', '-')
      const isSecond = seen.has(plain)
      seen.add(plain)
      if (!isSecond) return plain
      const minutes = Math.round((at(`${wall.replace(' ', 'T')}:00Z`) - at_ms) / 60_000)
      const two = (number: number) => String(number).padStart(2, '0')
      return `${plain}${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}${two(Math.abs(minutes) % 60)}`
    })
    expect(keys.map((_, index) => calendar.keyAt(index))).toEqual(keys)
    for (const [index, { at_ms }] of shown.entries()) {
      expect(calendar.windowAt(index)?.start_ms).toBe(at_ms)
      expect(calendar.indexOf(keys[index] as string)).toEqual({ index })
      expect([calendar.countAt(at_ms), calendar.indexAt(at_ms), calendar.indexAt(at_ms - 1)]).toEqual([
        index,
        index,
        index === 0 ? null : index - 1,
      ])
    }
  })
})

const CRONS = [
  '0 0,11 * * *',
  '*/20 * * * *',
  '30 2 * * *',
  '0 */4 * * 1-5',
  '15,45 0-3 * * *',
  '0 0 1 * *',
  '45 23 * * *',
  '30 1 L * *',
  '* * * * *',
]
const LEFT_OUT = ['0 0 * * 6,0', '* 1-2 * * *', '30 2 * * 3', '45 23 13 * *', '0 0 1 1 *']
const definition = fc.record({
  type: fc.constant('cron' as const),
  cron_schedule: fc.constantFrom(...CRONS),
  timezone: fc.constantFrom(...ZONES),
  start: fc.integer({ min: 15_000, max: 20_500 }).map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10)),
  exclusions: fc.subarray(LEFT_OUT, { maxLength: 3 }),
  end_offset: fc.integer({ min: -2, max: 2 }),
})
const possible = definition.filter((fields) => !('problem' in parseDefinition(fields)))

const ticksOf = (cron: string, zone: string) => {
  const parsed = parseCron(cron)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return openTicks(parsed, zone)
}

/** What is left of the instants, one by one. */
function walk(
  fields: { readonly cron_schedule: string; readonly timezone: string; readonly exclusions: readonly string[] },
  from_ms: number,
  to_ms: number,
) {
  const others = fields.exclusions.map((cron) => ticksOf(cron, fields.timezone))
  const found: number[] = []
  ticksOf(fields.cron_schedule, fields.timezone).walk(from_ms, to_ms, (at_ms) => {
    if (others.every((other) => other.count(at_ms, at_ms + 1) === 0)) found.push(at_ms)
    return true
  })
  return found
}

describe('windows of a cron', () => {
  test('are those that a walk finds, whatever is left out, and each is found by its number, its key and its time', () => {
    fc.assert(
      fc.property(possible, fc.integer({ min: 1, max: 40 }), (fields, days) => {
        const calendar = calendarOf(fields)
        const first = calendar.windowAt(0)?.start_ms as number
        const to_ms = first + days * DAY_MS
        const starts = walk(fields, first, to_ms)
        const step = Math.max(1, Math.floor(starts.length / 25))
        const plain = calendarOf({ ...fields, end_offset: 0 })
        expect(plain.overlapping({ start_ms: first, end_ms: to_ms })).toEqual({ first: 0, end: starts.length })
        for (let index = 0; index < starts.length; index += step) {
          const window = calendar.windowAt(index)
          const key = calendar.keyAt(index) as string
          expect(window?.start_ms).toBe(starts[index])
          expect(calendar.indexOf(key)).toEqual({ index })
          expect(calendar.indexAt((window?.end_ms ?? 0) - 1)).toBe(index)
          expect(plain.countAt(window?.end_ms ?? 0)).toBe(index + 1)
          expect(calendar.countAt(window?.end_ms ?? 0)).toBe(Math.max(0, index + 1 + fields.end_offset))
          expect(calendar.at(window?.end_ms ?? 0).total).toBe(Math.max(0, index + 1 + fields.end_offset))
          if (fields.exclusions.length === 0) expect(calendar.windowAt(index + 1)?.start_ms).toBe(window?.end_ms)
        }
        expect(new Set(starts.slice(0, 500).map((_, index) => calendar.keyAt(index))).size).toBe(Math.min(500, starts.length))
      }),
      { numRuns: 60 },
    )
  })

  test('of a hundred years of minutes are found without walking', () => {
    const minutes = calendarOf({ type: 'cron', start: '1970-01-01', cron_schedule: '* * * * *', timezone: 'America/New_York' })
    const key = minutes.keyAt(50_000_000) as string
    expect(minutes.indexOf(key)).toEqual({ index: 50_000_000 })
    expect(key).toBe('2065-01-24-05:20')
  })
})

describe('keys where the clocks change', () => {
  const keysOf = (fields: object, count: number) => Array.from({ length: count }, (_, index) => calendarOf(fields).keyAt(index))
  const NEW_YORK = { type: 'cron', timezone: 'America/New_York' }

  test('that show the whole clock are what it shows, shorter ones name the day that is meant', () => {
    expect(keysOf({ ...NEW_YORK, start: '2024-03-09', cron_schedule: '30 2 * * *', fmt: '%Y-%m-%d-%H:%M' }, 3)).toEqual([
      '2024-03-09-02:30',
      '2024-03-10-03:00',
      '2024-03-11-02:30',
    ])
    expect(keysOf({ type: 'daily', start_date: '2024-03-29', timezone: 'America/Nuuk', hour_offset: 23, minute_offset: 45 }, 3)).toEqual([
      '2024-03-29',
      '2024-03-30',
      '2024-03-31',
    ])
  })

  test('carry an offset only where both passes are partitions', () => {
    expect(keysOf({ ...NEW_YORK, start: '2024-11-02', cron_schedule: '30 1 * * *', fmt: '%Y-%m-%d-%H:%M' }, 2)).toEqual([
      '2024-11-02-01:30',
      '2024-11-03-01:30',
    ])
    expect(keysOf({ ...NEW_YORK, start: '2024-11-03-01:00-0500', cron_schedule: '0 * * * *' }, 2)).toEqual([
      '2024-11-03-01:00-0500',
      '2024-11-03-02:00',
    ])
  })

  test('that are left out are named as keys, dates or times', () => {
    const hours = { type: 'hourly', start_date: '2024-11-03', end_date: '2024-11-03-04:00', timezone: 'America/New_York' }
    for (const exclusion of ['2024-11-03-01:00-0500', '2024-11-03T06:00:00Z', '2024-11-03T01:00:00-05:00']) {
      expect(keysOf({ ...hours, exclusions: [exclusion] }, 4)).toEqual([
        '2024-11-03-00:00',
        '2024-11-03-01:00',
        '2024-11-03-02:00',
        '2024-11-03-03:00',
      ])
    }
    expect(keysOf({ ...hours, exclusions: ['2024-11-03'] }, 1)).toEqual(['2024-11-03-01:00'])
    expect(
      keysOf({ type: 'daily', start_date: '01.03.2024', fmt: '%d.%m.%Y', hour_offset: 6, exclusions: ['2024-03-02', '03.03.2024'] }, 2),
    ).toEqual(['01.03.2024', '04.03.2024'])
    expect(keysOf({ ...NEW_YORK, start: '2024-03-01', cron_schedule: '0 11 * * *', exclusions: ['2024-03-02'] }, 2)).toEqual([
      '2024-03-01',
      '2024-03-03',
    ])
  })

  test('are refused with the nearer neighbour', () => {
    const hours = calendarOf({ type: 'hourly', start_date: '2024-03-10', timezone: 'America/New_York' })
    expect(hours.indexOf('2024-03-10-04:20')).toMatchObject({ nearest: '2024-03-10-04:00' })
    expect(hours.indexOf('2024-03-10-04:40')).toMatchObject({ nearest: '2024-03-10-05:00' })
    expect(hours.indexOf('2024-03-10-02:00')).toMatchObject({ nearest: '2024-03-10-03:00' })
    expect(hours.indexOf('2024-03-10-04:00-0400')).toMatchObject({ nearest: '2024-03-10-04:00' })
    expect(hours.indexOf('1999-01-01-00:00')).toMatchObject({ nearest: '2024-03-10-00:00' })
    expect(hours.indexOf('9999-01-01-00:00')).toMatchObject({ nearest: '2199-12-31-18:00' })
    expect(hours.at(at('2024-03-11T00:00:00-04:00')).indexOf('2024-03-12-00:00')).toMatchObject({ nearest: '2024-03-10-23:00' })
  })
})
