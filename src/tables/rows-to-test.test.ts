import { expect, test } from '@jest/globals'
import { DAY_MS, HOUR_MS } from '../core/time.js'
import { rowsToTest } from './rows-to-test.js'
import type { Condition } from './table-files.js'

const NOW = Date.parse('2025-01-15T10:00:00Z')
const WEEK = { rows: 70_000, times: { requested_at: [NOW - 7 * DAY_MS, NOW] as const, finished_at: [NOW - 7 * DAY_MS, NOW] as const } }
const RECENT = { rows: 600, times: { requested_at: [NOW - HOUR_MS, NOW] as const } }
const UNTIMED = { rows: 5_000 }

const since = (ms: number): Condition => ({ column: 'requested_at', is: '>=', value: NOW - ms })
const before = (ms: number): Condition => ({ column: 'requested_at', is: '<', value: NOW - ms })

test.each<[string, readonly { rows: number }[], readonly Condition[], number, number]>([
  ['without a condition the page and no more', [WEEK, RECENT], [], 100, 100],
  ['all, where too few fit to fill the page', [WEEK, RECENT], [since(HOUR_MS)], 5_000, 70_600],
  ['a part of them, where more fit', [WEEK], [since(DAY_MS)], 1_000, 7_000],
  ['between two instants', [WEEK], [since(2 * DAY_MS), before(DAY_MS)], 1_000, 7_000],
  ['one instant is as good as none', [WEEK], [{ column: 'requested_at', is: '=', value: NOW }], 1, 70_000],
  ['the column that says most', [WEEK], [since(DAY_MS), { column: 'finished_at', is: '>=', value: NOW - DAY_MS / 2 }], 1_000, 14_000],
  ['nothing fits', [WEEK], [before(8 * DAY_MS)], 1, 70_000],
  ['a file of one instant fits or not', [{ rows: 10, times: { requested_at: [NOW, NOW] } } as { rows: number }], [since(0)], 5, 5],
  ['files that say nothing are taken to fit', [UNTIMED], [since(1)], 100, 100],
  ['conditions on other columns say nothing', [WEEK], [{ column: 'state', in: ['FAILED'] }], 100, 100],
  ['rows of one key lie together', [WEEK], [{ column: 'run_id', is: '=', value: 'run_a' }, since(1)], 100, 0],
])('%s', (_, files, where, limit, rows) => {
  expect(Math.round(rowsToTest('runs', files, { where, limit }))).toBe(rows)
})
