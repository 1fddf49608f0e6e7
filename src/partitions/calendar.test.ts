import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.js'
import { type Calendar, openCalendar } from './calendar.js'
import { parseDefinition } from './definition.js'
import type { Window } from './key-order.js'

function calendarOf(fields: object): Calendar {
  const parsed = parseDefinition({ type: 'daily', ...fields })
  if ('problem' in parsed || !('cron' in parsed)) throw new Error(JSON.stringify(parsed))
  return openCalendar(parsed)
}

const at = (text: string): number => Date.parse(text)
const windowOfKey = (calendar: Calendar, key: string): Window | null => {
  const found = calendar.indexOf(key)
  return 'problem' in found ? null : calendar.windowAt(found.index)
}

/** Zones with changes at midnight, of half an hour, of a whole day, and two plain ones; dates around those changes. */
const CHANGES: readonly (readonly [zone: string, date: string])[] = [
  ['UTC', '2024-02-29'],
  ['America/New_York', '2024-03-10'],
  ['America/New_York', '2024-11-03'],
  ['America/Sao_Paulo', '2018-11-04'],
  ['America/Sao_Paulo', '2018-02-18'],
  ['America/Havana', '2024-03-10'],
  ['America/Havana', '2024-11-03'],
  ['Asia/Beirut', '2024-03-31'],
  ['Asia/Beirut', '2024-10-27'],
  ['Africa/Cairo', '2024-04-26'],
  ['Africa/Cairo', '2024-11-01'],
  ['America/Nuuk', '2024-03-31'],
  ['Australia/Lord_Howe', '2024-04-07'],
  ['Australia/Lord_Howe', '2024-10-06'],
  ['Pacific/Apia', '2011-12-30'],
  ['Pacific/Kiritimati', '1994-12-31'],
]
const TIMES = [0, 15, 60, 150, 1_425]

/** Looks at the wall clock every quarter of an hour. A day begins when it shows the time for the last time; or, where it
 *  never does, at the first look that shows more; a date that is not seen at all has no beginning. */
function walk(zone: string, date: string, minute_of_day: number): Map<string, number> {
  const formatter = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
  const middle_ms = at(`${date}T00:00:00Z`)
  const looks: { at_ms: number; wall: string }[] = []
  for (let at_ms = middle_ms - 6 * DAY_MS; at_ms < middle_ms + 6 * DAY_MS; at_ms += 15 * MINUTE_MS) {
    looks.push({ at_ms, wall: formatter.format(at_ms) })
  }
  const time = new Date(minute_of_day * MINUTE_MS).toISOString().slice(11, 16)
  const starts = new Map<string, number>()
  for (const day of [...new Set(looks.map((look) => look.wall.slice(0, 10)))].slice(1, -1)) {
    const shown = looks.filter((look) => look.wall === `${day} ${time}`).at(-1)
    const later = looks.find((look) => look.wall > `${day} ${time}`)
    starts.set(day, (shown ?? later)?.at_ms ?? Number.NaN)
  }
  return starts
}

describe('against a walk through the wall clock', () => {
  test.each(CHANGES)('%s around %s', (timezone, date) => {
    for (const minute_of_day of TIMES) {
      const starts = [...walk(timezone, date, minute_of_day)]
      const first = (starts[0] as [string, number])[0]
      const fields = {
        start_date: `${first}T00:00:00`,
        timezone,
        hour_offset: Math.floor(minute_of_day / 60),
        minute_offset: minute_of_day % 60,
      }
      const calendar = calendarOf(fields)
      expect(starts.map((_, i) => calendar.keyAt(i))).toEqual(starts.map(([day]) => day))
      expect(starts.map((_, i) => calendar.windowAt(i)?.start_ms)).toEqual(starts.map(([, start_ms]) => start_ms))
      for (const [i, [, start_ms]] of starts.entries()) {
        expect(calendar.countAt(start_ms)).toBe(i)
        expect(calendar.countAt(start_ms - 1)).toBe(Math.max(0, i - 1))
        expect(calendar.indexAt(start_ms)).toBe(i)
        expect(calendar.indexAt(start_ms - 1)).toBe(i === 0 ? null : i - 1)
      }
    }
  })
})

