import { expect, test } from '@jest/globals'
import { runCrashStory } from './crash-story.js'
import { enumerate, expectAllHold, pointsOf } from './enumerate.js'

/** On a machine that is busy with something else. */
const TIMEOUT_MS = 300_000

test(
  'every single crash point, on memory with plain files',
  async () => {
    const { calls, problems } = await runCrashStory([])
    expect(problems).toEqual([])
    const points = pointsOf(calls)
    expect(points.length).toBeGreaterThan(600)
    expectAllHold(
      await enumerate(
        'single crash points on memory with plain files',
        points.map((point) => [point]),
        (some) => runCrashStory(some),
      ),
    )
  },
  TIMEOUT_MS,
)
