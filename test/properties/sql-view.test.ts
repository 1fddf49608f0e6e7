// The view of a table over files that overlap, that are older than a column, of several periods, some with rows that have
// expired: against all of their rows merged in a map.

import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { DAY_MS, floorTo, HOUR_MS } from '../../src/core/time.js'
import { expiryCut, isExpired, RETENTION } from '../../src/projections/retention.js'
import { type LooseRow, type TableName, tableNamed } from '../../src/projections/tables.js'
import { FILE_LAYOUTS } from '../../src/tables/columns/file-column.js'
import { encodeRows } from '../../src/tables/parquet.js'
import { runStatement } from '../../src/tables/sql/statement.js'
import { type ViewFile, viewSql } from '../../src/tables/sql/view-sql.js'
import { compareRowKeys, newestOfEach, randomRows } from '../contract/table-files.js'
import { fileOf } from '../fixtures/parquet-file.js'
import { createRandom, type Random } from '../fixtures/random.js'
import { collected, LIMITS } from '../fixtures/sql.js'

const seed = Number(process.env['SERVO_SEED'] ?? Date.now() % 1_000_000)
const ROUNDS = 8
const SCOPE = { tenant_id: 'acme', workspace_id: 'prod' }
/** Where the random rows' instants begin; between two of them some have expired. */
const BEGIN = 1_736_935_200_000
const TABLES: readonly TableName[] = [
  'partition_status',
  'run_key_index',
  'dep_satisfaction',
  'dispatch_outbox',
  'refusals',
  'pools',
  'quarantine',
]

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-view-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

let written = 0

async function write(table: TableName, rows: readonly LooseRow[], part: Pick<ViewFile, 'period' | 'periods'>): Promise<ViewFile> {
  const { bytes, min_key, max_key } = await encodeRows(table, SCOPE, rows)
  const path = join(folder, `it's ${++written}.parquet`)
  writeFileSync(path, bytes)
  return { path, min_key, max_key, ...part }
}

async function rowsOf(table: TableName, files: readonly ViewFile[], fold_time: number, where = ''): Promise<readonly LooseRow[]> {
  const { result, rows } = collected()
  const sql = viewSql(table, files, expiryCut(table, fold_time, RETENTION))
  const text = `select * exclude (tenant_id, workspace_id) from ${table} ${where}`
  const answer = await runStatement({ text, ...LIMITS, result, views: [{ name: table, sql }], paths: files.map(({ path }) => path) })
  expect(answer).toEqual({ kind: 'done', row_count: rows.length })
  // Sorted and nothing more: a key that comes twice shall show.
  return rows.map((row) => asRow(table, row)).sort((left, right) => compareRowKeys(table, left, right))
}

/** As the reader has it: instants in milliseconds, JSON as its value. */
function asRow(table: TableName, row: Readonly<Record<string, unknown>>): LooseRow {
  const { columns } = tableNamed(table)
  const entries = Object.entries(row).map(([name, value]) => {
    if (value === null) return [name, null]
    const type = columns[name]?.type
    if (type === 'timestamp') return [name, Date.parse(String(value))]
    return [name, type === 'json' ? (JSON.parse(String(value)) as unknown) : value]
  })
  return Object.fromEntries(entries) as LooseRow
}

/** So few that most keys have several versions. */
function fewKeys(random: Random, table: TableName): Readonly<Record<string, () => string>> {
  const { key, columns } = tableNamed(table)
  const texts = key.filter((name) => columns[name]?.type === 'string')
  const choices = ['', 'a', "a'b", 'é', '\uffff', '😀', 'z'].slice(0, texts.length === 1 ? 7 : 4)
  return Object.fromEntries(texts.map((name) => [name, () => random.pick(choices)]))
}

/** Runs of parts that do not overlap, above and below one another in any order of their versions. */
async function randomFiles(
  random: Random,
  table: TableName,
  runs: number,
): Promise<{ readonly files: readonly ViewFile[]; readonly all: readonly LooseRow[] }> {
  const files: ViewFile[] = []
  const all: LooseRow[] = []
  for (const row_version of [1, 2, 3, 4].sort(() => random.next() - 0.5).slice(0, runs)) {
    const rows = randomRows(random, table, 1 + random.below(60), { ...fewKeys(random, table), row_version: () => row_version })
    const size = random.isTrue(0.5) ? rows.length : 1 + random.below(20)
    for (let start = 0; start < rows.length; start += size) {
      files.push(await write(table, rows.slice(start, start + size), { period: null }))
    }
    all.push(...rows)
  }
  return { files, all }
}

