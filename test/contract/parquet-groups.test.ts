// Rows by key and by page from files of tiny row groups, with room for hardly any of them, against rows in arrays.

import { mkdtemp, readFile, rm, truncate, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isOperatingError } from '../../src/core/errors.js'
import { sha256Hex } from '../../src/core/hash.js'
import { keyOfRow, keyText, type LooseRow, type RowKey, type TableName, tableNamed } from '../../src/projections/tables.js'
import type { GroupColumns } from '../../src/tables/columns/arrow-memory.js'
import { FILE_LAYOUTS } from '../../src/tables/columns/file-column.js'
import { declaredPlaces, openParquet, type RowRange } from '../../src/tables/columns/parquet-reader.js'
import { loadParquet } from '../../src/tables/columns/parquet-writer.js'
import { decodeColumns } from '../../src/tables/columns/row-decoder.js'
import { findRows, findVersions } from '../../src/tables/groups/find-rows.js'
import { createGroupCache, type FileAt, type GroupFile } from '../../src/tables/groups/group-cache.js'
import { scanRows } from '../../src/tables/groups/scan-rows.js'
import { encodeRows } from '../../src/tables/parquet.js'
import type { Scan } from '../../src/tables/table-files.js'
import { fileOf } from '../fixtures/parquet-file.js'
import { createRandom, type Random } from '../fixtures/random.js'
import { compareRowKeys, fitsAll, newestOfEach, randomConditions, randomRows } from './table-files.js'

const seed = Number(process.env['SERVO_SEED'] ?? Date.now() % 1_000_000)
const TABLES: readonly TableName[] = ['partition_status', 'dispatch_outbox', 'run_key_index', 'dep_satisfaction']
const EVERYTHING = 1_000_000

let folder: string
let written = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-groups-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function write(table: TableName, rows: readonly LooseRow[], groupRows: number): Promise<FileAt> {
  const path = join(folder, `${written++}.parquet`)
  await writeFile(path, fileOf(FILE_LAYOUTS[table].columns.slice(2), rows, groupRows))
  return { path, min_key: keyOfRow(table, rows[0] as LooseRow) }
}

type World = { readonly all: readonly LooseRow[]; readonly runs: readonly (readonly FileAt[])[] }

/** Runs that overlap, each of one file or more. */
async function writeWorld(random: Random, table: TableName): Promise<World> {
  const all: LooseRow[] = []
  const runs: FileAt[][] = []
  for (let run = 0; run < 1 + random.below(4); run++) {
    const rows = randomRows(random, table, 1 + random.below(150), { row_version: () => run * 7 + 1 })
    const size = random.isTrue(0.5) ? rows.length : 1 + random.below(40)
    const files: FileAt[] = []
    for (let start = 0; start < rows.length; start += size) {
      files.push(await write(table, rows.slice(start, start + size), 1 + random.below(9)))
    }
    all.push(...rows)
    runs.push(files)
  }
  return { all, runs }
}

const sorted = (table: TableName, rows: readonly LooseRow[]): LooseRow[] =>
  [...rows].sort((left, right) => compareRowKeys(table, left, right) || left.row_version - right.row_version)

const intoRuns = ({ runs }: World, files: readonly GroupFile[]): readonly (readonly GroupFile[])[] => {
  const rest = [...files]
  return runs.map((run) => rest.splice(0, run.length))
}

