// What only large, old or vanishing Parquet files show: row groups that are left out, files from before a column was
// declared, copies that go away between two queries.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isOperatingError } from '../../src/core/errors.js'
import { crc32cHex } from '../../src/core/hash.js'
import { type LooseRow, type RowKey, tableNamed } from '../../src/projections/tables.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { createFileCache } from '../../src/tables/cache.js'
import { FILE_LAYOUTS } from '../../src/tables/columns/file-column.js'
import { createParquetFiles } from '../../src/tables/parquet-files.js'
import type { FileReference, Scan, TableFiles } from '../../src/tables/table-files.js'
import { fileOf } from '../fixtures/parquet-file.js'
import { writeFile } from './table-files.js'

const ROWS = 50_000
const SCOPE = { tenant_id: 'acme', workspace_id: 'prod' }

let folder: string
let store: ObjectStore
let files: TableFiles
/** The same files, scanned by DuckDB from the first row on. */
let queried: TableFiles
let references: FileReference[]

const two = (i: number) => String(i).padStart(2, '0')
const blank = Object.fromEntries(Object.entries(tableNamed('partition_status').columns).map(([name]) => [name, null]))

/** Ten assets of five thousand partitions; an outcome in a hundred is FAILED. */
function status(i: number, row_version = 1): LooseRow {
  const partition_key = `2025-${String(i % 5_000).padStart(5, '0')}`
  return {
    ...blank,
    asset_key: `asset-${two(Math.floor(i / 5_000))}`,
    sort_key: partition_key,
    partition_key,
    last_attempt_outcome: i % 100 === 0 ? 'FAILED' : 'SUCCEEDED',
    last_attempt_at: i,
    row_version,
    last_event_id: String(i),
  }
}

const keyOf = (i: number): RowKey => {
  const { asset_key, sort_key, partition_key } = status(i)
  return [asset_key, sort_key, partition_key] as RowKey
}

/** One that DuckDB would refuse to start for. */
const createDuckDbless = () =>
  createParquetFiles({ cache: open(), scope: SCOPE, memory_limit_mb: 128, threads: 0, connections: 1, tested_rows_max: 32_768 })

const numbers = (rows: readonly LooseRow[]) => rows.map(({ last_event_id }) => Number(last_event_id))
const open = () => createFileCache({ store, folder: join(folder, 'cache'), bytes_max: 2 ** 30 })
const parquet = (threads: number, tested_rows_max = 32_768) =>
  createParquetFiles({ cache: open(), scope: SCOPE, memory_limit_mb: 128, threads, connections: 2, tested_rows_max })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-query-'))
  store = createMemoryStore({ clock: Date })
  // Two threads: rows must come in order although two row groups are read at a time.
  files = parquet(2)
  queried = parquet(2, -1)
  const rows = Array.from({ length: ROWS }, (_, i) => status(i))
  references = [await writeFile(store, files, 'partition_status', rows.slice(0, 40_000))]
  references.unshift(await writeFile(store, files, 'partition_status', rows.slice(40_000)))
  references.push(
    await writeFile(
      store,
      files,
      'partition_status',
      rows.filter((_, i) => i % 1_000 === 0).map((_, i) => status(i * 1_000, 2)),
    ),
  )
})
afterAll(async () => {
  await files.close()
  await queried.close()
  await rm(folder, { recursive: true, force: true })
})

const base = () => references.slice(0, 2)

