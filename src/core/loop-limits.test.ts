import { expect, test } from '@jest/globals'
import { cachedLoops } from './loop-limits.js'

test('a process keeps all loops of its workspace in memory, and of very many a gigabyte', () => {
  expect([0, 800, 1_000, 4_000, 100_000].map(cachedLoops)).toEqual([1_100, 1_100, 1_250, 5_000, 10_000])
})