describe(`row groups (seed ${seed})`, () => {
  test.each(TABLES)('have the keys of %s that are there, and no others', async (table) => {
    const random = createRandom(`${seed}/groups/${table}`)
    const layout = FILE_LAYOUTS[table]
    for (let round = 0; round < 5; round++) {
      const world = await writeWorld(random, table)
      const cache = createGroupCache(random.pick([0, 2_000, EVERYTHING]))
      for (let i = 0; i < 4; i++) {
        const keys = [...randomRows(random, table, 30), ...Array.from({ length: random.below(40) }, () => random.pick(world.all))].map(
          (row) => keyOfRow(table, row),
        )
        const wanted = new Set(keys.map(keyText))
        const expected = world.all.filter((row) => wanted.has(keyText(keyOfRow(table, row))))
        const found = await cache.use(layout, world.runs.flat(), (files) => findRows(layout, files, keys))
        expect({ seed, round, found: sorted(table, found) }).toEqual({ seed, round, found: sorted(table, expected) })
        const versions = await cache.use(layout, world.runs.flat(), (files) => findVersions(layout, files, keys))
        const newest = newestOfEach(table, expected)
        expect(versions).toEqual(new Map(newest.map((row) => [keyText(keyOfRow(table, row)), row.row_version])))
      }
      await cache.close()
    }
  })

  test.each(TABLES)('give pages of %s in key order, whatever the condition', async (table) => {
    const random = createRandom(`${seed}/scan/${table}`)
    const layout = FILE_LAYOUTS[table]
    for (let round = 0; round < 5; round++) {
      const world = await writeWorld(random, table)
      const cache = createGroupCache(random.pick([0, 2_000, EVERYTHING]))
      for (let i = 0; i < 6; i++) {
        const where = random.isTrue(0.4) ? prefixConditions(random, table, world.all) : randomConditions(random, table)
        const after = random.isTrue(0.5) ? keyOfRow(table, random.pick(world.all)) : undefined
        const scan: Scan = { where, limit: random.pick([1, 7, 50, 1_000]), ...(after === undefined ? {} : { after }) }
        const expected = sorted(table, world.all).filter((row) => fitsAll(row, where) && isAfter(table, row, after))
        const found = await cache.use(layout, world.runs.flat(), (files) => scanRows(layout, intoRuns(world, files), scan, EVERYTHING))
        const keysOf = (rows: readonly LooseRow[] | undefined) => rows?.map((row) => keyText(keyOfRow(table, row)))
        expect({ seed, round, scan, keys: keysOf(found) }).toEqual({ seed, round, scan, keys: keysOf(expected.slice(0, scan.limit)) })
        if (scan.limit >= expected.length) expect(sorted(table, found ?? [])).toEqual(expected)
      }
      await cache.close()
    }
  })
})

/** Leading key columns held equal to those of a row, sometimes twice, and differently. */
function prefixConditions(random: Random, table: TableName, all: readonly LooseRow[]): NonNullable<Scan['where']> {
  const { key } = tableNamed(table)
  const row = random.pick(all)
  const conditions = key
    .slice(0, 1 + random.below(key.length))
    .map((column) => ({ column, is: '=', value: row[column] as string }) as const)
  const [column] = key
  return random.isTrue(0.2)
    ? [...conditions, { column: column as string, is: '=', value: random.pick(all)[column as string] as string }]
    : conditions
}

function isAfter(table: TableName, row: LooseRow, after: RowKey | undefined): boolean {
  if (after === undefined) return true
  const marker = Object.fromEntries(tableNamed(table).key.map((name, i) => [name, after[i]])) as LooseRow
  return compareRowKeys(table, row, marker) > 0
}

describe('files of a merge', () => {
  const table = 'partition_status'
  const layout = FILE_LAYOUTS[table]

  async function writeMerged(random: Random) {
    const rows = randomRows(random, table, 5_000, {
      last_materialization_id: () => sha256Hex(String(random.below(1_000_000))),
      last_event_id: () => sha256Hex(String(random.below(1_000_000))),
    })
    const { bytes, min_key } = await encodeRows(table, { tenant_id: 't', workspace_id: 'w' }, rows)
    const path = join(folder, `${written++}.parquet`)
    await writeFile(path, bytes)
    return { rows, bytes, file: { path, min_key } }
  }

  test(`have the rows that are asked for, one by one or near each other (seed ${seed})`, async () => {
    const random = createRandom(`${seed}/pages`)
    const { rows, file } = await writeMerged(random)
    const cache = createGroupCache(EVERYTHING)
    for (const count of [1, 2, 30, 400]) {
      const start = random.below(rows.length)
      const wanted = [...rows.slice(start, start + count), ...Array.from({ length: count }, () => random.pick(rows))]
      const keys = [...wanted, ...randomRows(random, table, 20)].map((row) => keyOfRow(table, row))
      const texts = new Set(keys.map(keyText))
      const expected = rows.filter((row) => texts.has(keyText(keyOfRow(table, row))))
      expect(sorted(table, await cache.use(layout, [file], (files) => findRows(layout, files, keys)))).toEqual(sorted(table, expected))
    }
    await cache.close()
  })

  test('are read by pages: a row costs a fraction of its group', async () => {
    const { rows, bytes } = await writeMerged(createRandom(`${seed}/bytes`))
    let read = 0
    const source = {
      size: bytes.length,
      read: async (start: number, end: number) => {
        read += end - start
        return new Uint8Array(bytes.subarray(start, end)).buffer
      },
    }
    const reader = await openParquet(loadParquet(), layout, 'a file', source)
    const bytesOf = async (range?: RowRange) => {
      read = 0
      const ids = (columns: GroupColumns) => decodeColumns(layout, columns).map((row) => row.last_event_id)
      const found = await reader.read(0, declaredPlaces(layout), ids, range)
      const start = range?.start ?? 0
      expect(found).toEqual(rows.slice(start, start + found.length).map((row) => row.last_event_id))
      return read
    }
    const whole = await bytesOf()
    expect(await bytesOf({ start: 1_000, end: 1_001 })).toBeLessThan(whole / 3)
    reader.close()
  })
})

