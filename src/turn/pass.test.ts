import { expect, test } from '@jest/globals'
import { instantText, MINUTE_MS } from '../core/time.js'
import type { SegmentHead } from '../ledger/read.js'
import { beginPass, type Pass, processedThrough, type TurnDeps } from './pass.js'
import { EMPTY_WORKSPACE } from './workspace.js'

const createdAt = (at: number) => ({ creation_time: instantText(at) }) as SegmentHead

test('claims nothing that is younger than the oldest of what is unread, wherever in the queue it is', () => {
  const now = 60 * MINUTE_MS
  const queue = [createdAt(now - MINUTE_MS), createdAt(now - 9 * MINUTE_MS), createdAt(now - 2 * MINUTE_MS)]
  expect(processedThrough({ now, queue } as unknown as Pass, undefined)).toBe(now - 9 * MINUTE_MS)
  expect(processedThrough({ now, queue: [] as SegmentHead[] } as Pass, undefined)).toBe(now)
})

test('has the time that the store told, to the millisecond, and none that is later', () => {
  const deps = { clock: { now: () => 0, elapsed: () => 0 }, random: () => new Uint8Array(16) } as unknown as TurnDeps
  const remembered = { outage_ms: 0, unheard_hold_ms: 0, listing: 'whole', whole_at: 0 } as const
  expect(beginPass(deps, EMPTY_WORKSPACE(), 1_736_935_200_123.9, remembered)).toMatchObject({
    now: 1_736_935_200_123,
    whole_at: 1_736_935_200_123,
  })
})
