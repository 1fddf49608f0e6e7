import { expect, test } from '@jest/globals'
import { zonedText } from './zoned-text.js'

test.each([
  ['America/New_York', '2025-03-09T07:00:00Z', '2025-03-09T03:00:00-04:00'],
  ['Asia/Kathmandu', '2025-01-01T00:00:00Z', '2025-01-01T05:45:00+05:45'],
  ['America/St_Johns', '2025-01-01T00:00:00Z', '2024-12-31T20:30:00-03:30'],
  ['UTC', '2025-01-01T00:00:00.750Z', '2025-01-01T00:00:00+00:00'],
  ['Pacific/Kiritimati', '9999-12-31T09:59:59Z', '9999-12-31T23:59:59+14:00'],
  ['Pacific/Kiritimati', '9999-12-31T10:00:00Z', '9999-12-31T10:00:00Z'],
  ['Africa/Monrovia', '1960-01-01T00:00:00Z', '1960-01-01T00:00:00Z'],
])('in %s, %s is %s', (zone, instant, text) => {
  expect(zonedText(zone, Date.parse(instant))).toBe(text)
})
