import { afterAll, expect, test } from '@jest/globals'
import { createParquetShelf } from '../fixtures/parquet-world.js'
import { runCrashStory } from './crash-story.js'
import { distinctPointsOf, enumerate, expectAllHold } from './enumerate.js'

const shelf = createParquetShelf()
afterAll(shelf.close)

/** On a machine that is busy with something else. */
const TIMEOUT_MS = 300_000

test(
  'every distinct single crash point, on memory with Parquet files',
  async () => {
    const { filesIn } = shelf
    const { calls, problems } = await runCrashStory([], { filesIn, seed: 0 })
    expect(problems).toEqual([])
    const points = distinctPointsOf(calls)
    expect(points.length).toBeGreaterThan(200)
    // A seed for each run: no two worlds have a file name in common.
    const run = (some: Parameters<typeof runCrashStory>[0], index: number) => runCrashStory(some, { filesIn, seed: index + 1 })
    expectAllHold(
      await enumerate(
        'distinct single crash points on memory with Parquet files',
        points.map((point) => [point]),
        run,
      ),
    )
  },
  TIMEOUT_MS,
)