describe('a cache of row groups', () => {
  const table = 'run_key_index'
  const layout = FILE_LAYOUTS[table]
  const row = (i: number): LooseRow => ({
    run_key: `user:${String(i).padStart(5, '0')}`,
    run_id: 'r',
    request_fingerprint: 'f',
    request_event_id: 'e',
    created_at: 1,
    expires_at: null,
    row_version: 1,
    last_event_id: String(i),
  })
  const rows = Array.from({ length: 1_000 }, (_, i) => row(i))
  const lookUp = (cache: ReturnType<typeof createGroupCache>, file: FileAt, i: number) =>
    cache.use(layout, [file], (files) => findRows(layout, files, [keyOfRow(table, row(i))]))

  test('reads a group once while there is room for it, and again when there was none', async () => {
    const file = await write(table, rows, 100)
    const roomy = createGroupCache(EVERYTHING)
    const narrow = createGroupCache(0)
    const places = declaredPlaces(layout)
    const columnsOf = (cache: typeof roomy, group = 3) =>
      cache.use(layout, [file], ([opened]) => (opened as GroupFile).columns(group, places))
    const [first, narrowFirst] = [await columnsOf(roomy), await columnsOf(narrow)]
    for (const cache of [roomy, narrow]) await columnsOf(cache, 4)
    for (const i of [5, 950]) expect(await lookUp(roomy, file, i)).toEqual([row(i)])
    for (const i of [5, 950]) expect(await lookUp(narrow, file, i)).toEqual([row(i)])
    expect((await columnsOf(roomy))[layout.row_version]).toBe(first[layout.row_version])
    expect((await columnsOf(narrow))[layout.row_version]).not.toBe(narrowFirst[layout.row_version])
    await roomy.close()
    await narrow.close()
  })

  test('tells many who ask at once for the same the same', async () => {
    const file = await write(table, rows, 100)
    const cache = createGroupCache(3_000)
    const asked = Array.from({ length: 60 }, (_, i) => (i * 37) % 1_000)
    expect(await Promise.all(asked.map((i) => lookUp(cache, file, i)))).toEqual(asked.map((i) => [row(i)]))
    await cache.close()
  })

  test('leaves those who are reading a file that is let go of what they have of it, and nobody after them', async () => {
    const file = await write(table, rows, 100)
    const cache = createGroupCache(EVERYTHING)
    const isAtHand = (opened: GroupFile) => !(opened.marks(3) instanceof Promise)
    await cache.use(layout, [file], async (files) => {
      const [opened] = files as readonly [GroupFile]
      await opened.marks(3)
      cache.forget([file.path])
      expect(isAtHand(opened)).toBe(true)
      expect(await findRows(layout, files, [keyOfRow(table, row(555))])).toEqual([row(555)])
      expect(isAtHand(opened)).toBe(true)
    })
    await cache.use(layout, [file], async ([opened]) => {
      const marks = (opened as GroupFile).marks(3)
      expect(marks).toBeInstanceOf(Promise)
      await marks
    })
    await cache.close()
  })

  test('opens a file only for what it does not have, and notices that it changed or went', async () => {
    const file = await write(table, rows, 100)
    const cache = createGroupCache(EVERYTHING)
    const scan = () => cache.use(layout, [file], (files) => scanRows(layout, [files], { limit: 1, where: [] }, EVERYTHING))
    const keys = () => cache.use(layout, [file], ([opened]) => (opened as GroupFile).columns(0, layout.key))
    expect(await scan()).toEqual([row(0)])
    const known = await keys()
    const whole = await readFile(file.path)
    await truncate(file.path, 5_000)
    expect(await keys()).toBe(known)
    const torn = await lookUp(cache, file, 555).catch((error: unknown) => error)
    expect([isOperatingError(torn, 'corrupt'), String(torn)]).toEqual([true, expect.stringContaining('has 5000 bytes where it had')])
    await writeFile(file.path, whole)
    expect(await lookUp(cache, file, 555)).toEqual([row(555)])
    await unlink(file.path)
    const gone = await lookUp(cache, file, 755).catch((error: unknown) => error)
    expect([isOperatingError(gone, 'missing'), String(gone)]).toEqual([true, expect.stringContaining('is not there')])
    cache.forget([file.path])
    expect(isOperatingError(await lookUp(cache, file, 5).catch((error: unknown) => error), 'missing')).toBe(true)
    await cache.close()
    await expect(lookUp(cache, file, 5)).rejects.toThrow('closed')
  })
})
