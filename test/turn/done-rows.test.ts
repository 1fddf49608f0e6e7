// The rows that a replay is done with, against a map of them: found by key whatever else shares their place in the index, the
// newest of each, and all of them in key order.

import { tmpdir } from 'node:os'
import { afterEach, expect, test } from '@jest/globals'
import { DAY_MS, HOUR_MS } from '../../src/core/time.js'
import { RETENTION } from '../../src/projections/retention.js'
import { type ChangedRows, compareRows, keyOfRow, type LooseRow, rowsByKey, type TableName } from '../../src/projections/tables.js'
import { createDoneRows, type DoneRows } from '../../src/turn/replayed/done-rows.js'
import { digestOf } from '../../src/turn/replayed/key-index.js'
import { rowsInOrder } from '../../src/turn/replayed/merged-runs.js'
import { createRandom } from '../fixtures/random.js'

let open: DoneRows[] = []
function create(): DoneRows {
  const rows = createDoneRows(tmpdir(), 10_000)
  open.push(rows)
  return rows
}
afterEach(() => {
  for (const rows of open) rows.close()
  open = []
})

const keyRow = (key: string, row_version: number, at = 0): LooseRow => ({
  idempotency_key: key,
  event_id: `event of ${key}\n`,
  event_type: 'RunRequested',
  folded_hour_at: at,
  row_version,
  last_event_id: 'é\u2028\u{1f600}',
})

const quarantined = (event_index: number, row_version: number): LooseRow => ({
  segment_name: 'a',
  batch_index: 0,
  event_index,
  reason: 'BAD_JSON',
  event_type: null,
  event_version: null,
  event_id: null,
  raw: 'x'.repeat(event_index * 700),
  detail: { text: '],\n[', list: [1, null, { a: 1e300 }] },
  folded_at: 0.5,
  row_version,
  last_event_id: '',
})

const changed = (table: TableName, rows: readonly LooseRow[]): ChangedRows => new Map([[table, rowsByKey(table, rows)]])

function all(rows: DoneRows, table: TableName, newest: readonly LooseRow[] = []): LooseRow[] {
  const { lines, runs } = rows.finish(changed(table, newest))
  const next = rowsInOrder(lines, runs)(table)
  const found: LooseRow[] = []
  for (let row = next(); row !== undefined; row = next()) found.push(row)
  return found
}

test('are found by key and told in order, the newest of each, like a map of them', async () => {
  const random = createRandom('done rows')
  const rows = create()
  const model = new Map<string, LooseRow>()
  for (let version = 1; version <= 40; version++) {
    const keys = Array.from({ length: 200 }, () => `key ${random.below(3_000)}`)
    const found = await rows.lookup(
      'idempotency_keys',
      [...new Set(keys)].map((key) => [key]),
    )
    const expected = [...new Set(keys)].flatMap((key) => model.get(key) ?? [])
    expect(found).toEqual(expected)
    const written = keys.filter(() => random.below(2) === 0).map((key) => keyRow(key, version))
    rows.add(changed('idempotency_keys', written), 0, RETENTION)
    for (const row of written) model.set(row['idempotency_key'] as string, row)
  }
  const newest = [keyRow('key 17', 41), keyRow('zzz', 41), keyRow('', 41)]
  for (const row of newest) model.set(row['idempotency_key'] as string, row)
  expect(all(rows, 'idempotency_keys', newest)).toEqual([...model.values()].sort((a, b) => compareRows('idempotency_keys', a, b)))
})

test('are found again if they replaced a row that nobody had looked up', async () => {
  const rows = create()
  for (const version of [1, 2, 3]) rows.add(changed('idempotency_keys', [keyRow('same', version)]), 0, RETENTION)
  expect(await rows.lookup('idempotency_keys', [['same']])).toEqual([keyRow('same', 3)])
  rows.add(changed('idempotency_keys', [keyRow('same', 4)]), 0, RETENTION)
  expect(await rows.lookup('idempotency_keys', [['same']])).toEqual([keyRow('same', 4)])
  expect(all(rows, 'idempotency_keys')).toEqual([keyRow('same', 4)])
})

