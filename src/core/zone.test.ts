import { describe, expect, test } from '@jest/globals'
import { DAY_MS, HOUR_MS, MINUTE_MS } from './time.js'
import { fixedInstantOf, instantsOf, isZone, localAt, offsetAt, offsetSpans, skippedDays } from './zone.js'

const at = (text: string): number => Date.parse(text)
const wall = (text: string): number => Date.parse(`${text}Z`)

describe('spans of a year', () => {
  test('UTC is one span', () => {
    expect(offsetSpans('UTC', 2025)).toEqual([{ from_ms: at('2025-01-01T00:00:00Z'), to_ms: at('2026-01-01T00:00:00Z'), offset_ms: 0 }])
  })

  test.each([
    ['America/New_York', 2025, ['2025-03-09T07:00:00Z', '2025-11-02T06:00:00Z'], [-5, -4, -5]],
    ['Australia/Lord_Howe', 2025, ['2025-04-05T15:00:00Z', '2025-10-04T15:30:00Z'], [11, 10.5, 11]],
    ['Pacific/Apia', 2011, ['2011-04-02T14:00:00Z', '2011-09-24T14:00:00Z', '2011-12-30T10:00:00Z'], [-10, -11, -10, 14]],
    ['America/Recife', 2000, ['2000-02-27T02:00:00Z', '2000-10-08T03:00:00Z', '2000-10-15T02:00:00Z'], [-2, -3, -2, -3]],
    ['Africa/Monrovia', 1972, ['1972-01-07T00:44:30Z'], [-44.5 / 60, 0]],
  ])('%s in %i changes when it did', (zone, year, changes, hours) => {
    const spans = offsetSpans(zone, year)
    expect(spans.slice(1).map((span) => span.from_ms)).toEqual(changes.map(at))
    expect(spans.map((span) => span.offset_ms)).toEqual(hours.map((hour) => hour * HOUR_MS))
    expect(spans.slice(1).map((span) => span.from_ms)).toEqual(spans.slice(0, -1).map((span) => span.to_ms))
  })

  test.each(['Asia/Beirut', 'Africa/Cairo', 'Africa/Casablanca', 'America/Sao_Paulo', 'Pacific/Chatham'])(
    '%s agrees with the formatter every five days of 2005 to 2015',
    (zone) => {
      const formatter = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
      for (let at_ms = at('2005-01-01T12:00:00Z'); at_ms < at('2015-01-01T00:00:00Z'); at_ms += 5 * DAY_MS) {
        const local = new Date(localAt(zone, at_ms)).toISOString()
        expect(formatter.format(at_ms)).toBe(`${local.slice(8, 10)}/${local.slice(5, 7)}/${local.slice(0, 4)}, ${local.slice(11, 19)}`)
      }
    },
  )
})

describe('a wall clock', () => {
  test('is shown once, twice, or never', () => {
    expect(instantsOf('America/New_York', wall('2025-06-01T12:00:00'))).toEqual([at('2025-06-01T12:00:00-04:00')])
    expect(instantsOf('America/New_York', wall('2025-11-02T01:30:00'))).toEqual([
      at('2025-11-02T01:30:00-04:00'),
      at('2025-11-02T01:30:00-05:00'),
    ])
    expect(instantsOf('America/New_York', wall('2025-03-09T02:30:00'))).toEqual([])
  })

  test('as a fixed time is the second pass, or the end of the gap', () => {
    expect(fixedInstantOf('America/New_York', wall('2025-11-02T01:30:00'))).toBe(at('2025-11-02T01:30:00-05:00'))
    expect(fixedInstantOf('America/New_York', wall('2025-03-09T02:30:00'))).toBe(at('2025-03-09T03:00:00-04:00'))
    expect(fixedInstantOf('Australia/Lord_Howe', wall('2025-10-05T02:00:00'))).toBe(at('2025-10-05T02:30:00+11:00'))
    expect(fixedInstantOf('America/Sao_Paulo', wall('2018-11-04T00:00:00'))).toBe(at('2018-11-04T01:00:00-02:00'))
    expect(fixedInstantOf('Pacific/Apia', wall('2011-12-30T17:00:00'))).toBe(at('2011-12-31T00:00:00+14:00'))
  })

  test('is found on both sides of a new year, where the spans of two years meet', () => {
    for (const zone of ['Pacific/Kiritimati', 'Pacific/Apia', 'America/St_Johns']) {
      for (const text of ['2024-12-31T23:59:00', '2025-01-01T00:00:00', '2025-01-01T13:00:00']) {
        const instants = instantsOf(zone, wall(text))
        expect(instants.map((instant) => localAt(zone, instant))).toEqual([wall(text)])
      }
    }
  })

  test.each([
    ['Asia/Beirut', '2024-03-31T00:00:00'],
    ['Asia/Beirut', '2024-10-27T00:00:00'],
    ['America/Havana', '2024-11-03T00:00:00'],
    ['Pacific/Apia', '2011-12-30T00:00:00'],
    ['Kwajalein', '1969-09-30T13:00:00'],
  ])('in %s around %s: what shows it is found, and later clocks are never earlier instants', (zone, text) => {
    const shown = new Map<number, number[]>()
    for (let at_ms = wall(text) - 3 * DAY_MS; at_ms < wall(text) + 3 * DAY_MS; at_ms += 15 * MINUTE_MS) {
      const local_ms = at_ms + offsetAt(zone, at_ms)
      shown.set(local_ms, [...(shown.get(local_ms) ?? []), at_ms])
    }
    let before_ms = Number.NEGATIVE_INFINITY
    for (let local_ms = wall(text) - DAY_MS; local_ms < wall(text) + DAY_MS; local_ms += 15 * MINUTE_MS) {
      expect(instantsOf(zone, local_ms)).toEqual(shown.get(local_ms) ?? [])
      expect(fixedInstantOf(zone, local_ms)).toBeGreaterThanOrEqual(before_ms)
      before_ms = fixedInstantOf(zone, local_ms)
    }
  })
})

test('the dates that were skipped whole are known, and only those', () => {
  const dates = (zone: string) => skippedDays(zone).map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10))
  expect(dates('Pacific/Apia')).toEqual(['2011-12-30'])
  expect(dates('Pacific/Fakaofo')).toEqual(['2011-12-30'])
  expect(dates('Pacific/Kwajalein')).toEqual(['1993-08-21'])
  expect(dates('Pacific/Kiritimati')).toEqual(['1994-12-31'])
  expect(dates('America/New_York')).toEqual([])
  expect(dates('UTC')).toEqual([])
})

test('a zone is a name of the database', () => {
  expect(['UTC', 'Europe/Berlin', 'US/Central', 'Asia/Kolkata'].filter(isZone)).toHaveLength(4)
  expect(['', 'UTC+2', '+02:00', 'Berlin', 'Europe/Nowhere'].filter(isZone)).toEqual([])
})
