import { expect, test } from '@jest/globals'
import { CRASHES, type CrashPoint } from '../faults/crash-store.js'
import { createRandom, type Random } from '../fixtures/random.js'
import { runCrashStory } from './crash-story.js'
import { enumerate, expectAllHold } from './enumerate.js'

const PAIRS = 200
/** Crashes that are further apart than this are two single ones. */
const CALLS_BETWEEN_MAX = 8
const seed = Number(process.env['SERVO_SEED'] ?? 1)

/** On a machine that is busy with something else. */
const TIMEOUT_MS = 300_000

test(
  `pairs of crash points within ${CALLS_BETWEEN_MAX} calls, sampled by SERVO_SEED=${seed}`,
  async () => {
    const { calls } = await runCrashStory([])
    const random = createRandom(`pairs/${seed}`)
    const pairs = Array.from({ length: PAIRS }, () => pairIn(calls.length, random))
    expect(new Set(pairs.map((pair) => JSON.stringify(pair))).size).toBeGreaterThan(PAIRS * 0.9)
    expectAllHold(await enumerate('pairs of crash points on memory with plain files', pairs, (some) => runCrashStory(some)))
  },
  TIMEOUT_MS,
)

function pairIn(call_count: number, random: Random): CrashPoint[] {
  const at = 1 + random.below(call_count - CALLS_BETWEEN_MAX)
  return [
    { at, how: random.pick(CRASHES) },
    { at: at + 1 + random.below(CALLS_BETWEEN_MAX), how: random.pick(CRASHES) },
  ]
}
