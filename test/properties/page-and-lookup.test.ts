// Pages and look-ups over files that overlap, against a full merge of everything in a map.

import { describe, expect, test } from '@jest/globals'
import type { Column, KeyValue } from '../../src/projections/table.js'
import { keyOfRow, keyText, type LooseRow, type RowKey, rowsByKey, type TableName, tableNamed } from '../../src/projections/tables.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { buildFilter } from '../../src/tables/bloom.js'
import { damagedFiltersOf } from '../../src/tables/damaged-filters.js'
import { createFilterCache, lookupRows } from '../../src/tables/lookup.js'
import { EMPTY_OVERLAY, inKeyOrder, type Layers, layersOf, NO_LAYERS, overlayRow, overlayWith } from '../../src/tables/overlay.js'
import { loadPage } from '../../src/tables/page.js'
import type { Part } from '../../src/tables/revision.js'
import type { Condition, Scan, TableFiles } from '../../src/tables/table-files.js'
import { compareRowKeys, fitsAll, newestOfEach, randomConditions, randomRows, referenceTo } from '../contract/table-files.js'
import { createPlainFiles } from '../fixtures/plain-files.js'
import { createRandom, type Random } from '../fixtures/random.js'

const seed = Number(process.env['SERVO_SEED'] ?? Date.now() % 1_000_000)
const TABLES_TO_TEST: readonly TableName[] = ['partition_status', 'dispatch_outbox', 'run_key_index', 'run_key_conflicts']

type World = {
  readonly table: TableName
  readonly parts: readonly Part[]
  readonly above: Layers
  /** What everything comes to. */
  readonly newest: readonly LooseRow[]
}

let written = 0

async function writePart(store: ObjectStore, files: TableFiles, table: TableName, level: number, rows: readonly LooseRow[]): Promise<Part> {
  const file = await files.encode(table, rows)
  const reference = referenceTo(`part-${++written}`, file)
  await store.put(reference.name, file.bytes, { if_generation: CREATE })
  const filter = level > 0 && tableNamed(table).bloom ? `${reference.name}.bloom` : null
  if (filter !== null) await store.put(filter, buildFilter(file.filter_keys), { if_generation: CREATE })
  return { ...reference, level, times: level > 0 ? file.times : {}, filter, period: null }
}

/** Runs of parts that do not overlap, single parts that do, newer rows above older ones or below them, an overlay on top. */
async function buildWorld(random: Random, store: ObjectStore, files: TableFiles, table: TableName): Promise<World> {
  const parts: Part[] = []
  const all: LooseRow[] = []
  const versions = [1, 2, 3, 4, 5].sort(() => random.next() - 0.5)
  for (const [level, version] of versions.slice(0, random.below(5)).entries()) {
    const rows = randomRows(random, table, 1 + random.below(80), { row_version: () => version })
    const size = random.isTrue(0.5) ? rows.length : 1 + random.below(20)
    for (let start = 0; start < rows.length; start += size) {
      parts.push(await writePart(store, files, table, level, rows.slice(start, start + size)))
    }
    all.push(...rows)
  }
  const { above, rows } = await buildAbove(random, table)
  return { table, parts, above, newest: newestOfEach(table, [...all, ...rows]) }
}

/** Revisions above the base, small ones over large ones and the other way round, asked for pages between them or not. */
async function buildAbove(random: Random, table: TableName): Promise<{ readonly above: Layers; readonly rows: readonly LooseRow[] }> {
  const rows: LooseRow[] = []
  let overlay = EMPTY_OVERLAY
  const end = 9 + random.below(6)
  for (let sequence = 9; sequence < end; sequence++) {
    const changed = randomRows(random, table, 1 + random.below(random.pick([5, 60])), { row_version: () => sequence })
    overlay = overlayWith(overlay, sequence, new Map([[table, rowsByKey(table, changed)]]))
    if (random.isTrue(0.5)) inKeyOrder(table, await layersOf(overlay, table))
    rows.push(...changed)
  }
  return { above: await layersOf(overlay, table), rows }
}

