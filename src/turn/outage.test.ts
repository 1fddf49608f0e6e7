import { describe, expect, test } from '@jest/globals'
import type { TaskRow } from '../projections/run-table.js'
import type { WorkingSet } from '../projections/working-set.js'
import { unheardHoldMs } from './outage.js'

const NOW = Date.parse('2025-01-15T10:00:00.000Z')
const LEFT = { left_ms: 600_000 }
const heard = (ago_ms: number, state: TaskRow['state'] = 'RUNNING') => ({
  state,
  started_at: NOW - 900_000,
  last_heartbeat_at: NOW - ago_ms,
})
const holdWith = (unheard: Parameters<typeof unheardHoldMs>[0], ...tasks: readonly Partial<TaskRow>[]) =>
  unheardHoldMs(unheard, { hotRows: () => tasks } as unknown as WorkingSet, NOW)

describe('an outage of the API', () => {
  test('is no reason where there is none', () => {
    expect(holdWith(undefined, heard(50_000))).toBe(0)
  })

  test('holds back for what is left of its time, where nobody was heard since it began', () => {
    const down = { for_ms: 30_000, over_for_ms: 0, ...LEFT }
    expect(holdWith(down, heard(31_000))).toBe(600_000)
    // It was on its way when the API went away.
    expect(holdWith(down, heard(26_000))).toBe(600_000)
    expect(holdWith(down, heard(1_000, 'SUCCEEDED'))).toBe(600_000)
  })

  /** A beat each second and a half, from so long ago to so long ago. */
  const steadily = (from_ms: number, to_ms: number) =>
    Array.from({ length: Math.floor((from_ms - to_ms) / 1_500) + 1 }, (_, beat) => heard(from_ms - beat * 1_500))

  test('holds nothing back where others are heard all the while', () => {
    const down = { for_ms: 30_000, over_for_ms: 0, ...LEFT }
    expect(holdWith(down, heard(31_000), ...steadily(16_500, 6_000))).toBe(0)
    expect(holdWith(down, heard(31_000), ...steadily(24_000, 13_500).toReversed())).toBe(0)
    // What was started is heard of, too.
    const started = steadily(16_500, 6_000).map(({ last_heartbeat_at, ...task }) => ({
      ...task,
      started_at: last_heartbeat_at,
      last_heartbeat_at: null,
    }))
    expect(holdWith(down, heard(31_000), ...started)).toBe(0)
  })

  test('holds back where others are heard for a moment: it may have been open to some of them, between two health checks', () => {
    const down = { for_ms: 30_000, over_for_ms: 0, ...LEFT }
    expect(holdWith(down, heard(31_000), heard(24_000))).toBe(600_000)
    expect(holdWith(down, heard(31_000), ...steadily(15_000, 6_000))).toBe(600_000)
    // Twice for a moment, and in between it was away.
    expect(holdWith(down, heard(31_000), ...steadily(22_000, 16_000), ...steadily(13_000, 4_000))).toBe(600_000)
  })

  test('holds nothing back afterwards, where others were heard while it lasted', () => {
    const over = { for_ms: 40_000, over_for_ms: 8_000, ...LEFT }
    expect(holdWith(over, ...steadily(24_000, 12_000))).toBe(0)
    expect(holdWith(over, heard(20_000))).toBe(600_000)
    // Heard again, maybe before whoever asks had noticed: that says nothing of the time before.
    expect(holdWith(over, ...steadily(10_500, 0))).toBe(600_000)
    expect(holdWith(over, heard(9_000))).toBe(600_000)
  })

  test('of a few seconds holds back, for nobody can tell whose beats those are', () => {
    for (const ago_ms of [0, 1_000, 2_000, 4_000, 7_000]) {
      expect(holdWith({ for_ms: 7_000, over_for_ms: 0, ...LEFT }, heard(ago_ms))).toBe(600_000)
    }
  })

  test('that is about to be noticed to be over is not taken for one in which others are heard', () => {
    // Ten and a half seconds, and the last two of them may be of workers that came back before the health check.
    expect(holdWith({ for_ms: 30_000, over_for_ms: 0, ...LEFT }, ...steadily(12_000, 1_500))).toBe(600_000)
    expect(holdWith({ for_ms: 30_000, over_for_ms: 0, ...LEFT }, heard(1_000))).toBe(600_000)
  })
})