describe('properties', () => {
  const zone = fc.constantFrom(...CHANGES.map(([name]) => name), 'Europe/Dublin', 'Africa/Casablanca', 'Asia/Kathmandu', 'America/St_Johns')
  const day = fc.integer({ min: 0, max: 40_000 }).map((days) => new Date(days * DAY_MS).toISOString().slice(0, 10))
  const definition = fc.record({
    timezone: zone,
    start_date: day,
    hour_offset: fc.integer({ min: 0, max: 23 }),
    minute_offset: fc.integer({ min: 0, max: 59 }),
    exclusions: fc.array(day, { maxLength: 40 }),
  })

  test('the k-th key has the index k, and its window is where its sort key says', () => {
    fc.assert(
      fc.property(definition, fc.nat(8_000), (fields, k) => {
        const calendar = calendarOf(fields)
        const key = calendar.keyAt(k) as string
        const window = calendar.windowAt(k) as Window
        expect(fields.exclusions).not.toContain(key)
        expect(calendar.indexOf(key)).toEqual({ index: k })
        expect(calendar.indexAt(window.start_ms)).toBe(k)
        expect(calendar.indexAt(window.end_ms - 1)).toBe(k)
        expect(calendar.countAt(window.end_ms)).toBe(k + 1)
        expect(calendar.countAt(window.end_ms - 1)).toBe(k)
        expect(calendar.entryAt(k)?.sort_key).toBe(new Date(window.start_ms).toISOString())
      }),
    )
  })

  test('windows rise, touch where nothing is left out, and have 22 to 26 hours', () => {
    fc.assert(
      fc.property(definition, fc.nat(8_000), (fields, k) => {
        const calendar = calendarOf({ ...fields, exclusions: [] })
        for (let i = k; i < k + 10; i++) {
          const window = calendar.windowAt(i) as Window
          const hours = (window.end_ms - window.start_ms) / HOUR_MS
          expect(hours).toBeGreaterThanOrEqual(22)
          expect(hours).toBeLessThanOrEqual(26)
          expect(calendar.windowAt(i + 1)?.start_ms).toBe(window.end_ms)
          expect((calendar.keyAt(i + 1) as string) > (calendar.keyAt(i) as string)).toBe(true)
        }
      }),
    )
  })
})

