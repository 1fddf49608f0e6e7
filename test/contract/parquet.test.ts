// Table files against two readers that share no code with them: hyparquet and DuckDB.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { canonicalJson } from '../../src/core/canonical.js'
import { isOperatingError } from '../../src/core/errors.js'
import type { Column } from '../../src/projections/table.js'
import { keyOfRow, type LooseRow, TABLE_NAMES, type TableName, tableNamed } from '../../src/projections/tables.js'
import { FILE_LAYOUTS } from '../../src/tables/columns/file-column.js'
import { decodeRows, encodeRows } from '../../src/tables/parquet.js'
import { fileOf } from '../fixtures/parquet-file.js'
import { createRandom } from '../fixtures/random.js'
import { rowsOf } from '../fixtures/table-rows.js'

const SCOPE = { tenant_id: 'acme', workspace_id: 'prod' }
const RUNS = 8

let folder: string
let duckdb: DuckDBConnection

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-parquet-'))
  duckdb = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  await duckdb.run("set TimeZone = 'UTC'")
})

afterAll(async () => {
  duckdb.closeSync()
  await rm(folder, { recursive: true, force: true })
})

const arrayBufferOf = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer

const columnsOf = (table: TableName): readonly (readonly [string, Column])[] => Object.entries(tableNamed(table).columns)

/** A value as another reader sees it. */
function seenBy(column: Column, value: unknown): unknown {
  if (value === null && (column.nullable || column.type !== 'json')) return null
  if (column.type === 'json') return canonicalJson(value)
  if (column.type === 'int64' || column.type === 'timestamp') return BigInt(value as number)
  return value
}

const rowsSeen = (table: TableName, rows: readonly LooseRow[]): unknown[][] =>
  rows.map((row) => [...Object.values(SCOPE), ...columnsOf(table).map(([name, column]) => seenBy(column, row[name]))])

async function readWithHyparquet(table: TableName, bytes: Uint8Array): Promise<unknown[][]> {
  const parsers = { timestampFromMilliseconds: (value: bigint) => value, jsonFromBytes: (value: Uint8Array) => value }
  const rows = await parquetReadObjects({ file: arrayBufferOf(bytes), compressors, parsers: parsers as never })
  return rows.map((row) => ['tenant_id', 'workspace_id', ...columnsOf(table).map(([name]) => name)].map((name) => row[name] ?? null))
}

let written = 0
/** Each under a name of its own, as table files are: DuckDB keeps what it has read of a name, within a tick of the file's clock. */
async function writeTemporary(bytes: Uint8Array): Promise<string> {
  written += 1
  const path = join(folder, `file-${written}.parquet`)
  await writeFile(path, bytes)
  return path
}

async function readWithDuckdb(table: TableName, path: string): Promise<unknown[][]> {
  const columns = columnsOf(table).map(([name, { type }]) => (type === 'timestamp' ? `epoch_ms("${name}")` : `"${name}"`))
  const select = ['tenant_id', 'workspace_id', ...columns].join(', ')
  const result = await duckdb.runAndReadAll(
    `select ${select} from read_parquet('${path}', file_row_number = true) order by file_row_number`,
  )
  return result.getRows() as unknown[][]
}

const DUCKDB_TYPES: Readonly<Record<Column['type'], string>> = {
  string: 'VARCHAR',
  json: 'VARCHAR',
  int32: 'INTEGER',
  int64: 'BIGINT',
  double: 'DOUBLE',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP WITH TIME ZONE',
}

/** A row that holds something in every column, and two numbers to tell rows apart. */
function plainRow(table: TableName, key: number, version: number): LooseRow {
  const values = columnsOf(table).map(([name, column]): readonly [string, unknown] => {
    switch (column.type) {
      case 'string':
        return [name, `${name}-${String(key).padStart(6, '0')}`]
      case 'json':
        return [name, { key, name }]
      case 'boolean':
        return [name, key % 2 === 0]
      case 'int32':
      case 'int64':
      case 'double':
      case 'timestamp':
        return [name, key]
    }
  })
  return { ...Object.fromEntries(values), row_version: version } as LooseRow
}