function expectedPage({ table, newest }: World, { where = [], after, limit }: Scan): readonly LooseRow[] {
  const marker =
    after === undefined ? undefined : (Object.fromEntries(tableNamed(table).key.map((name, i) => [name, after[i]])) as LooseRow)
  const isAfter = (row: LooseRow) => marker === undefined || compareRowKeys(table, row, marker) > 0
  return newest.filter((row) => fitsAll(row, where) && isAfter(row)).slice(0, limit)
}

/** The first key column held equal to that of some row. */
function leadingCondition(random: Random, { table, newest }: World): readonly Condition[] {
  const [column] = tableNamed(table).key
  return newest.length === 0 ? [] : [{ column: column as string, is: '=', value: random.pick(newest)[column as string] as string }]
}

describe(`over files that overlap (seed ${seed})`, () => {
  test.each(TABLES_TO_TEST)('a page of %s is what a full merge says', async (table) => {
    const random = createRandom(`${seed}/page/${table}`)
    for (let round = 0; round < 20; round++) {
      const store = createMemoryStore({ clock: Date })
      const files = createPlainFiles({ store })
      const world = await buildWorld(random, store, files, table)
      for (let i = 0; i < 8; i++) {
        const where = [...randomConditions(random, table), ...(random.isTrue(0.3) ? leadingCondition(random, world) : [])]
        const after = world.newest.length > 0 && random.isTrue(0.5) ? keyOfRow(table, random.pick(world.newest)) : undefined
        const scan: Scan = { where, limit: random.pick([1, 2, 7, 100]), ...(after === undefined ? {} : { after }) }
        const asked = random.isTrue(0.5) ? {} : { filters: createFilterCache({ store }) }
        const page = await loadPage({ ...world, files, scan, ...asked })
        expect({ seed, round, scan, page }).toEqual({ seed, round, scan, page: expectedPage(world, scan) })
      }
    }
  })

  test.each(TABLES_TO_TEST)('page after page gives every row of %s once', async (table) => {
    const random = createRandom(`${seed}/pages/${table}`)
    for (let round = 0; round < 10; round++) {
      const store = createMemoryStore({ clock: Date })
      const files = createPlainFiles({ store })
      const world = await buildWorld(random, store, files, table)
      const where: Condition[] = random.isTrue(0.5) ? [] : randomConditions(random, table)
      const limit = 1 + random.below(9)
      const found: LooseRow[] = []
      for (let page: readonly LooseRow[] = []; found.length === 0 || page.length === limit; ) {
        const last = found.at(-1)
        page = await loadPage({ ...world, files, scan: { where, limit, ...(last === undefined ? {} : { after: keyOfRow(table, last) }) } })
        found.push(...page)
        if (page.length === 0) break
      }
      expect({ seed, round, found }).toEqual({ seed, round, found: expectedPage(world, { where, limit: 1_000 }) })
    }
  })

  test.each(TABLES_TO_TEST)('a look-up in %s finds the newest row of each key, and no other', async (table) => {
    const random = createRandom(`${seed}/lookup/${table}`)
    for (let round = 0; round < 30; round++) {
      const store = createMemoryStore({ clock: Date })
      const files = createPlainFiles({ store })
      const world = await buildWorld(random, store, files, table)
      const keys = randomRows(random, table, 30).map((row) => keyOfRow(table, row))
      if (world.newest.length > 0) keys.push(keyOfRow(table, random.pick(world.newest)), keyOfRow(table, random.pick(world.newest)))
      const source = { ...world, files, filters: createFilterCache({ store }), overlay: (key: RowKey) => overlayRow(world.above, key) }
      const wanted = new Set(keys.map(keyText))
      const found = await lookupRows(source, keys)
      const expected = world.newest.filter((row) => wanted.has(keyText(keyOfRow(table, row))))
      expect({ seed, round, found: newestOfEach(table, found), count: found.length }).toEqual({
        seed,
        round,
        found: expected,
        count: expected.length,
      })
    }
  })
})

const keyRow = (run_key: string, version = 1): LooseRow => ({
  run_key,
  run_id: 'r',
  request_fingerprint: 'f',
  request_event_id: 'e',
  created_at: 1,
  expires_at: null,
  row_version: version,
  last_event_id: 'e',
})

