import { expect, test } from '@jest/globals'
import { instantText, MINUTE_MS } from '../core/time.js'
import type { SegmentHead } from '../ledger/read.js'
import { type Pass, processedThrough } from './pass.js'

const createdAt = (at: number) => ({ creation_time: instantText(at) }) as SegmentHead

test('claims nothing that is younger than the oldest of what is unread, wherever in the queue it is', () => {
  const now = 60 * MINUTE_MS
  const queue = [createdAt(now - MINUTE_MS), createdAt(now - 9 * MINUTE_MS), createdAt(now - 2 * MINUTE_MS)]
  expect(processedThrough({ now, queue } as unknown as Pass, undefined)).toBe(now - 9 * MINUTE_MS)
  expect(processedThrough({ now, queue: [] as SegmentHead[] } as Pass, undefined)).toBe(now)
})