describe('a table file', () => {
  test.each(TABLE_NAMES)('of %s says the same to every reader', async (table) => {
    await fc.assert(
      fc.asyncProperty(rowsOf(table, 20), async (rows) => {
        const file = await encodeRows(table, SCOPE, rows)
        expect(file.rows).toBe(rows.length)
        expect(file.min_key).toEqual(keyOfRow(table, rows[0] as LooseRow))
        expect(file.max_key).toEqual(keyOfRow(table, rows.at(-1) as LooseRow))
        const firstKeys = tableNamed(table).bloom ? rows.map((row) => keyOfRow(table, row)[0]) : []
        expect(new Set(file.filter_keys)).toEqual(new Set(firstKeys))
        expect(await decodeRows(table, file.bytes)).toEqual(rows)
        const expected = rowsSeen(table, rows)
        expect(await readWithHyparquet(table, file.bytes)).toEqual(expected)
        expect(await readWithDuckdb(table, await writeTemporary(file.bytes))).toEqual(expected)
      }),
      { numRuns: RUNS },
    )
  })

  test.each(TABLE_NAMES)('of %s has the declared types and nullability', async (table) => {
    const { bytes } = await encodeRows(table, SCOPE, [plainRow(table, 1, 1)])
    const described = await duckdb.runAndReadAll(`describe select * from '${await writeTemporary(bytes)}'`)
    const declared = columnsOf(table).map(([name, column]) => [name, DUCKDB_TYPES[column.type]])
    expect(described.getRows().map((row) => row.slice(0, 2))).toEqual([['tenant_id', 'VARCHAR'], ['workspace_id', 'VARCHAR'], ...declared])
    const { schema, key_value_metadata: notes } = parquetMetadata(arrayBufferOf(bytes))
    const nullable = schema.slice(1).map((element) => [element.name, element.repetition_type === 'OPTIONAL'])
    const scope = [
      ['tenant_id', false],
      ['workspace_id', false],
    ]
    expect(nullable).toEqual([...scope, ...columnsOf(table).map(([name, column]) => [name, column.nullable])])
    expect(notes).toEqual([
      { key: 'servo.table', value: table },
      { key: 'servo.schema_version', value: '1' },
    ])
  })

  test.each(['snappy', 'zstd'] as const)('of several row groups says the same to every reader (%s)', async (compression) => {
    const rows = Array.from({ length: 18_000 }, (_, index) => plainRow('pools', index, index % 7))
    const file = await encodeRows('pools', SCOPE, rows, { compression })
    const { row_groups: groups } = parquetMetadata(arrayBufferOf(file.bytes))
    expect(groups.map((group) => Number(group.num_rows))).toEqual([...Array.from({ length: 8 }, () => 2_048), 1_616])
    // Jest's own comparison takes a minute for this many rows.
    expect(isDeepStrictEqual(await decodeRows('pools', file.bytes), rows)).toBe(true)
    const expected = rowsSeen('pools', rows)
    expect(isDeepStrictEqual(await readWithHyparquet('pools', file.bytes), expected)).toBe(true)
    expect(isDeepStrictEqual(await readWithDuckdb('pools', await writeTemporary(file.bytes)), expected)).toBe(true)
  })

  test('is the same bytes for the same rows', async () => {
    const rows = Array.from({ length: 500 }, (_, index) => plainRow('tasks', index, index))
    const [first, second] = [await encodeRows('tasks', SCOPE, rows), await encodeRows('tasks', SCOPE, rows)]
    expect(Buffer.compare(first.bytes, second.bytes)).toBe(0)
  })

  test('has smaller row groups where texts are long', async () => {
    const trigger = { text: 'x'.repeat(20_000) }
    const rows = Array.from({ length: 3_000 }, (_, index) => ({ ...plainRow('run_key_conflicts', index, 1), trigger }))
    const { bytes } = await encodeRows('run_key_conflicts', SCOPE, rows)
    expect(parquetMetadata(arrayBufferOf(bytes)).row_groups.length).toBeGreaterThan(1)
    expect(isDeepStrictEqual(await decodeRows('run_key_conflicts', bytes), rows)).toBe(true)
  })

  test('carries statistics that exclude row groups', async () => {
    const rows = Array.from({ length: 17_000 }, (_, index) => plainRow('partition_status', index, index))
    const path = await writeTemporary((await encodeRows('partition_status', SCOPE, rows)).bytes)
    const statistics = await duckdb.runAndReadAll(
      `select path_in_schema, stats_min_value, stats_max_value from parquet_metadata('${path}') where row_group_id = 1 and
       path_in_schema in ('asset_key', 'last_attempt_at', 'row_version') order by 1`,
    )
    expect(statistics.getRows()).toEqual([
      ['asset_key', 'asset_key-002048', 'asset_key-004095'],
      ['last_attempt_at', '1970-01-01 00:00:02.048+00', '1970-01-01 00:00:04.095+00'],
      ['row_version', '2048', '4095'],
    ])
  })

  test('names the times and the keys for the filter', async () => {
    const rows = [3, 5, 9].map((key) => ({ ...plainRow('runs', key, 1), finished_at: key === 9 ? null : key * 100 }))
    const file = await encodeRows('runs', SCOPE, rows)
    expect(file.times).toEqual({ requested_at: [3, 9], finished_at: [300, 500] })
    expect(file.filter_keys).toEqual(['run_id-000003', 'run_id-000005', 'run_id-000009'])
    expect((await encodeRows('pools', SCOPE, [plainRow('pools', 1, 1)])).filter_keys).toEqual([])
  })
})