describe('a query of large files', () => {
  test('finds keys that lie together, apart, and in many places', async () => {
    const sets = [
      [17_000],
      Array.from({ length: 300 }, (_, i) => 14_900 + i),
      [1, 20_001, 49_999],
      [5, 6, 7, 44_000, 44_001],
      Array.from({ length: 40 }, (_, i) => i * 1_249),
      [39_999, 40_001],
    ]
    for (const set of sets) {
      const found = await files.lookup('partition_status', base(), set.map(keyOf))
      expect(numbers(found).sort((left, right) => left - right)).toEqual(set)
    }
    const versions = await files.versions('partition_status', references, [keyOf(3_000), keyOf(3_001), ['asset-00', 'x', 'y']])
    expect([...versions.values()].sort()).toEqual([1, 2])
  })

  test.each([
    ['in row groups', () => files],
    ['with DuckDB', () => queried],
  ])('pages through two files as through one, in order, with and without a condition, %s', async (_, open) => {
    const files = open()
    const found: number[] = []
    for (let after: RowKey | undefined; found.length < ROWS; after = keyOf(found.at(-1) as number)) {
      const rows = await files.scan('partition_status', base(), { limit: 7_000, ...(after === undefined ? {} : { after }) })
      found.push(...numbers(rows))
      if (rows.length < 7_000) break
    }
    expect(found).toEqual(Array.from({ length: ROWS }, (_, i) => i))
    const failed = { column: 'last_attempt_outcome', is: '=', value: 'FAILED' } as const
    const rows = await files.scan('partition_status', base(), { where: [failed], after: keyOf(39_050), limit: 100 })
    expect(numbers(rows)).toEqual(Array.from({ length: 100 }, (_, i) => 39_100 + i * 100))
    const ofOne = await files.scan('partition_status', references, {
      where: [failed, { column: 'asset_key', is: '=', value: 'asset-03' }],
      after: keyOf(19_500),
      limit: 100,
    })
    expect(numbers(ofOne)).toEqual([19_600, 19_700, 19_800, 19_900])
    const some = Array.from({ length: 20 }, (_, i) => i * 2_500)
    const many = await files.scan('partition_status', base(), { where: [{ column: 'last_attempt_at', in: some }], limit: 15 })
    expect(numbers(many)).toEqual(some.slice(0, 15))
    const two = {
      where: [{ column: 'asset_key', is: '=', value: 'asset-03' } as const, { column: 'asset_key', is: '=', value: 'x' } as const],
    }
    expect(await files.scan('partition_status', base(), { ...two, limit: 9 })).toEqual([])
    expect(await files.scan('partition_status', base(), { where: two.where.slice(0, 1), after: ['asset-04', '', ''], limit: 9 })).toEqual(
      [],
    )
  })

  test('goes on with DuckDB where hardly any row fits', async () => {
    const last: Scan = { where: [{ column: 'last_attempt_at', is: '=', value: 49_999 }], limit: 1 }
    const closed = createDuckDbless()
    // The first 32,768 rows are tested without it.
    const near: Scan = { ...last, where: [{ column: 'last_attempt_at', is: '=', value: 30_000 }] }
    expect(numbers(await closed.scan('partition_status', base(), near))).toEqual([30_000])
    await expect(closed.scan('partition_status', base(), last)).rejects.toThrow('DuckDB does not start')
    await closed.close()
    expect(numbers(await files.scan('partition_status', base(), last))).toEqual([49_999])
  })

  test('asks DuckDB at once where files say that too many rows would be tested', async () => {
    const cache = open()
    let held = 0
    const counted: typeof cache = { ...cache, hold: (asked) => cache.hold(asked).finally(() => held++) }
    const own = createParquetFiles({ cache: counted, scope: SCOPE, memory_limit_mb: 128, threads: 1, connections: 1 })
    const timed = base().map((reference) => ({ ...reference, times: { last_attempt_at: [0, 49_999] as const } }))
    const since = (value: number, limit: number): Scan => ({ where: [{ column: 'last_attempt_at', is: '>=', value }], limit })
    const asked = async (of: readonly FileReference[], scan: Scan) => {
      held = 0
      return [numbers(await own.scan('partition_status', of, scan)), held]
    }
    expect(await asked(timed, since(49_998, 9))).toEqual([[49_998, 49_999], 1])
    // Nothing is known of these: rows are tested first, and then DuckDB goes through all of them.
    expect(await asked(base(), since(49_998, 9))).toEqual([[49_998, 49_999], 2])
    // Every other row fits, so the page is soon full.
    expect(await asked(timed, since(25_000, 2))).toEqual([[25_000, 25_001], 1])
    await expect(own.scan('partition_status', timed, { where: [{ column: 'no_such', is: '=', value: 1 }], limit: 1 })).rejects.toThrow(
      'no_such',
    )
    await own.close()
  })

  test.each([
    ['in row groups', 100_000],
    ['with DuckDB', -1],
  ])('finds instants and reads a file that another process removes meanwhile, %s', async (_, tested_rows_max) => {
    const others = parquet(1, tested_rows_max)
    const byInstant = () =>
      others.scan('partition_status', base(), { where: [{ column: 'last_attempt_at', is: '>=', value: 49_998 }], limit: 9 })
    expect(numbers(await byInstant())).toEqual([49_998, 49_999])
    for (const entry of readdirSync(join(folder, 'cache'))) rmSync(join(folder, 'cache', entry))
    expect(numbers(await byInstant())).toEqual([49_998, 49_999])
    for (const entry of readdirSync(join(folder, 'cache'))) writeFileSync(join(folder, 'cache', entry), 'torn by a full disk')
    expect(numbers(await byInstant())).toEqual([49_998, 49_999])
    await others.close()
  })
})

