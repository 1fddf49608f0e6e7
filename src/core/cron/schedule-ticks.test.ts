import { describe, expect, test } from '@jest/globals'
import { DAY_MS } from '../time.js'
import { cronWarnings, openScheduleTicks, readCrons } from './schedule-ticks.js'

function instantsOf(cron: string | readonly string[], timezone: string, from: string, days: number): readonly string[] {
  const ticks = openScheduleTicks({ cron, timezone })
  if ('problem' in ticks) throw new Error(ticks.problem)
  const found: string[] = []
  const from_ms = Date.parse(from)
  ticks.walk(from_ms, from_ms + days * DAY_MS, (at_ms) => found.push(new Date(at_ms).toISOString().slice(5, 16)) > 0)
  return found
}

describe('a list of expressions', () => {
  test('is their union, an instant of two of them once', () => {
    expect(instantsOf(['0 6 * * *', '0 */6 * * 1', '@daily'], 'UTC', '2025-01-05T00:00:00Z', 2)).toEqual([
      '01-05T00:00',
      '01-05T06:00',
      '01-06T00:00',
      '01-06T06:00',
      '01-06T12:00',
      '01-06T18:00',
    ])
  })

  test('keeps the rule of each of them where the clock is set back', () => {
    const day = '2025-11-02T04:30:00Z'
    expect(instantsOf(['30 1 * * *', '0 * * * *'], 'America/New_York', day, 1 / 8)).toEqual([
      '11-02T05:00',
      '11-02T06:00',
      '11-02T06:30',
      '11-02T07:00',
    ])
  })

  test('keeps the rule of each of them where the clock is set forward, and meets in one instant', () => {
    const day = '2025-03-09T06:30:00Z'
    expect(instantsOf(['15 2 * * *', '0 * * * *'], 'America/New_York', day, 1 / 12)).toEqual(['03-09T07:00', '03-09T08:00'])
    expect(instantsOf(['15 2 * * *', '10 * * * *'], 'America/New_York', day, 1 / 24)).toEqual(['03-09T07:00', '03-09T07:10'])
  })

  test.each([
    [[], 'The list of cron expressions is empty. Give it at least one.'],
    [['@daily', '0 0 31 4 *'], '"0 0 31 4 *" can never match'],
    [Array(31).fill('@daily'), 'has 31 cron expressions, and may have 30.'],
    [Array.from({ length: 12 }, (_, i) => `* * * ${i + 1},${i + 13} * *`), 'differ in too many days'],
  ])('%j is refused', (cron: readonly string[], problem) => {
    expect(readCrons(cron)).toMatchObject({ problem: expect.stringContaining(problem) })
  })

  test('is warned of one by one', () => {
    expect(cronWarnings(['*/90 * * * *', '@daily', '0 */30 * * *'])).toHaveLength(2)
  })
})

test('a zone that there is not is refused with the one that was meant', () => {
  expect(openScheduleTicks({ cron: '@daily', timezone: 'Europe/Berln' })).toEqual({
    problem: 'There is no time zone "Europe/Berln". Did you mean "Europe/Berlin"?',
  })
})
