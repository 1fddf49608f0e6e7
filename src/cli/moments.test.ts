import { describe, expect, test } from '@jest/globals'
import { agoText, durationText, localText, momentText, tookText } from './moments.js'

const S = 1_000
const MIN = 60 * S
const H = 60 * MIN
const D = 24 * H
const NOW = Date.parse('2025-01-15T10:00:00.000Z')

describe('a duration', () => {
  test.each([
    [0, '0 ms'],
    [-5, '0 ms'],
    [849.6, '850 ms'],
    [999, '999 ms'],
    [4_290, '4.2 s'],
    [9_999, '9.9 s'],
    [59_999, '59 s'],
    [MIN, '1 min'],
    [MIN + 5 * S, '1 min 5 s'],
    [H - 1, '59 min 59 s'],
    [2 * H + 3 * MIN + 59 * S, '2 h 3 min'],
    [3 * D + 4 * H, '3 d 4 h'],
    [30 * D, '30 d'],
  ])('of %d ms is %s', (duration_ms, text) => {
    expect(durationText(duration_ms)).toBe(text)
  })

  test('goes on where the end has not come, and is nothing before the beginning', () => {
    expect(tookText('2025-01-15T09:59:00.000Z', null, NOW)).toBe('1 min')
    expect(tookText('2025-01-15T09:59:00.000Z', '2025-01-15T09:59:02.000Z', NOW)).toBe('2.0 s')
    expect(tookText(null, null, NOW)).toBe('')
  })
})

describe('how long ago', () => {
  test.each([
    [0, 'just now'],
    [-999, 'just now'],
    [-12 * S, '12 s ago'],
    [-90 * S, '1 min ago'],
    [-5 * H, '5 h ago'],
    [-49 * H, '2 d ago'],
    [5 * MIN, 'in 5 min'],
  ])('%d ms is %s', (offset_ms, text) => {
    expect(agoText(NOW + offset_ms, NOW)).toBe(text)
  })
})

test('a moment is in the zone of the machine, and nothing where it has not come', () => {
  const at = new Date(2025, 0, 5, 7, 8, 9).getTime()
  expect(localText(at)).toBe('2025-01-05 07:08:09')
  expect(momentText(new Date(at).toISOString(), at + 3 * MIN)).toBe('2025-01-05 07:08:09 (3 min ago)')
  expect([momentText(null, NOW), momentText(undefined, NOW)]).toEqual(['', ''])
})