describe('a row that is not what its table declares', () => {
  const row = plainRow('pools', 1, 1)
  test.each([
    ['an integer past 32 bits', { ...row, in_use: 2 ** 31 }, /Column in_use of a pools row wants int32 and was given number 2147483648/],
    ['half an integer', { ...row, in_use: 0.5 }, /Column in_use/],
    ['an integer past 53 bits', { ...row, row_version: 2 ** 53 }, /Column row_version/],
    ['an instant as text', { ...row, updated_at: '2025-01-01' }, /Column updated_at of a pools row wants timestamp and was given string/],
    ['null in a column that has none', { ...row, pool_key: null }, /Column pool_key/],
    [
      'no value at all',
      { ...row, removed_at: undefined },
      /Column removed_at of a pools row wants timestamp or null and was given nothing/,
    ],
    ['a number as text', { ...row, updated_by: 7 }, /Column updated_by/],
  ])('is a bug: %s', async (_what, wrong, message) => {
    await expect(encodeRows('pools', SCOPE, [wrong as LooseRow])).rejects.toThrow(message)
  })

  test('is a bug: rows out of order, a key twice, no row', async () => {
    const rows = [plainRow('pools', 2, 1), plainRow('pools', 1, 1)]
    await expect(encodeRows('pools', SCOPE, rows)).rejects.toThrow(/must be sorted/)
    await expect(encodeRows('pools', SCOPE, [row, row])).rejects.toThrow(/must be sorted/)
    await expect(encodeRows('pools', SCOPE, [])).rejects.toThrow(/must have a row/)
  })
})

describe('a file that was not written for today’s columns', () => {
  const row = plainRow('pools', 1, 1)
  const { columns } = FILE_LAYOUTS.pools
  const declared = columns.slice(2)

  test('reads null for a column that it lacks, and leaves out one that is not declared', async () => {
    const younger = { name: 'colour', type: 'string', nullable: false, repeats: false } as const
    const older = [younger, ...declared.filter(({ name }) => name !== 'max_running')]
    const bytes = fileOf(older, [{ ...row, colour: 'red' }])
    expect(await decodeRows('pools', bytes)).toEqual([{ ...row, max_running: null }])
  })

  test.each([
    ['lacks a column that every row has', declared.filter(({ name }) => name !== 'in_use'), /no column in_use/],
    [
      'has another type',
      declared.map((column) => (column.name === 'in_use' ? { ...column, type: 'int64' as const } : column)),
      /Arrow type l/,
    ],
  ])('is corrupt when it %s', async (_what, wrong, message) => {
    await expect(decodeRows('pools', fileOf(wrong, [row]))).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringMatching(message),
    })
  })

  test('is corrupt when a row has no value where every row has one, or no JSON where JSON stands', async () => {
    const loose = declared.map((column) => ({ ...column, nullable: true }))
    await expect(decodeRows('pools', fileOf(loose, [{ ...row, in_use: null }]))).rejects.toMatchObject({ kind: 'corrupt' })
    const definition = plainRow('asset_definitions', 1, 1)
    const texts = FILE_LAYOUTS.asset_definitions.columns
      .slice(2)
      .map((column) => (column.type === 'json' ? { ...column, type: 'string' as const } : column))
    const bytes = fileOf(texts, [{ ...definition, partitions: '{', deps: '[]', definition: '{}' }])
    await expect(decodeRows('asset_definitions', bytes)).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringMatching(/not JSON/),
    })
  })
})

describe('damaged bytes', () => {
  test('that are cut short are corrupt', async () => {
    const { bytes } = await encodeRows('tasks', SCOPE, [plainRow('tasks', 1, 1)])
    for (const length of [0, 3, 11, bytes.length >> 1, bytes.length - 1]) {
      await expect(decodeRows('tasks', bytes.subarray(0, length))).rejects.toMatchObject({ kind: 'corrupt' })
    }
  })

  test('are corrupt wherever a change can be told, and leave the decoder able to decode', async () => {
    const seed = 20_260_101
    const random = createRandom(seed)
    const rows = Array.from({ length: 300 }, (_, index) => plainRow('partition_status', index, index))
    const { bytes } = await encodeRows('partition_status', SCOPE, rows)
    let told = 0
    for (let i = 0; i < 200; i++) {
      const damaged = Buffer.from(bytes)
      const at = random.below(damaged.length)
      damaged[at] = (damaged[at] as number) ^ (1 << random.below(8))
      try {
        await decodeRows('partition_status', damaged)
      } catch (error) {
        if (!isOperatingError(error, 'corrupt')) throw new Error(`seed ${seed}, byte ${at}: not told as corrupt`, { cause: error })
        told++
      }
    }
    expect(told).toBeGreaterThan(0)
    expect(await decodeRows('partition_status', bytes)).toEqual(rows)
  })
})
