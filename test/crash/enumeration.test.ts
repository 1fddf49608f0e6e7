import { expect, test } from '@jest/globals'
import { enumerate, expectAllHold, pointsOf } from './enumerate.js'
import { runCrashStory } from './crash-story.js'

test('every single crash point, on memory with plain files', async () => {
  const { calls, problems } = await runCrashStory([])
  expect(problems).toEqual([])
  const points = pointsOf(calls)
  expect(points.length).toBeGreaterThan(300)
  expectAllHold(
    await enumerate(
      'single crash points, memory, plain files',
      points.map((point) => [point]),
      (some) => runCrashStory(some),
    ),
  )
})
