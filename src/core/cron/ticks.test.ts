import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { DAY_MS } from '../time.js'
import { parseCron } from './expression.js'
import { openTicks, type Ticks } from './ticks.js'

function ticksOf(text: string, zone: string): Ticks {
  const parsed = parseCron(text)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return openTicks(parsed, zone)
}

function between(ticks: Ticks, from_ms: number, to_ms: number): number[] {
  const found: number[] = []
  ticks.walk(from_ms, to_ms, (at_ms) => found.push(at_ms) > 0)
  return found
}

const at = (text: string): number => Date.parse(text)

describe('where the clocks change', () => {
  test.each([
    ['a time in the gap is at its end', '30 2 * * *', 'America/New_York', '2025-03-09', ['2025-03-09T03:00:00-04:00']],
    [
      'several of them are one',
      '*/30 1-3 * * *',
      'America/New_York',
      '2024-03-10',
      ['01:00-05:00', '01:30-05:00', '03:00-04:00', '03:30-04:00'],
    ],
    ['a time that comes twice is the second one', '30 1 * * *', 'America/New_York', '2025-11-02', ['2025-11-02T01:30:00-05:00']],
    ['of every hour both count', '0 * * * *', 'Australia/Lord_Howe', '2025-04-06', undefined],
    ['a gap of half an hour ends there', '15 2 * * *', 'Australia/Lord_Howe', '2025-10-05', ['2025-10-05T02:30:00+11:00']],
    ['a date that was skipped has none', '0 10 * * *', 'Pacific/Apia', '2011-12-30', []],
  ])('%s', (_, cron, zone, day, expected) => {
    const ticks = ticksOf(cron, zone)
    const onDay = between(ticks, at(`${day}T00:00:00Z`) - DAY_MS, at(`${day}T00:00:00Z`) + 2 * DAY_MS).filter((at_ms) => {
      return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(at_ms) === day
    })
    if (expected === undefined) expect(onDay).toHaveLength(24)
    else expect(onDay).toEqual(expected.map((text) => at(text.length < 15 ? `${day}T${text.replace(/([+-])/, ':00$1')}` : text)))
  })
})

describe('instants', () => {
  const CRONS = [
    '*/15 * * * *',
    '30 2 * * 1-5',
    '0 0 L * *',
    '0 0 29 2 *',
    '*/7 */5 * * *',
    '0 0 13 * 5',
    '15 30 1,2 * * *',
    '0 12 * * 1#5',
  ]
  const ZONES = ['UTC', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia', 'Europe/Dublin', 'America/Havana', 'Asia/Kathmandu']
  const START = at('2009-01-01T00:00:00Z')

  test('increase, and are found by next, previous, number and count alike', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...CRONS),
        fc.constantFrom(...ZONES),
        fc.integer({ min: 0, max: 3_000 }),
        fc.integer({ min: 1, max: 40 }),
        (cron, zone, day, days) => {
          const ticks = ticksOf(cron, zone)
          const [from_ms, to_ms] = [START + day * DAY_MS + 12_345, START + (day + days) * DAY_MS]
          const found = between(ticks, from_ms, to_ms)
          expect(found.every((at_ms, i) => i === 0 || at_ms > (found[i - 1] as number))).toBe(true)
          expect(ticks.count(from_ms, to_ms)).toBe(found.length)
          for (const [i, at_ms] of found.entries()) {
            if (i % 17 !== 0) continue
            expect(ticks.nth(from_ms, i)).toBe(at_ms)
            expect(ticks.next(at_ms - 1)).toBe(at_ms)
            expect(ticks.previous(at_ms + 1)).toBe(at_ms)
            expect(ticks.previous(ticks.next(at_ms) as number)).toBe(at_ms)
          }
          expect(ticks.nth(from_ms, found.length)).toBe(ticks.next(to_ms - 1))
        },
      ),
      { numRuns: 150 },
    )
  })

  test('of a hundred years of minutes are found by number, without walking', () => {
    const ticks = ticksOf('* * * * *', 'America/New_York')
    const fifty_million = ticks.nth(at('1970-01-01T00:00:00Z'), 50_000_000) as number
    expect(ticks.count(at('1970-01-01T00:00:00Z'), fifty_million)).toBe(50_000_000)
  })

  test('end with the years that can be named', () => {
    const ticks = ticksOf('0 0 29 2 *', 'UTC')
    expect(ticks.next(at('9996-03-01T00:00:00Z'))).toBeNull()
    expect(ticks.previous(at('1904-02-01T00:00:00Z'))).toBeNull()
  })
})
