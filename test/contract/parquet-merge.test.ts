// Merges of table files against a merge of rows in a map, which shares no code with them.

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { compareKeys, keyOfRow, keyText, type LooseRow, type TableName } from '../../src/projections/tables.js'
import { FILE_LAYOUTS } from '../../src/tables/columns/file-column.js'
import { decodeRows, encodeRows } from '../../src/tables/parquet.js'
import { type MergeSource, mergeFiles, streamFiles } from '../../src/tables/parquet-merge.js'
import type { ColdTest, EncodedFile, MergeOptions } from '../../src/tables/table-files.js'
import { fileOf } from '../fixtures/parquet-file.js'
import { createRandom } from '../fixtures/random.js'
import { rowsOf, sortedRows } from '../fixtures/table-rows.js'

const SCOPE = { tenant_id: 'acme', workspace_id: 'prod' }
const RUNS = 30

let folder: string
let written = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-merge-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function writeBytes(bytes: Uint8Array): Promise<MergeSource> {
  const path = join(folder, `${written++}.parquet`)
  await writeFile(path, bytes)
  return { path }
}

/** As a revision or checkpoint lists it: with its smallest key, so that it is opened late. */
async function writeListed(table: TableName, rows: readonly LooseRow[]): Promise<MergeSource> {
  const { bytes, min_key } = await encodeRows(table, SCOPE, rows)
  return { ...(await writeBytes(bytes)), min_key }
}

/** Of a few rows a row group. */
const writeGrouped = (table: TableName, rows: readonly LooseRow[], groupRows: number): Promise<MergeSource> =>
  writeBytes(fileOf(FILE_LAYOUTS[table].columns.slice(2), rows, groupRows))

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

async function rowsIn(table: TableName, files: readonly EncodedFile[]): Promise<LooseRow[]> {
  const rows: LooseRow[] = []
  for (const file of files) {
    const decoded = await decodeRows(table, file.bytes)
    expect(decoded.length).toBe(file.rows)
    expect(file.min_key).toEqual(keyOfRow(table, decoded[0] as LooseRow))
    expect(file.max_key).toEqual(keyOfRow(table, decoded.at(-1) as LooseRow))
    for (const row of decoded) rows.push(row)
  }
  return rows
}

function isCold(row: LooseRow, table: TableName, test: ColdTest): boolean {
  if ('led_by' in test) return test.led_by.has(keyOfRow(table, row)[0] as string)
  const at = row[test.column] as number | null
  if (test.unless_set !== undefined && row[test.unless_set] !== null) return false
  return at !== null && test.from <= at && at < test.before
}

/** The same result, by way of a map. */
function mergeRows(table: TableName, sources: readonly (readonly LooseRow[])[], options: Partial<MergeOptions> = {}): LooseRow[] {
  const newest = new Map<string, LooseRow>()
  for (const row of sources.flat()) {
    const key = keyText(keyOfRow(table, row))
    const known = newest.get(key)
    if (known === undefined || row.row_version > known.row_version) newest.set(key, row)
  }
  const { drop_before, only, cold } = options
  return [...newest.values()]
    .filter((row) => {
      const expires = drop_before === undefined ? null : (row[drop_before.column] as number | null)
      if (drop_before !== undefined && expires !== null && expires < drop_before.at) return false
      if (cold !== undefined && isCold(row, table, cold.test) !== (cold.keeps === 'cold')) return false
      const at = only === undefined ? 0 : (row[only.column] as number | null)
      return only === undefined || (at !== null && at >= only.from && at < only.before)
    })
    .sort((left, right) => compareKeys(keyOfRow(table, left), keyOfRow(table, right)))
}