test('have keys of numbers in the order of numbers, and lines longer than what is read at a time', async () => {
  const rows = create()
  const written = Array.from({ length: 120 }, (_, i) => quarantined(i, 1))
  rows.add(changed('quarantine', [...written].reverse()), 0, RETENTION)
  expect(await rows.lookup('quarantine', [keyOfRow('quarantine', written[119] as LooseRow)])).toEqual([written[119]])
  expect(all(rows, 'quarantine')).toEqual(written)
})

/** There are a few among a million. */
function pairOfOneDigest(): readonly [string, string] {
  const seen = new Map<number, string>()
  for (let i = 0; ; i++) {
    const text = `key ${i}`
    const digest = digestOf('idempotency_keys', text)
    const other = seen.get(digest)
    if (other !== undefined) return [other, text]
    seen.set(digest, text)
  }
}

test('of two keys with one digest are told apart', async () => {
  const [first, second] = pairOfOneDigest()
  const rows = create()
  rows.add(changed('idempotency_keys', [keyRow(first, 1)]), 0, RETENTION)
  expect(await rows.lookup('idempotency_keys', [[second]])).toEqual([])
  rows.add(changed('idempotency_keys', [keyRow(second, 2)]), 0, RETENTION)
  expect(await rows.lookup('idempotency_keys', [[first], [second]])).toEqual([keyRow(first, 1), keyRow(second, 2)])
  rows.add(changed('idempotency_keys', [keyRow(second, 3)]), 0, RETENTION)
  expect(await rows.lookup('idempotency_keys', [[first], [second]])).toEqual([keyRow(first, 1), keyRow(second, 3)])
})

test('that have expired make room in the index, and others stay', async () => {
  const rows = create()
  const kept = Array.from({ length: 500 }, (_, i) => keyRow(`kept ${i}`, 1, 30 * DAY_MS))
  rows.add(changed('idempotency_keys', kept), 30 * DAY_MS, RETENTION)
  for (let hour = 0; hour < 200; hour++) {
    const written = Array.from({ length: 200 }, (_, i) => keyRow(`${hour} ${i}`, 1, hour * HOUR_MS))
    rows.add(changed('idempotency_keys', written), (hour + 200) * HOUR_MS, RETENTION)
  }
  expect(rows.entryCount()).toBeLessThan(200 * 100)
  expect(
    await rows.lookup(
      'idempotency_keys',
      kept.map((row) => keyOfRow('idempotency_keys', row)),
    ),
  ).toEqual(kept)
})

test('that replace an expired row are found, though its entry is gone', async () => {
  const rows = create()
  rows.add(changed('idempotency_keys', [keyRow('same', 1, 0)]), 0, RETENTION)
  expect(await rows.lookup('idempotency_keys', [['same']])).toEqual([keyRow('same', 1, 0)])
  const now = 30 * DAY_MS
  // So many that every shard is built anew before the row comes.
  const many = Array.from({ length: 5_000 }, (_, i) => keyRow(`many ${i}`, 2, now))
  rows.add(changed('idempotency_keys', [...many, keyRow('same', 2, now)]), now, RETENTION)
  expect(await rows.lookup('idempotency_keys', [['same']])).toEqual([keyRow('same', 2, now)])
})

test('that expire stay until all of their run has', async () => {
  const rows = create()
  const now = 30 * DAY_MS
  const first = Array.from({ length: 1_000 }, (_, i) => keyRow(`first ${i}`, 1, i === 999 ? now : 0))
  rows.add(changed('idempotency_keys', first), 0, RETENTION)
  rows.add(
    changed(
      'idempotency_keys',
      Array.from({ length: 5_000 }, (_, i) => keyRow(`second ${i}`, 2, now)),
    ),
    now,
    RETENTION,
  )
  expect(await rows.lookup('idempotency_keys', [['first 999']])).toEqual([keyRow('first 999', 1, now)])
})
