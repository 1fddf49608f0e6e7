import { describe, expect, test } from '@jest/globals'
import { DELTAS_MAX, DELTAS_SLOW_MS, MERGE_DUE_DELTAS } from '../core/limits.js'
import { MINUTE_MS, SECOND_MS } from '../core/time.js'
import { publishIntervalMs } from './publish-pace.js'

/** How many revisions lie above the base when a merge that fell due ends, if turns publish as fast as they may. */
function deltasAfter(merge_ms: number, turn_ms: number): number {
  let deltas = MERGE_DUE_DELTAS
  for (let elapsed = 0; elapsed < merge_ms; elapsed += Math.max(turn_ms, publishIntervalMs(deltas))) deltas += 1
  return deltas
}

describe('the time between two publishes', () => {
  test('is nothing until a merge is due, and a second where merges do not keep up', () => {
    for (const deltas of [0, 1, MERGE_DUE_DELTAS]) expect(publishIntervalMs(deltas)).toBe(0)
    for (const deltas of [DELTAS_MAX, DELTAS_MAX + 1, 10 * DELTAS_MAX]) expect(publishIntervalMs(deltas)).toBe(DELTAS_SLOW_MS)
  })

  test('grows with every revision in between, and by little at once', () => {
    for (let deltas = MERGE_DUE_DELTAS; deltas < DELTAS_MAX; deltas++) {
      const step = publishIntervalMs(deltas + 1) - publishIntervalMs(deltas)
      expect(step).toBeGreaterThan(0)
      expect(step).toBeLessThan(5)
    }
  })

  /** docs/performance.md has the same table, for turns of 8 ms. */
  test.each([
    [SECOND_MS / 2, 120, 16],
    [2 * SECOND_MS, 167, 53],
    [10 * SECOND_MS, 245, 163],
    [MINUTE_MS, 394, 543],
    [2.5 * MINUTE_MS, DELTAS_MAX, DELTAS_SLOW_MS],
  ])('after a merge of %i ms: %i revisions lie above the base, and publishes are %i ms apart', (merge_ms, deltas, interval_ms) => {
    expect(deltasAfter(merge_ms, 8)).toBe(deltas)
    expect(Math.round(publishIntervalMs(deltas))).toBe(interval_ms)
  })

  test('slows nobody who publishes twice a second before most of the room is taken', () => {
    const slowed = Array.from({ length: DELTAS_MAX }, (_, deltas) => deltas).find((deltas) => publishIntervalMs(deltas) > SECOND_MS / 2)
    expect(slowed).toBeGreaterThan(350)
  })
})