describe('bounds', () => {
  test('end_offset shifts what exists now, and never past the end', () => {
    const fields = { start_date: '2023-01-01', end_date: '2023-01-11' }
    const now = at('2023-01-04T12:00:00Z')
    expect([-4, -3, -1, 0, 1, 7, 99].map((end_offset) => calendarOf({ ...fields, end_offset }).countAt(now))).toEqual([
      0, 0, 2, 3, 4, 10, 10,
    ])
    const after = at('2023-03-01T00:00:00Z')
    expect([-4, 0, 4].map((end_offset) => calendarOf({ ...fields, end_offset }).countAt(after))).toEqual([6, 10, 10])
    const before = at('2022-12-30T00:00:00Z')
    expect([0, 2, 3, 5].map((end_offset) => calendarOf({ ...fields, end_offset }).countAt(before))).toEqual([0, 0, 1, 3])
  })

  test('an end_offset below zero holds back the last ones before an end for good', () => {
    const fields = { start_date: '2023-01-15', end_date: '2023-02-15', end_offset: -10 }
    const calendar = calendarOf(fields)
    const after = calendar.at(at('2026-11-20T00:00:00Z'))
    expect([calendar.total, calendar.size(), calendar.keyAt(20), calendar.keyAt(21), after.total]).toEqual([21, 21, '2023-02-04', null, 21])
    expect(calendar.description).toBe('the days from "2023-01-15" to "2023-02-04" in UTC')
    expect(calendar.indexOf('2023-02-05')).toEqual({
      problem: `"2023-02-05" is none of ${calendar.description}. The nearest key is "2023-02-04".`,
      nearest: '2023-02-04',
    })
    expect([calendar.entryAt(21), calendar.windowAt(21), calendar.indexAt(at('2023-02-05T12:00:00Z'))]).toEqual([null, null, null])
    // Neither an instant nor an offset ahead of it brings them back, and those that wait for their turn come with time.
    expect(calendar.at(at('2026-11-20T00:00:00Z'), 5).total).toBe(21)
    expect([calendar.at(at('2023-01-31T00:00:00Z')).total, calendar.at(at('2023-01-31T00:00:00Z'), 2).total]).toEqual([6, 8])
    const none = calendarOf({ ...fields, end_offset: -31 })
    expect([none.total, none.description]).toEqual([0, 'no day at all'])
    expect(none.indexOf('2023-01-15')).toMatchObject({ problem: expect.stringContaining('its end_offset holds back all that end before') })
    // Without an end each of them comes with time.
    expect(calendarOf({ start_date: '2023-01-15', end_offset: -10 }).keyAt(1_000)).toBe('2025-10-11')
  })

  test('what exists at an instant is told as such, and an offset ahead of it adds windows', () => {
    const calendar = calendarOf({ start_date: '2023-01-15' })
    const existing = calendar.at(at('2023-01-18T12:00:00Z'))
    expect([existing.total, existing.is_endless, existing.description]).toEqual([
      3,
      true,
      'the days from "2023-01-15" to "2023-01-17" in UTC',
    ])
    expect(existing.indexOf('2023-01-18')).toMatchObject({ nearest: '2023-01-17' })
    expect(calendar.at(at('2023-01-18T12:00:00Z'), 1).keyAt(3)).toBe('2023-01-18')
    const early = calendar.at(at('2023-01-10T12:00:00Z'))
    expect([early.total, early.description, calendar.at(at('2023-01-10T12:00:00Z'), 1).total]).toEqual([0, 'no day yet', 0])
    expect(early.indexOf('2023-01-15')).toMatchObject({
      problem: '"2023-01-15" is no key: there is none yet. The definition begins with "2023-01-15".',
    })
  })

  test('the end may be in the middle of a window, which is then none', () => {
    expect(calendarOf({ start_date: '2023-01-01', end_date: '2023-01-03T12:00:00' }).total).toBe(2)
    expect(calendarOf({ start_date: '2023-01-01T00:00:01', end_date: '2023-01-03' }).total).toBe(1)
    expect(calendarOf({ start_date: '2023-01-01' }).total).toBeNull()
    // Far ends are none: nothing ends after 2199.
    const forever = calendarOf({ start_date: '2023-01-01', end_date: '9999-12-31', timezone: 'Europe/Berlin' })
    expect([forever.total, forever.keyAt(forever.size() - 1), forever.keyAt(forever.size())]).toEqual([null, '2199-12-31', null])
  })

  test('an excluded day belongs to nobody, and its neighbours keep their length', () => {
    const calendar = calendarOf({ start_date: '2021-06-01', exclusions: ['2021-06-04', '2021-06-01', '2021-05-01'] })
    expect([0, 1, 2].map((i) => calendar.keyAt(i))).toEqual(['2021-06-02', '2021-06-03', '2021-06-05'])
    expect(calendar.indexAt(at('2021-06-04T12:00:00Z'))).toBeNull()
    expect(calendar.windowAt(1)?.end_ms).toBe(at('2021-06-04T00:00:00Z'))
  })

  test('a format with more in it is read back', () => {
    const calendar = calendarOf({
      start_date: '01.03.2024 00:00:00+0100',
      timezone: 'Europe/Berlin',
      fmt: '%d.%m.%Y %H:%M:%S%z',
      hour_offset: 2,
      minute_offset: 30,
    })
    expect(calendar.keyAt(0)).toBe('01.03.2024 02:30:00+0100')
    expect(calendar.keyAt(40)).toBe('10.04.2024 02:30:00+0200')
    expect(calendar.indexOf('10.04.2024 02:30:00+0200')).toEqual({ index: 40 })
    expect(calendar.indexOf('10.04.2024 02:30:00+0100')).toHaveProperty('problem')
  })

  test('the days of the changes, in the words of the contract', () => {
    const apia = calendarOf({ start_date: '2011-12-01', timezone: 'Pacific/Apia' })
    expect(windowOfKey(apia, '2011-12-29')).toEqual({ start_ms: at('2011-12-29T00:00:00-10:00'), end_ms: at('2011-12-31T00:00:00+14:00') })
    expect(windowOfKey(apia, '2011-12-30')).toBeNull()
    const newYork = calendarOf({ start_date: '2024-01-01', timezone: 'America/New_York' })
    expect(windowOfKey(newYork, '2024-03-10')).toEqual({ start_ms: at('2024-03-10T05:00:00Z'), end_ms: at('2024-03-11T04:00:00Z') })
    expect(windowOfKey(newYork, '2024-11-03')).toEqual({ start_ms: at('2024-11-03T04:00:00Z'), end_ms: at('2024-11-04T05:00:00Z') })
  })
})
