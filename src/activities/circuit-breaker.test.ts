import { expect, test } from '@jest/globals'
import { PAUSE_FIRST_MS, PAUSE_LONGEST_MS } from '../core/limits.js'
import { createCircuitBreaker } from './circuit-breaker.js'

function openBreaker() {
  const state = { elapsed_ms: 0, requests: 0 }
  const breaker = createCircuitBreaker<string>({ elapsed: () => state.elapsed_ms })
  const run = () =>
    breaker.run(async () => {
      state.requests += 1
      return { target: 'broken', answer: 'wrong' }
    })
  /** How long no request is made after a failure that comes now. */
  async function pauseNow(): Promise<number> {
    const from = state.elapsed_ms
    await run()
    const before = state.requests
    for (; state.requests === before; state.elapsed_ms += PAUSE_FIRST_MS / 2) await run()
    return state.elapsed_ms - PAUSE_FIRST_MS / 2 - from
  }
  return { state, run, pauseNow }
}

test('the pause doubles with each failure, up to the longest', async () => {
  const { state, run } = openBreaker()
  const at: number[] = []
  for (; state.elapsed_ms <= 250_000; state.elapsed_ms += PAUSE_FIRST_MS) {
    const before = state.requests
    await run()
    if (state.requests > before) at.push(state.elapsed_ms / PAUSE_FIRST_MS)
  }
  expect(at).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
})

test('a failure long after the last one starts with the first pause, and one soon after it does not', async () => {
  const { state, run, pauseNow } = openBreaker()
  for (; state.elapsed_ms < 70_000; state.elapsed_ms += PAUSE_FIRST_MS) await run()
  // There was nothing to send for hours.
  state.elapsed_ms += 3 * 3_600_000
  expect(await pauseNow()).toBe(PAUSE_FIRST_MS)
  // The failure that ended that pause began one of twice its length; within the longest one after it nothing is forgotten.
  state.elapsed_ms += 2 * PAUSE_FIRST_MS + PAUSE_LONGEST_MS - PAUSE_FIRST_MS
  expect(await pauseNow()).toBe(4 * PAUSE_FIRST_MS)
})

test('the first success closes it', async () => {
  const state = { elapsed_ms: 0, requests: 0, target: 'broken' as 'broken' | 'well' }
  const breaker = createCircuitBreaker<string>({ elapsed: () => state.elapsed_ms })
  const run = () =>
    breaker.run(async () => {
      state.requests += 1
      return { target: state.target, answer: state.target }
    })
  await run()
  expect([await run(), state.requests]).toEqual(['broken', 1])
  state.elapsed_ms += PAUSE_FIRST_MS
  state.target = 'well'
  expect([await run(), await run(), state.requests]).toEqual(['well', 'well', 3])
})