describe('what is kept of a file', () => {
  test('goes when other files stand in its place, and who asks for it nevertheless is answered', async () => {
    const own = parquet(1)
    const rows = Array.from({ length: 10 }, (_, i) => status(i))
    const reference = await writeFile(store, own, 'partition_status', rows)
    const copy = open().place(reference)
    const find = async () => numbers(await own.lookup('partition_status', [reference], [keyOf(3)]))
    expect(await find()).toEqual([3])
    const whole = readFileSync(copy)
    const footless = Buffer.concat([whole.subarray(0, -8), Buffer.alloc(8)])
    writeFileSync(copy, footless)
    // Its footer is in memory, so nobody looks at the one in the copy, nor compares the copy again.
    expect(await find()).toEqual([3])
    expect(readFileSync(copy).equals(footless)).toBe(true)
    own.forget([reference])
    expect(await find()).toEqual([3])
    expect(readFileSync(copy).equals(whole)).toBe(true)
    await own.close()
  })
})

describe('files from before a column was declared', () => {
  test.each([
    ['in row groups', 100_000],
    ['with DuckDB', -1],
  ])('have no value in it, alone and beside newer ones, %s', async (_, tested_rows_max) => {
    const { columns } = FILE_LAYOUTS.partition_status
    const older = columns.filter(({ name }) => name !== 'data_version' && name !== 'wiped_at')
    const rows = [60_000, 60_001].map((i) => status(i))
    const bytes = fileOf(
      older,
      rows.map((row) => ({ ...SCOPE, ...row })),
    )
    const reference = {
      name: `old${tested_rows_max}.parquet`,
      rows: 2,
      bytes: bytes.length,
      crc32c: crc32cHex(bytes),
      min_key: keyOf(60_000),
      max_key: keyOf(60_001),
    }
    await store.put(reference.name, bytes, { if_generation: CREATE })
    const others = parquet(1, tested_rows_max)
    expect(await others.lookup('partition_status', [reference], [keyOf(60_001)])).toEqual([status(60_001)])
    const all = [reference, ...base()]
    expect(await others.lookup('partition_status', all, [keyOf(60_001), keyOf(1)])).toHaveLength(2)
    const without = await others.scan('partition_status', all, {
      where: [{ column: 'data_version', is_null: true }],
      after: keyOf(49_998),
      limit: 9,
    })
    expect(without).toEqual([status(49_999), status(60_000), status(60_001)])
    expect(await others.scan('partition_status', [reference], { where: [{ column: 'wiped_at', is: '<', value: 9 }], limit: 9 })).toEqual([])
    await others.close()
  })
})

describe('DuckDB', () => {
  test('is not asked once the files are closed, and says when a query is too large for it', async () => {
    const options = { cache: open(), scope: SCOPE, memory_limit_mb: 1, threads: 1, connections: 1, tested_rows_max: -1 }
    const small = createParquetFiles(options)
    const error = await small.scan('partition_status', base(), { limit: 50_000 }).catch((thrown: unknown) => thrown)
    expect([isOperatingError(error, 'unavailable'), String(error)]).toEqual([true, expect.stringContaining('more than the 1 MB')])
    await small.close()
    await expect(small.scan('partition_status', base(), { limit: 1 })).rejects.toThrow('closed')
  })

  test('answers many at once through few connections', async () => {
    const wanted = Array.from({ length: 30 }, (_, i) => i * 1_601)
    const at = (value: number): Scan => ({ where: [{ column: 'last_attempt_at', is: '=', value }], limit: 9 })
    const found = await Promise.all(wanted.map((i) => queried.scan('partition_status', base(), at(i))))
    expect(found.map((rows) => numbers(rows))).toEqual(wanted.map((i) => [i]))
  })
})
