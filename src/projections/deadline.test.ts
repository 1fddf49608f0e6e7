import { describe, expect, it } from '@jest/globals'
import { earliestDeadline, heartbeatDeadline, infraDelay, retryAt, timeoutOf } from './deadline.js'
import type { TaskRow } from './run-table.js'

const AT = 1_736_935_200_000
const retry = { backoff_seconds: 30, factor: 2, max_backoff_seconds: 600, jitter: 0.2 }
const task = { retry, attempt_id: '3AYAGXAP8KGYKNN09WMD8HK6EN' } as TaskRow
const idle = { start_deadline_at: null, heartbeat_deadline_at: null, timeout_at: null, retry_at: null, cancel_deadline_at: null } as TaskRow

describe('deadlines', () => {
  it('of a beat lie 4/3 of the timeout ahead', () => {
    expect(heartbeatDeadline({ heartbeat_timeout_ms: 60_000 }, AT)).toBe(AT + 80_000)
    expect(heartbeatDeadline({ heartbeat_timeout_ms: 1_000 }, AT)).toBe(AT + 1_333)
  })

  it('of an attempt without a limit are none', () => {
    expect(timeoutOf({ timeout_ms: null }, AT)).toBeNull()
    expect(timeoutOf({ timeout_ms: 5 }, AT)).toBe(AT + 5)
  })

  it('of a retry come from the failed attempt, unless its worker knows better', () => {
    expect(retryAt(task, 1, AT, undefined)).toBe(AT + 27_927)
    expect(retryAt(task, 1, AT, 0)).toBe(AT)
    expect(retryAt(task, 1, AT, 2.5)).toBe(AT + 2_500)
  })

  it.each([
    [1, 5_000],
    [2, 10_000],
    [4, 40_000],
    [5, 60_000],
    [2_000, 60_000],
  ])('after loss %i that was nobody’s fault: %i ms', (infra_losses, delay_ms) => {
    expect(infraDelay(infra_losses)).toBe(delay_ms)
  })

  it('are looked at together', () => {
    expect(earliestDeadline(idle)).toBeNull()
    expect(earliestDeadline({ ...idle, timeout_at: 9, heartbeat_deadline_at: 7, cancel_deadline_at: 8 })).toBe(7)
  })
})
