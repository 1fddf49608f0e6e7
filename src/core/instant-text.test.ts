import { expect, test } from '@jest/globals'
import { isInstant, readInstant } from './instant-text.js'

test.each([
  ['2026-11-20T01:40:00Z', '2026-11-20T01:40:00.000Z'],
  ['2026-11-20 01:40Z', '2026-11-20T01:40:00.000Z'],
  ['2026-11-20T01:40-05:00', '2026-11-20T06:40:00.000Z'],
  ['2026-11-20 01:40:07.1234567+05:30', '2026-11-19T20:10:07.123Z'],
  ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999Z'],
])('%s is %s, whatever zone the machine is in', (text, instant) => {
  expect(readInstant(text)).toEqual({ at_ms: Date.parse(instant) })
})

test.each([
  ['2026-11-20 01:40', '2026-11-20T01:40:00'],
  ['2026-11-20T01:40', '2026-11-20T01:40:00'],
  ['2026-11-20T01:40:07.5', '2026-11-20T01:40:07.5'],
  ['2026-11-20', '2026-11-20T00:00:00'],
])('%s names no zone, and is shown the two ways to write it', (text, clock) => {
  const problem = `${text} names no zone. Write ${clock}Z for UTC, or ${clock}-04:00 for a clock four hours behind it.`
  expect(readInstant(text)).toEqual({ problem })
  expect(readInstant(`${clock}Z`)).toEqual({ at_ms: Date.parse(`${clock}Z`) })
  expect(readInstant(`${clock}-04:00`)).toEqual({ at_ms: Date.parse(`${clock}-04:00`) })
})

test.each([
  ...['', 'now', 'lately', '01:40', '2026', '2026-11', '20 November 2026', '2026-11-20Z', '2026-11-20 1:40Z', '2026-11-20T01:40:00 05:00'],
  ...['2026-02-30', '2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-11-20T24:00:00Z', '2026-11-20T01:60Z', '2026-11-20T01:40+24:00'],
])('%j is no instant', (text) => {
  const problem = expect.stringMatching(/^Give an instant of RFC 3339 with its zone: \S+Z for UTC, or \S+-04:00 for a clock/)
  expect(readInstant(text)).toEqual({ problem })
})

test('programs write it whole', () => {
  for (const text of ['2025-01-15T10:00:00Z', '2024-02-29T23:59:59.123456789Z', '2025-01-15T10:00:00.5+05:30'])
    expect(isInstant(text)).toBe(true)
  for (const text of ['2025-01-15', '2025-01-15T10:00Z', '2025-01-15 10:00:00Z', '2025-02-29T10:00:00Z', '2025-01-15T10:00:00'])
    expect(isInstant(text)).toBe(false)
})
