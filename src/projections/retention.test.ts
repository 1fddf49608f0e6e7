import { describe, expect, it } from '@jest/globals'
import { DAY_MS, HOUR_MS } from '../core/time.js'
import { expiryCut, isExpired, RETENTION, runKeyExpiry } from './retention.js'
import { type LooseRow, TABLE_NAMES, tableNamed } from './tables.js'

const HOUR = 1_736_935_200_000
const DAY = 1_736_899_200_000
const row = (columns: Readonly<Record<string, number | null>>): LooseRow => ({ ...columns, row_version: 1, last_event_id: 'e' })
const expired = (table: Parameters<typeof isExpired>[0], columns: Readonly<Record<string, number | null>>, fold_time: number) =>
  isExpired(table, row(columns), fold_time, RETENTION)

describe('what expires', () => {
  it.each([
    ['a key, a whole hour of them at once', 'idempotency_keys', { folded_hour_at: HOUR }, HOUR + 169 * HOUR_MS],
    ['a refusal, a whole day of them at once', 'refusals', { folded_at: DAY + 12 * HOUR_MS }, DAY + 31 * DAY_MS],
    ['a closed outbox row', 'dispatch_outbox', { closed_at: DAY + 12 * HOUR_MS }, DAY + 31 * DAY_MS],
    ['a derived run key', 'run_key_index', { expires_at: HOUR }, HOUR + 1],
  ] as const)('%s', (_, table, columns, gone_at) => {
    expect(expired(table, columns, gone_at - 1)).toBe(false)
    expect(expired(table, columns, gone_at)).toBe(true)
  })

  it.each([
    ['an open outbox row', 'dispatch_outbox', { closed_at: null }],
    ['a chosen run key', 'run_key_index', { expires_at: null }],
    ['a run', 'runs', { finished_at: 0 }],
    ['a quarantined event', 'quarantine', { folded_at: 0 }],
  ] as const)('%s never does', (_, table, columns) => {
    expect(expired(table, columns, HOUR + 10_000 * DAY_MS)).toBe(false)
  })

  it('is said by one column, the one that divides the files where they are divided', () => {
    for (const table of TABLE_NAMES) {
      const { period, columns } = tableNamed(table)
      const cut = expiryCut(table, HOUR + 5, RETENTION)
      if (cut !== undefined) expect(Object.keys(columns)).toContain(cut.column)
      if (period !== undefined) {
        expect(cut?.column).toBe(period.column)
        expect((cut?.at ?? 1) % period.unit_ms).toBe(0)
      }
    }
  })

  it('follows the retention that the revision recorded', () => {
    const short = { ...RETENTION, idempotency_hours: 1 }
    expect(isExpired('idempotency_keys', row({ folded_hour_at: HOUR }), HOUR + 2 * HOUR_MS, short)).toBe(true)
    expect(runKeyExpiry('sched:s:1', HOUR, short)).toBe(HOUR + HOUR_MS)
    expect(runKeyExpiry('user:1', HOUR, short)).toBeNull()
  })
})
