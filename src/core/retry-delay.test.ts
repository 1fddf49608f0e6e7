import { describe, expect, it } from '@jest/globals'
import { retryDelayMs } from './retry-delay.js'

const ATTEMPT_ID = '3AYAGXAP8KGYKNN09WMD8HK6EN'
const policy = { backoff_seconds: 30, factor: 2, max_backoff_seconds: 600, jitter: 0 }

describe('retryDelayMs', () => {
  it('is the golden value of DATA section 1', () => {
    expect(retryDelayMs({ ...policy, jitter: 0.2 }, 1, ATTEMPT_ID)).toBe(27_927)
  })

  it.each([
    ['the first failure waits for the back-off', policy, 1, 30_000],
    ['each further one factor times as long', policy, 3, 120_000],
    ['and never longer than the maximum', policy, 9, 600_000],
    ['whatever the number of failures', { ...policy, factor: 1_000 }, 1_000, 600_000],
    ['a factor of 1 keeps it', { ...policy, factor: 1 }, 1_000_000, 30_000],
    ['no back-off is none, however often', { ...policy, backoff_seconds: 0, factor: 1_000 }, 2_000, 0],
    ['a maximum below the back-off cuts it', { ...policy, max_backoff_seconds: 10 }, 1, 10_000],
  ])('%s', (_, retry, failures, delay_ms) => {
    expect(retryDelayMs(retry, failures, ATTEMPT_ID)).toBe(delay_ms)
  })
})