/** Few keys, so that files share them; each file's versions are its own, as a revision writes a row once. */
const someSources = (table: TableName, keys: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc
    .array(rowsOf(table, 30, { ...keys, row_version: fc.nat({ max: 20 }) }), { minLength: 1, maxLength: 6 })
    .map((sources) => sources.map((rows, index) => rows.map((row) => ({ ...row, row_version: row.row_version * 6 + index }))))

const fewTexts = fc.constantFrom('', 'a', 'ab', 'b', '\uffff', '😀', 'c')

describe('a merge of table files', () => {
  test('is what a map of rows says, cut into files of so many rows', async () => {
    const keys = { run_id: fc.constantFrom('r', 'run'), task_key: fewTexts, attempt: fc.integer({ min: -1, max: 1 }) }
    await fc.assert(
      fc.asyncProperty(someSources('dispatch_outbox', keys), fc.nat({ max: 40 }), fc.nat({ max: 9 }), async (sources, cut, groupRows) => {
        const files = await Promise.all(
          sources.map((rows) =>
            groupRows === 0 ? writeListed('dispatch_outbox', rows) : writeGrouped('dispatch_outbox', rows, groupRows),
          ),
        )
        const rowsPerFile = cut + 1
        const merged = await collect(mergeFiles('dispatch_outbox', SCOPE, files, { rows_per_file: rowsPerFile }))
        const expected = mergeRows('dispatch_outbox', sources)
        expect(await rowsIn('dispatch_outbox', merged)).toEqual(expected)
        expect(merged.length).toBe(Math.ceil(expected.length / rowsPerFile))
        expect((await collect(streamFiles('dispatch_outbox', files))).flat()).toEqual(expected)
        expect((await collect(streamFiles('dispatch_outbox', files, { at_once: 3, folder }))).flat()).toEqual(expected)
      }),
      { numRuns: RUNS },
    )
  })

  test('leaves out what has expired, judged by the newest row of a key, and what is of another period', async () => {
    const times = fc.option(fc.integer({ min: 0, max: 9 }))
    const keys = { run_key: fewTexts, created_at: fc.integer({ min: 0, max: 9 }), expires_at: times }
    const bound = fc.integer({ min: 0, max: 9 })
    await fc.assert(
      fc.asyncProperty(someSources('run_key_index', keys), bound, bound, bound, async (sources, at, from, before) => {
        const files = await Promise.all(sources.map((rows) => writeListed('run_key_index', rows)))
        const filters: readonly Partial<MergeOptions>[] = [
          { drop_before: { column: 'expires_at', at } },
          { only: { column: 'created_at', from, before } },
          { only: { column: 'expires_at', from, before } },
          { drop_before: { column: 'expires_at', at }, only: { column: 'created_at', from, before } },
          ...(['cold', 'hot'] as const).flatMap((keeps) => [
            { cold: { keeps, test: { column: 'expires_at', from, before } } },
            { cold: { keeps, test: { column: 'created_at', from, before, unless_set: 'expires_at' } } },
            { cold: { keeps, test: { led_by: new Set(['', 'ab', '😀'].slice(0, at)) } }, drop_before: { column: 'expires_at', at } },
          ]),
        ]
        for (const filter of filters) {
          const merged = await collect(mergeFiles('run_key_index', SCOPE, files, { rows_per_file: 3, ...filter }))
          expect(await rowsIn('run_key_index', merged)).toEqual(mergeRows('run_key_index', sources, filter))
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('goes over row groups and over files that follow each other', async () => {
    const seed = 7
    const random = createRandom(seed)
    const rowsWith = (count: number, version: number) =>
      sortedRows(
        'names',
        Array.from({ length: count }, (): LooseRow => {
          const kind = random.pick(['SCHEDULE', 'SENSOR'])
          const released = random.isTrue(0.5) ? random.below(1_000) : null
          const name = `name-${String(random.below(40_000)).padStart(5, '0')}`
          return {
            kind,
            name,
            entity_id: `id-${version}`,
            taken_at: version,
            released_at: released,
            row_version: version,
            last_event_id: 'e',
          }
        }),
      )
    const base = rowsWith(60_000, 1)
    const parts = [base.slice(0, 10_000), base.slice(10_000, 12_000), base.slice(12_000)]
    const sources = [...parts, rowsWith(2_000, 2), rowsWith(22_000, 3), rowsWith(1, 4)]
    const files = await Promise.all(sources.map((rows) => writeListed('names', rows)))
    const expected = mergeRows('names', sources)
    const merged = await collect(mergeFiles('names', SCOPE, files, { rows_per_file: 20_000 }))
    expect(merged.map(({ rows }) => rows)).toEqual([20_000, 20_000, expected.length - 40_000])
    expect(isDeepStrictEqual(await rowsIn('names', merged), expected)).toBe(true)
    const streamed = (await collect(streamFiles('names', [...files].reverse()))).flat()
    expect(isDeepStrictEqual(streamed, expected)).toBe(true)
  })

  test('lets others run between row groups, and can be left early', async () => {
    const rows = Array.from({ length: 70_000 }, (_, index) => index).map(
      (index): LooseRow => ({
        kind: 'SENSOR',
        name: `name-${String(index).padStart(6, '0')}`,
        entity_id: 'x',
        taken_at: index,
        released_at: null,
        row_version: 1,
        last_event_id: 'e',
      }),
    )
    const files = [await writeListed('names', rows)]
    let turns = 0
    let isOver = false
    const count = () => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    for await (const _file of mergeFiles('names', SCOPE, files, { rows_per_file: 40_000 })) break
    isOver = true
    // Three groups were read and written for the first file.
    expect(turns).toBeGreaterThan(3)
  })
})

const row = (name: string): LooseRow => ({
  kind: 'SENSOR',
  name,
  entity_id: 'x',
  taken_at: 1,
  released_at: null,
  row_version: 1,
  last_event_id: 'e',
})

test('a stream of many files reads few at once, from temporary ones that go with it', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `name-${index + 10}`)
  // Each overlaps all others.
  const files = await Promise.all(names.map((name) => writeListed('names', [row('a'), row(name)])))
  const own = await mkdtemp(join(folder, 'temporary-'))
  const seen: LooseRow[] = []
  for await (const rows of streamFiles('names', files, { at_once: 4, folder: own })) {
    seen.push(...rows)
    const [merged = ''] = await readdir(own)
    expect((await readdir(join(own, merged))).filter((name) => name.endsWith('.parquet'))).toHaveLength(3)
  }
  expect(seen.map(({ name }) => name)).toEqual(['a', ...names])
  expect(await readdir(own)).toEqual([])
  for await (const _rows of streamFiles('names', files, { at_once: 4, folder: own })) break
  expect(await readdir(own)).toEqual([])
})

describe('a merge that cannot be right', () => {
  const drain = (...sources: readonly MergeSource[]) => collect(mergeFiles('names', SCOPE, sources, { rows_per_file: 10 }))

  test('says which file is not there', async () => {
    const path = join(folder, 'gone.parquet')
    await expect(drain({ path })).rejects.toMatchObject({ kind: 'missing', message: expect.stringContaining(path) })
  })

  test('says which file is damaged, of another table, or listed with another key', async () => {
    const good = await writeListed('names', [row('a'), row('b')])
    const wrong = [
      await writeBytes(Buffer.from('PAR1 and then something else PAR1')),
      await writeBytes((await encodeRows('names', SCOPE, [row('a')])).bytes.subarray(0, 400)),
      await writeBytes(fileOf(FILE_LAYOUTS.pools.columns.slice(2, 3), [{ ...row('a'), pool_key: 'p' }])),
      { ...(await writeBytes((await encodeRows('names', SCOPE, [row('b')])).bytes)), min_key: ['SENSOR', 'a'] },
    ]
    for (const source of wrong) {
      await expect(drain(good, source)).rejects.toMatchObject({
        kind: 'corrupt',
        message: expect.stringContaining('Run `servo ledger verify`'),
      })
    }
  })

  test.each([
    ['within a row group', 10],
    ['from one row group to the next', 1],
  ])('stops at rows that are not sorted %s', async (_where, groupRows) => {
    const unsorted = await writeGrouped('names', [row('b'), row('a')], groupRows)
    const twice = await writeGrouped('names', [row('b'), row('b')], groupRows)
    await expect(drain(unsorted)).rejects.toMatchObject({ kind: 'corrupt', message: expect.stringMatching(/not sorted/) })
    await expect(drain(twice)).rejects.toMatchObject({ kind: 'corrupt', message: expect.stringMatching(/not sorted/) })
  })
})
