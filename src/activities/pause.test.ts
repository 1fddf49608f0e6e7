import { expect, test } from '@jest/globals'
import { PAUSE_FIRST_MS, PAUSE_LONGEST_MS } from '../core/limits.js'
import { createPause, type Heard } from './pause.js'

const STUCK: Heard<string> = { way: 'stuck', answer: 'wrong' }

function paused() {
  const state = { elapsed_ms: 0, asked: 0 }
  const pause = createPause<string>({ elapsed: () => state.elapsed_ms })
  const ask = () =>
    pause.ask(async () => {
      state.asked += 1
      return STUCK
    })
  /** How long nobody is asked after a failure that comes now. */
  async function lengthNow(): Promise<number> {
    const from = state.elapsed_ms
    await ask()
    const before = state.asked
    for (; state.asked === before; state.elapsed_ms += PAUSE_FIRST_MS / 2) await ask()
    return state.elapsed_ms - PAUSE_FIRST_MS / 2 - from
  }
  return { state, ask, lengthNow }
}

test('a pause grows while nothing gets through, and ends at the longest', async () => {
  const { state, ask } = paused()
  const at: number[] = []
  for (; state.elapsed_ms <= 250_000; state.elapsed_ms += PAUSE_FIRST_MS) {
    const before = state.asked
    await ask()
    if (state.asked > before) at.push(state.elapsed_ms / PAUSE_FIRST_MS)
  }
  expect(at).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
})

test('one failure long after the last begins anew, and one soon after it does not', async () => {
  const { state, ask, lengthNow } = paused()
  for (; state.elapsed_ms < 70_000; state.elapsed_ms += PAUSE_FIRST_MS) await ask()
  // Nobody had anything to send for hours.
  state.elapsed_ms += 3 * 3_600_000
  expect(await lengthNow()).toBe(PAUSE_FIRST_MS)
  // The failure that ended that pause began one of twice its length; within the longest one after it nothing is forgotten.
  state.elapsed_ms += 2 * PAUSE_FIRST_MS + PAUSE_LONGEST_MS - PAUSE_FIRST_MS
  expect(await lengthNow()).toBe(4 * PAUSE_FIRST_MS)
})
