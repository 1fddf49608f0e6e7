import { expect, it } from '@jest/globals'
import { waitMs } from './workspace.js'

const T0 = 1_736_935_200_000

it.each([
  ['nothing is due', null, 250, null],
  ['a whole second later, less what has passed of it', 5_000, 250, 4_750],
  ['at the end of the second in which it is due', 4_001, 250, 4_750],
  ['at once, where the turn took until then', 1_000, 1_300, 0],
  ['within the same second of the turn', 300, 980.4, 20],
  ['a second after the turn, where it was left', 0, 250, 1_000],
])('waits: %s', (_, wake_in_ms, took_ms, expected) => {
  expect(waitMs({ processed_at: T0, ended_at: T0 + took_ms, wake_in_ms })).toBe(expected)
})