describe('a look-up', () => {
  test('of a key that no filter knows opens no file, and asks for each filter once', async () => {
    const store = createMemoryStore({ clock: Date })
    const files = createPlainFiles({ store })
    const parts = []
    for (let i = 0; i < 20; i++) {
      const rows = Array.from({ length: 10 }, (_, n) => keyRow(`user:${n}-${i}`))
      parts.push(await writePart(store, files, 'run_key_index', 1, rows))
    }
    const asked: string[] = []
    const counting = { ...store, get: (name: string) => store.get(asked[asked.push(name) - 1] as string) }
    const source = {
      files: createPlainFiles({ store: counting }),
      table: 'run_key_index' as const,
      parts,
      filters: createFilterCache({ store: counting }),
      overlay: () => undefined,
    }
    const absent = Array.from({ length: 50 }, (_, n): RowKey => [`user:${n % 10}-x${n}`])
    expect(await lookupRows(source, absent)).toEqual([])
    expect(await lookupRows(source, absent)).toEqual([])
    expect([...asked].sort()).toEqual(parts.map(({ filter }) => filter as string).sort())
    expect(await lookupRows(source, [['user:3-7']])).toEqual([keyRow('user:3-7')])
    expect(asked.at(-1)).toBe(parts[7]?.name)
    expect(asked).toHaveLength(21)
  })

  test('keeps no more filters than it may, and goes on without one that is gone', async () => {
    const store = createMemoryStore({ clock: Date })
    const names = ['a', 'b', 'c']
    for (const name of names)
      await store.put(name, buildFilter(Array.from({ length: 1_000 }, (_, i) => `${name}${i}`)), { if_generation: CREATE })
    const asked: string[] = []
    const counting = { ...store, get: (name: string) => store.get(asked[asked.push(name) - 1] as string) }
    const filters = createFilterCache({ store: counting }, 7_000)
    for (const filter of ['a', 'b', 'a', 'c', 'a', 'b']) expect((await filters({ filter }))?.key_count).toBe(1_000)
    expect(asked.join('')).toBe('abcb')
    expect(filters({ filter: null })).toBeUndefined()
    expect(await filters({ filter: 'd' })).toBeUndefined()
    expect(damagedFiltersOf(counting).names()).toEqual(['d'])
  })
})

