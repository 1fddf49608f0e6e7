import { expect, test } from '@jest/globals'
import { cachedLoops } from './loop-limits.js'

test('a process keeps all loops of its workspace in memory, and of very many half a gigabyte', () => {
  expect([0, 800, 1_000, 3_000, 100_000].map(cachedLoops)).toEqual([1_100, 1_100, 1_250, 3_750, 5_000])
})
