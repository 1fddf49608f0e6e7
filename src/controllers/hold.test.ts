import { describe, expect, test } from '@jest/globals'
import type { TaskRow } from '../projections/run-table.js'
import type { WorkingSet } from '../projections/working-set.js'
import { holdUntil } from './hold.js'

const NOW = Date.parse('2025-01-15T10:00:00.000Z')
const SECOND = 1_000

const running = (heartbeat_deadline_at: number, heartbeat_timeout_ms: number): Partial<TaskRow> => ({
  state: 'RUNNING',
  start_deadline_at: null,
  heartbeat_deadline_at,
  timeout_at: null,
  cancel_deadline_at: null,
  heartbeat_timeout_ms,
})
const rowsOf = (...tasks: readonly Partial<TaskRow>[]) => ({ hotRows: () => tasks }) as unknown as WorkingSet
const SINCE = NOW - 10 * SECOND - 1
const silent = rowsOf(running(SINCE, 30 * SECOND), running(NOW - 1, 20 * SECOND), running(NOW + 1, 50 * SECOND))

describe('deadlines are held back', () => {
  test('by the longest period of those that have passed, where a turn comes more than ten seconds late', () => {
    const late = { wake_at: SINCE, hold_until: null, outage_ms: 0, unheard_hold_ms: 0 }
    expect(holdUntil(silent, NOW, late)).toBe(NOW + 30 * SECOND)
    expect(holdUntil(silent, NOW, { ...late, wake_at: SINCE + 1 })).toBeNull()
    expect(holdUntil(silent, NOW, { ...late, wake_at: null })).toBeNull()
  })

  test('not where the turn is punctual for them, and late for something else that is on record', () => {
    const retry = { state: 'RETRY_WAIT', retry_at: NOW - 60 * SECOND } as const
    const recorded = { wake_at: NOW - 60 * SECOND, hold_until: null, outage_ms: 0, unheard_hold_ms: 0 }
    expect(holdUntil(rowsOf(retry, running(SINCE + 1, SECOND)), NOW, recorded)).toBeNull()
    expect(holdUntil(rowsOf(retry, running(SINCE, SECOND)), NOW, recorded)).toBe(NOW + SECOND)
  })

  test('but for the grace of a cancel: what it ends is not tried again', () => {
    const cancelled = { ...running(NOW + 1, 50 * SECOND), cancel_deadline_at: NOW - 60 * SECOND, heartbeat_deadline_at: null }
    const late = { wake_at: NOW - 60 * SECOND, hold_until: null, outage_ms: 60 * SECOND, unheard_hold_ms: 900 * SECOND }
    expect(holdUntil(rowsOf(cancelled), NOW, late)).toBeNull()
  })

  test('for a minute at most', () => {
    const slow = rowsOf(running(NOW - 60 * SECOND, 3_600 * SECOND))
    expect(holdUntil(slow, NOW, { wake_at: NOW - 60 * SECOND, hold_until: null, outage_ms: 0, unheard_hold_ms: 0 })).toBe(NOW + 60 * SECOND)
  })

  test('until the instant that is on record, and not a second time', () => {
    const recorded = { wake_at: NOW + SECOND, hold_until: NOW + SECOND, outage_ms: 0, unheard_hold_ms: 0 }
    expect(holdUntil(silent, NOW, recorded)).toBe(NOW + SECOND)
    expect(holdUntil(silent, NOW + SECOND, recorded)).toBeNull()
    expect(holdUntil(silent, NOW + 600 * SECOND, recorded)).toBeNull()
  })

  test('again after another gap', () => {
    const recorded = { wake_at: NOW - 60 * SECOND, hold_until: NOW - 600 * SECOND, outage_ms: 0, unheard_hold_ms: 0 }
    expect(holdUntil(silent, NOW, recorded)).toBe(NOW + 30 * SECOND)
  })

  test('not where nothing has passed that could be lost', () => {
    const retry = { state: 'RETRY_WAIT', retry_at: NOW - 60 * SECOND } as const
    expect(
      holdUntil(rowsOf(retry, running(NOW + 1, SECOND)), NOW, {
        wake_at: NOW - 60 * SECOND,
        hold_until: null,
        outage_ms: 0,
        unheard_hold_ms: 0,
      }),
    ).toBeNull()
  })

  test('after an outage of the store, also for what is due right after it', () => {
    const soon = rowsOf(running(NOW + 1, 50 * SECOND), running(NOW + 300 * SECOND, 40 * SECOND))
    const outage = { wake_at: NOW + 1, hold_until: null, outage_ms: 10 * SECOND + 1, unheard_hold_ms: 0 }
    expect(holdUntil(soon, NOW, outage)).toBe(NOW + 50 * SECOND)
    expect(holdUntil(soon, NOW, { ...outage, outage_ms: 10 * SECOND })).toBeNull()
    expect(holdUntil(rowsOf(), NOW, outage)).toBeNull()
  })

  test('for as long as workers find no API to speak to', () => {
    const unheard = { wake_at: NOW, hold_until: null, outage_ms: 0, unheard_hold_ms: 900 * SECOND }
    expect(holdUntil(silent, NOW, unheard)).toBe(NOW + 50 * SECOND)
    expect(holdUntil(silent, NOW + 50 * SECOND, { ...unheard, hold_until: NOW + 50 * SECOND })).toBe(NOW + 100 * SECOND)
    expect(holdUntil(rowsOf(), NOW, unheard)).toBeNull()
  })

  test('no longer than what is left of the time for which that is a reason', () => {
    const unheard = { wake_at: NOW, hold_until: null, outage_ms: 0, unheard_hold_ms: 7 * SECOND }
    expect(holdUntil(silent, NOW, unheard)).toBe(NOW + 7 * SECOND)
    expect(holdUntil(silent, NOW, { ...unheard, outage_ms: 60 * SECOND })).toBe(NOW + 50 * SECOND)
  })
})