describe(`a view (seed ${seed})`, () => {
  test.each(TABLES)('of %s has the newest version of each key that has not expired', async (table) => {
    const random = createRandom(`${seed}/view/${table}`)
    let expired = 0
    for (let round = 0; round < ROUNDS; round++) {
      const { files, all } = await randomFiles(random, table, round === 0 ? 0 : 1 + random.below(4))
      const fold_time = BEGIN + random.below(6) * 1_001 + (round % 2 === 0 ? 31 * DAY_MS : 0)
      const newest = newestOfEach(table, all)
      const live = newest.filter((row) => !isExpired(table, row, fold_time, RETENTION))
      expired += newest.length - live.length
      const found = await rowsOf(table, files, fold_time)
      expect({ seed, round, found }).toEqual({ seed, round, found: live })
    }
    if (expiryCut(table, 0, RETENTION) !== undefined) expect(expired).toBeGreaterThan(0)
  })

  test('of idempotency keys compares versions within a period alone, and comes to the same', async () => {
    const random = createRandom(`${seed}/periods`)
    const table = 'idempotency_keys'
    for (let round = 0; round < ROUNDS; round++) {
      const hours = [0, 1, 2, 3].map((hour) => floorTo(BEGIN, HOUR_MS) + hour * HOUR_MS)
      const files: ViewFile[] = []
      const all: LooseRow[] = []
      for (const hour of hours) {
        const rows = randomRows(random, table, 1 + random.below(30), {
          row_version: () => 1,
          folded_hour_at: () => hour,
          idempotency_key: () => `${hour}:${random.below(40)}`,
        })
        files.push(await write(table, rows, { period: hour }))
        all.push(...rows)
      }
      // One key of each hour's own, too: files whose keys are apart are not compared.
      const mixed = hours.slice(2).flatMap((hour) => [
        ...all
          .filter((row) => row['folded_hour_at'] === hour)
          .slice(0, 1)
          .map((row) => ({ ...row, row_version: 2 })),
        ...randomRows(random, table, 10, {
          row_version: () => 2,
          folded_hour_at: () => hour,
          idempotency_key: () => `${hour}:${random.below(40)}`,
        }),
      ])
      files.push(await write(table, newestOfEach(table, mixed), { period: null, periods: hours.slice(2) }))
      const fold_time = (hours[1] as number) + RETENTION.idempotency_hours * HOUR_MS
      const live = newestOfEach(table, [...all, ...mixed]).filter((row) => !isExpired(table, row, fold_time, RETENTION))
      expect({ seed, round, found: await rowsOf(table, files, fold_time) }).toEqual({ seed, round, found: live })
      const [, compared = ''] = viewSql(table, files, undefined)
        .split('UNION ALL BY NAME')
        .filter((part) => part.includes('read_parquet'))
      expect(files.map(({ path }) => compared.includes(path.replaceAll("'", "''")))).toEqual([false, false, true, true, true])
    }
  })

  test('of refusals compares versions of all periods: what was refused may come again on another day', async () => {
    const random = createRandom(`${seed}/refusals`)
    const days = [0, 1].map((day) => floorTo(BEGIN, DAY_MS) + day * DAY_MS)
    const [first] = randomRows(random, 'refusals', 1, { row_version: () => 1, folded_at: () => days[0] })
    const again = { ...(first as LooseRow), row_version: 2, folded_at: days[1] }
    const files = [
      await write('refusals', [first as LooseRow], { period: days[0] as number }),
      await write('refusals', [again], { period: days[1] as number }),
    ]
    expect(await rowsOf('refusals', files, BEGIN + DAY_MS)).toEqual([again])
  })

  test('asks for few rows and leaves out files of other keys, with the same answer', async () => {
    const random = createRandom(`${seed}/few`)
    const { files, all } = await randomFiles(random, 'partition_status', 4)
    const live = newestOfEach('partition_status', all)
    const found = await rowsOf('partition_status', files, BEGIN, "where asset_key = 'a' and last_attempt_at is not null")
    expect(found).toEqual(live.filter((row) => row['asset_key'] === 'a' && row['last_attempt_at'] !== null))
  })
})

test('a view has every column with its type, of a table without files and of files that are older than a column', async () => {
  expect(await rowsOf('runs', [], BEGIN)).toEqual([])
  const random = createRandom(`${seed}/older`)
  const columns = FILE_LAYOUTS.pools.columns.filter(({ name }) => name !== 'expires_at')
  const rows = randomRows(random, 'pools', 5, { row_version: () => 1, expires_at: () => null }).map((row) => ({
    ...row,
    expires_at: null,
    ...SCOPE,
  }))
  const path = join(folder, 'older.parquet')
  writeFileSync(path, fileOf(columns, rows))
  const [first, last] = [rows[0], rows.at(-1)] as [LooseRow, LooseRow]
  const older: ViewFile = { path, min_key: [first['pool_key'] as string], max_key: [last['pool_key'] as string], period: null }
  const found = await rowsOf('pools', [older], BEGIN)
  expect(found).toHaveLength(rows.length)
  expect(found.map((row) => row['expires_at'])).toEqual(rows.map(() => null))
  const { result, rows: types } = collected()
  const views = [{ name: 'pools', sql: viewSql('pools', [older], undefined) }]
  await runStatement({ text: 'describe pools', ...LIMITS, result, views, paths: [path] })
  expect(types.map(({ column_name, column_type }) => [column_name, column_type])).toContainEqual(['expires_at', 'TIMESTAMP WITH TIME ZONE'])
  expect(types.map(({ column_name }) => column_name)).toEqual(FILE_LAYOUTS.pools.columns.map(({ name }) => name))
})