describe('a page', () => {
  const status = (partition_key: string, version: number, outcome: string) =>
    ({
      ...Object.fromEntries(Object.entries(tableNamed('partition_status').columns).map(([name, column]) => [name, blankOf(column)])),
      asset_key: 'a',
      sort_key: partition_key,
      partition_key,
      last_attempt_outcome: outcome,
      row_version: version,
    }) as unknown as LooseRow
  const failed: Condition[] = [{ column: 'last_attempt_outcome', is: '=', value: 'FAILED' }]

  test('does not lose a row whose newest version a scan had no more room for', async () => {
    const store = createMemoryStore({ clock: Date })
    const files = createPlainFiles({ store })
    const replaced = ['1', '2', '3', '4', '5']
    const parts = [
      await writePart(
        store,
        files,
        'partition_status',
        3,
        [...replaced, '6'].map((key) => status(key, 1, 'FAILED')),
      ),
      await writePart(
        store,
        files,
        'partition_status',
        2,
        replaced.map((key) => status(key, 2, 'SUCCEEDED')),
      ),
      await writePart(store, files, 'partition_status', 1, [status('6', 3, 'FAILED')]),
    ]
    // Six rows are asked for: the sixth is the older one of key 6.
    const page = await loadPage({ files, table: 'partition_status', parts, above: NO_LAYERS, scan: { where: failed, limit: 2 } })
    expect(page).toEqual([status('6', 3, 'FAILED')])
  })

  test('hides what is cold behind the one part above it that has a newer version, and asks none where it is not cold', async () => {
    const store = createMemoryStore({ clock: Date })
    const files = createPlainFiles({ store })
    const asked: number[] = []
    const counting: TableFiles = {
      ...files,
      versions: (table, references, keys) => {
        asked.push(keys.length)
        return files.versions(table, references, keys)
      },
    }
    const old = await writePart(
      store,
      files,
      'partition_status',
      1,
      ['1', '2', '3'].map((key) => status(key, 1, 'FAILED')),
    )
    const parts = [await writePart(store, files, 'partition_status', 1, [status('2', 2, 'SUCCEEDED'), status('4', 2, 'FAILED')])]
    const source = { files: counting, table: 'partition_status' as const, above: NO_LAYERS, scan: { where: failed, limit: 10 } }
    const page = await loadPage({ ...source, parts, cold: [{ ...old, day: '2025-01-01' }] })
    expect(page).toEqual([status('1', 1, 'FAILED'), status('3', 1, 'FAILED'), status('4', 2, 'FAILED')])
    expect(asked.length).toBe(1)
    const withinParts: Scan = { where: failed, limit: 10, after: ['a', '3', '3'] }
    expect(await loadPage({ ...source, parts, cold: [{ ...old, day: '2025-01-01' }], scan: withinParts })).toEqual([
      status('4', 2, 'FAILED'),
    ])
    expect(asked.length).toBe(1)
  })

  test('asks no file for newer versions of what filters say it has not', async () => {
    const store = createMemoryStore({ clock: Date })
    const files = createPlainFiles({ store })
    // Each covers the keys of the other, and they share one.
    const older = [10, 12, 14, 16, 18].map((n) => keyRow(`user:${n}`, 1))
    const newer = [11, 12, 13, 17].map((n) => keyRow(`user:${n}`, 2))
    const parts = [await writePart(store, files, 'run_key_index', 2, older), await writePart(store, files, 'run_key_index', 1, newer)]
    const asked: (readonly RowKey[])[] = []
    const counting: TableFiles = {
      ...files,
      versions: (table, references, keys) => {
        asked.push(keys)
        return files.versions(table, references, keys)
      },
    }
    const scan: Scan = { where: [{ column: 'run_id', is: '=', value: 'r' }], limit: 100 }
    const source = { files: counting, table: 'run_key_index' as const, parts, above: NO_LAYERS, scan }
    const page = await loadPage({ ...source, filters: createFilterCache({ store }) })
    expect(page.map(({ run_key, row_version }) => `${run_key} ${row_version}`)).toEqual(
      ['10 1', '11 2', '12 2', '13 2', '14 1', '16 1', '17 2', '18 1'].map((text) => `user:${text}`),
    )
    expect(await loadPage(source)).toEqual(page)
    // Of those in both ranges: by filters the one that two have, without them all.
    expect(asked).toEqual([[['user:12']], [11, 12, 13, 14, 16, 17].map((n) => [`user:${n}`])])
  })

  test('costs what it shows, however many rows there are', async () => {
    const store = createMemoryStore({ clock: Date })
    const files = createPlainFiles({ store })
    const limits: number[] = []
    const counting: TableFiles = {
      ...files,
      scan: (table, references, scan) => {
        limits.push(scan.limit)
        return files.scan(table, references, scan)
      },
    }
    const key = (i: number) => String(i).padStart(5, '0')
    const base = Array.from({ length: 3_000 }, (_, i) => status(key(i), 1, 'FAILED'))
    // Every third one succeeded since, in a file above.
    const above = base.filter((_, i) => i % 3 === 0).map(({ partition_key }) => status(String(partition_key), 2, 'SUCCEEDED'))
    const parts = [await writePart(store, files, 'partition_status', 5, base), await writePart(store, files, 'partition_status', 1, above)]
    const start = createRandom(seed).below(1_000)
    const source = { files: counting, table: 'partition_status' as const, parts, above: NO_LAYERS }
    const page = await loadPage({ ...source, scan: { where: failed, after: ['a', key(start), key(start)], limit: 100 } })
    const expected = base.slice(start + 1).filter((_, i) => (start + 1 + i) % 3 !== 0)
    expect(page.map(({ partition_key }) => partition_key)).toEqual(expected.slice(0, 100).map(({ partition_key }) => partition_key))
    expect(limits.reduce((sum, limit) => sum + limit, 0)).toBeLessThanOrEqual(400)
  })
})

const blankOf = ({ nullable, type }: Column): KeyValue | null => (nullable ? null : type === 'string' ? '' : 0)
