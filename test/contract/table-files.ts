// What every adapter of the table files' port promises, compared with rows in arrays. The oracle shares no code with the
// adapters: it orders text by its UTF-8 bytes and reads conditions in its own words.

import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isOperatingError } from '../../src/core/errors.js'
import { crc32cHex } from '../../src/core/hash.js'
import type { Column, KeyValue } from '../../src/projections/table.js'
import { keyOfRow, keyText, type LooseRow, type RowKey, type TableName, tableNamed } from '../../src/projections/tables.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import type { Comparison, Condition, EncodedFile, FileReference, Scan, TableFiles } from '../../src/tables/table-files.js'
import { createRandom, type Random } from '../fixtures/random.js'

export type TableFilesSubject = {
  readonly name: string
  /** Files over an empty store. */
  readonly open: () => Promise<{ readonly store: ObjectStore; readonly files: TableFiles }>
  readonly close?: () => Promise<void>
}

const seed = Number(process.env['SERVO_SEED'] ?? Date.now() % 1_000_000)

/** Text keys, a number in the key, a boolean, JSON that may be null, instants that may be null. */
const SUBJECT_TABLES: readonly TableName[] = [
  'partition_status',
  'dispatch_outbox',
  'dep_satisfaction',
  'refusals',
  'run_key_index',
  'names',
]
const ROUNDS = 3

// In the order of their UTF-8 bytes; UTF-16 units would put the emoji before U+FFFF.
const TEXTS = ['', 'A', 'a', "a'b", 'a|b', 'ab', 'b', 'date=2025-01-15|region=us', 'z', 'é', 'ä', '\uffff', '😀', '😀a']
const JSONS = [{}, { b: [1, null], a: 'ä' }, [], 'text', 1.5, true, { deep: { er: '😀' } }]

export const compareBytes = (left: KeyValue, right: KeyValue): number =>
  typeof left === 'number' ? left - Number(right) : Buffer.compare(Buffer.from(left), Buffer.from(String(right)))

export function compareRowKeys(table: TableName, left: LooseRow, right: LooseRow): number {
  for (const name of tableNamed(table).key) {
    const order = compareBytes(left[name] as KeyValue, right[name] as KeyValue)
    if (order !== 0) return order
  }
  return 0
}

function randomValue(random: Random, { type, nullable }: Column): unknown {
  if (nullable && random.isTrue(0.3)) return null
  switch (type) {
    case 'string':
      return random.pick(TEXTS)
    case 'json':
      return random.pick(JSONS)
    case 'int32':
      return random.isTrue(0.1) ? random.pick([-(2 ** 31), 2 ** 31 - 1]) : random.below(4)
    case 'int64':
      return random.isTrue(0.1) ? random.pick([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 40]) : random.below(1_000)
    case 'timestamp':
      return 1_736_935_200_000 + random.below(5) * 1_001
    case 'double':
      return random.next()
    case 'boolean':
      return random.isTrue(0.5)
  }
}

/** Sorted, each key once, at least one. */
export function randomRows(
  random: Random,
  table: TableName,
  count: number,
  fixed: Readonly<Record<string, () => unknown>> = {},
): LooseRow[] {
  const { columns } = tableNamed(table)
  const rows = new Map<string, LooseRow>()
  for (let i = 0; i < count; i++) {
    const row = Object.fromEntries(
      Object.entries(columns).map(([name, column]) => [name, fixed[name]?.() ?? randomValue(random, column)]),
    ) as LooseRow
    rows.set(keyText(keyOfRow(table, row)), row)
  }
  return [...rows.values()].sort((left, right) => compareRowKeys(table, left, right))
}

export const referenceTo = (name: string, { bytes, rows, min_key, max_key }: EncodedFile): FileReference => ({
  name,
  rows,
  bytes: bytes.length,
  crc32c: crc32cHex(bytes),
  min_key,
  max_key,
})

let written = 0

export async function writeFile(
  store: ObjectStore,
  files: TableFiles,
  table: TableName,
  rows: readonly LooseRow[],
): Promise<FileReference> {
  const file = await files.encode(table, rows)
  const reference = referenceTo(`state/orchestration/base/${table}/${++written}.${files.extension}`, file)
  expect((await store.put(reference.name, file.bytes, { if_generation: CREATE })).kind).toBe('stored')
  return reference
}

const HOLDS: Readonly<Record<Comparison, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}

export function fitsAll(row: LooseRow, where: readonly Condition[]): boolean {
  const compare = (value: unknown, wanted: string | number | boolean) =>
    typeof value === 'boolean' ? Number(value) - Number(wanted) : compareBytes(value as KeyValue, wanted as KeyValue)
  return where.every((condition) => {
    const value = row[condition.column]
    if ('is_null' in condition) return (value === null) === condition.is_null
    if (value === null) return false
    if ('in' in condition) return condition.in.some((wanted) => compare(value, wanted) === 0)
    return HOLDS[condition.is](compare(value, condition.value))
  })
}

export function randomConditions(random: Random, table: TableName): Condition[] {
  const comparable = Object.entries(tableNamed(table).columns).filter(([, { type }]) => type !== 'json')
  return Array.from({ length: random.pick([0, 0, 1, 1, 2]) }, (): Condition => {
    const isKey = random.isTrue(0.4)
    const [column, declared] = random.pick(isKey ? comparable.filter(([name]) => tableNamed(table).key.includes(name)) : comparable)
    const value = () => randomValue(random, { ...declared, nullable: false }) as string | number | boolean
    if (random.isTrue(0.15)) return { column, is_null: random.isTrue(0.5) }
    if (random.isTrue(0.3)) return { column, in: Array.from({ length: random.pick([0, 1, 3, 20]) }, value) }
    return { column, is: random.pick(['=', '=', '!=', '<', '<=', '>', '>='] as const), value: value() }
  })
}

const byKeyThenVersion = (table: TableName, rows: readonly LooseRow[]): LooseRow[] =>
  [...rows].sort((left, right) => compareRowKeys(table, left, right) || left.row_version - right.row_version)

export function newestOfEach(table: TableName, rows: readonly LooseRow[]): LooseRow[] {
  const newest = new Map<string, LooseRow>()
  for (const row of byKeyThenVersion(table, rows)) newest.set(keyText(keyOfRow(table, row)), row)
  return byKeyThenVersion(table, [...newest.values()])
}

/** Several files that overlap; no two rows of a key have the same version, as in a real table. */
async function writeSome(random: Random, store: ObjectStore, files: TableFiles, table: TableName) {
  const batches = Array.from({ length: 1 + random.below(4) }, (_, version) =>
    randomRows(random, table, 1 + random.below(60), { row_version: () => version * 7 + 1 }),
  )
  const references = []
  for (const rows of batches) references.push(await writeFile(store, files, table, rows))
  return { all: batches.flat(), references, batches }
}

function randomKeys(random: Random, table: TableName, all: readonly LooseRow[]): RowKey[] {
  const { key, columns } = tableNamed(table)
  const present = Array.from({ length: random.pick([0, 1, 2, 5, 30]) }, () => keyOfRow(table, random.pick(all)))
  const others = Array.from({ length: random.pick([0, 1, 10]) }, () =>
    key.map((name) => randomValue(random, columns[name] as Column) as KeyValue),
  )
  return [...present, ...others]
}

export function testTableFiles(subject: TableFilesSubject): void {
  describe(`${subject.name} table files (seed ${seed})`, () => {
    let store: ObjectStore
    let files: TableFiles

    beforeAll(async () => {
      const opened = await subject.open()
      store = opened.store
      files = opened.files
    })
    afterAll(async () => {
      await files.close()
      await subject.close?.()
    })

    describe.each(SUBJECT_TABLES)('of %s', (table) => {
      const random = createRandom(`${seed}/${subject.name}/${table}`)

      test('read back as they were written, and say what they hold', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const rows = randomRows(random, table, 1 + random.below(80))
          const file = await files.encode(table, rows)
          const reference = referenceTo('a', file)
          expect(await files.decode(table, file.bytes, reference)).toEqual(rows)
          expect(reference.min_key).toEqual(keyOfRow(table, rows[0] as LooseRow))
          expect(reference.max_key).toEqual(keyOfRow(table, rows.at(-1) as LooseRow))
          expect(file.rows).toBe(rows.length)
          const { bloom, key, times } = tableNamed(table)
          expect(new Set(file.filter_keys)).toEqual(new Set(bloom ? rows.map((row) => row[key[0] as string]) : []))
          for (const name of times) {
            const values = rows.map((row) => row[name]).filter((value) => value !== null) as number[]
            expect(file.times[name]).toEqual(values.length === 0 ? undefined : [Math.min(...values), Math.max(...values)])
          }
          expect(Buffer.compare((await files.encode(table, rows)).bytes, file.bytes)).toBe(0)
        }
      })

      test('find keys, whichever files have them', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const { all, references } = await writeSome(random, store, files, table)
          const keys = randomKeys(random, table, all)
          const wanted = new Set(keys.map(keyText))
          const expected = all.filter((row) => wanted.has(keyText(keyOfRow(table, row))))
          const found = await files.lookup(table, references, keys)
          expect(byKeyThenVersion(table, found)).toEqual(byKeyThenVersion(table, expected))
          const versions = await files.versions(table, references, keys)
          const newest = newestOfEach(table, expected)
          expect(versions).toEqual(new Map(newest.map((row) => [keyText(keyOfRow(table, row)), row.row_version])))
        }
      })

      test('scan in key order, after a key, as far as asked, by any condition', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const { all, references } = await writeSome(random, store, files, table)
          for (let i = 0; i < 6; i++) {
            const where = randomConditions(random, table)
            const [after] = random.isTrue(0.5) ? [] : randomKeys(random, table, all)
            const scan: Scan = { where, limit: random.pick([1, 3, 20, 1_000]), ...(after === undefined ? {} : { after }) }
            const marker =
              after === undefined ? undefined : (Object.fromEntries(tableNamed(table).key.map((name, at) => [name, after[at]])) as LooseRow)
            const fitting = byKeyThenVersion(table, all).filter(
              (row) => fitsAll(row, where) && (marker === undefined || compareRowKeys(table, row, marker) > 0),
            )
            const found = await files.scan(table, references, scan)
            const keysOf = (rows: readonly LooseRow[]) => rows.map((row) => keyOfRow(table, row))
            const context = JSON.stringify({ seed, scan })
            expect([context, keysOf(found)]).toEqual([context, keysOf(fitting.slice(0, scan.limit))])
            // Which versions of the last key come first is open; each row is there at most as often as in the files.
            const rest = [...fitting]
            for (const row of found) {
              const place = rest.findIndex((other) => isDeepStrictEqual(row, other))
              expect([context, place >= 0]).toEqual([context, true])
              rest.splice(place, 1)
            }
          }
        }
      })

      test('merge into files of so many rows, the newest row of each key, and stream the same', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const { all, references } = await writeSome(random, store, files, table)
          const expected = newestOfEach(table, all)
          const merged = []
          for await (const file of files.merge(table, references, { rows_per_file: 20 })) merged.push(file)
          expect(merged.map(({ rows }) => rows)).toEqual(
            Array.from({ length: Math.ceil(expected.length / 20) }, (_, i) => Math.min(20, expected.length - i * 20)),
          )
          const decoded = await Promise.all(merged.map((file) => files.decode(table, file.bytes, referenceTo('m', file))))
          expect(decoded.flat()).toEqual(expected)
          const streamed = []
          for await (const rows of files.stream(table, references)) streamed.push(...rows)
          expect(streamed).toEqual(expected)
        }
      })
    })

    test('leave expired rows and rows of other periods out of a merge', async () => {
      const random = createRandom(`${seed}/${subject.name}/expiry`)
      const rows = randomRows(random, 'run_key_index', 40)
      const reference = await writeFile(store, files, 'run_key_index', rows)
      const at = 1_736_935_200_000 + 2 * 1_001
      const mergeWith = async (options: object) => {
        const merged = []
        for await (const file of files.merge('run_key_index', [reference], { rows_per_file: 1_000, ...options })) {
          merged.push(...(await files.decode('run_key_index', file.bytes, referenceTo('m', file))))
        }
        return merged
      }
      expect(await mergeWith({ drop_before: { column: 'expires_at', at } })).toEqual(
        rows.filter(({ expires_at }) => expires_at === null || (expires_at as number) >= at),
      )
      expect(await mergeWith({ only: { column: 'created_at', from: at, before: at + 1_001 } })).toEqual(
        rows.filter(({ created_at }) => created_at === at),
      )
      expect(await mergeWith({ only: { column: 'created_at', from: 0, before: 1 } })).toEqual([])
      const cold = { column: 'created_at', from: at, before: at + 1_001, unless_set: 'expires_at' }
      const isCold = ({ created_at, expires_at }: LooseRow) => created_at === at && expires_at === null
      expect(await mergeWith({ cold: { keeps: 'cold', test: cold } })).toEqual(rows.filter(isCold))
      expect(await mergeWith({ cold: { keeps: 'hot', test: cold } })).toEqual(rows.filter((row) => !isCold(row)))
      const led_by = new Set(rows.slice(0, 20).map(({ run_key }) => String(run_key)))
      expect(await mergeWith({ cold: { keeps: 'cold', test: { led_by } } })).toEqual(
        rows.filter(({ run_key }) => led_by.has(String(run_key))),
      )
      const [first, last] = [String(rows[2]?.['run_key']), String(rows.at(-3)?.['run_key'])]
      expect(await mergeWith({ led: { after: first, through: last } })).toEqual(rows.slice(3, -2))
      expect(await mergeWith({ led: { after: null, through: first } })).toEqual(rows.slice(0, 3))
      expect(await mergeWith({ led: { after: last, through: null }, cold: { keeps: 'hot', test: cold } })).toEqual(
        rows.slice(-2).filter((row) => !isCold(row)),
      )
    })

    test('answer nothing where nothing is asked or nothing is there', async () => {
      const reference = await writeFile(store, files, 'pools', [pool('a')])
      expect(await files.lookup('pools', [], [['a']])).toEqual([])
      expect(await files.lookup('pools', [reference], [])).toEqual([])
      expect(await files.versions('pools', [reference], [['b']])).toEqual(new Map())
      expect(await files.lookup('pools', [reference], [['b'], ['0'], ['zz']])).toEqual([])
      expect(await files.scan('pools', [], { limit: 1 })).toEqual([])
      expect(await files.scan('pools', [reference], { limit: 5, after: ['a'] })).toEqual([])
      expect(await files.scan('pools', [reference], { limit: 5, where: [{ column: 'pool_key', is: '=', value: 'c' }] })).toEqual([])
    })

    test('say which condition is not one', async () => {
      const reference = await writeFile(store, files, 'pools', [pool('a')])
      const scan = (condition: Condition) => files.scan('pools', [reference], { limit: 1, where: [condition] })
      await expect(scan({ column: 'tenant_id', is: '=', value: 'acme' })).rejects.toThrow('pools has no column tenant_id')
      await expect(scan({ column: 'in_use"; drop', is: '=', value: 1 })).rejects.toThrow('pools has no column')
      await expect(scan({ column: 'constructor', is_null: true })).rejects.toThrow('pools has no column')
      await expect(scan({ column: 'in_use', is: '=', value: '1' })).rejects.toThrow('in_use of pools is compared with a number')
      await expect(scan({ column: 'updated_at', is: '<', value: 1.5 })).rejects.toThrow('updated_at of pools')
    })

    test('compare with numbers that a column cannot hold', async () => {
      const reference = await writeFile(store, files, 'pools', [pool('a')])
      const count = async (is: Comparison, value: number) =>
        (await files.scan('pools', [reference], { limit: 9, where: [{ column: 'in_use', is, value }] })).length
      expect(await count('<', 2 ** 40)).toBe(1)
      expect(await count('=', 2 ** 40 + 1)).toBe(0)
      expect(await count('>', 0.5)).toBe(1)
      expect(await count('=', 1.5)).toBe(0)
      expect(await count('>', -1e300)).toBe(1)
    })

    test('say that a file is missing, or damaged', async () => {
      const rows = Array.from({ length: 50 }, (_, i) => pool(`pool-${i + 10}`))
      const file = await files.encode('pools', rows)
      const gone = referenceTo(`state/gone.${files.extension}`, file)
      const bytes = file.bytes.slice()
      const middle = bytes.length >> 1
      bytes[middle] = (bytes[middle] as number) ^ 1
      const damaged = referenceTo(`state/damaged.${files.extension}`, file)
      await store.put(damaged.name, bytes, { if_generation: CREATE })
      for (const [kind, reference] of [
        ['missing', gone],
        ['corrupt', damaged],
      ] as const) {
        const calls = [
          () => files.lookup('pools', [reference], [['pool-11']]),
          () => files.versions('pools', [reference], [['pool-11']]),
          () => files.scan('pools', [reference], { limit: 1 }),
          async () => void (await files.merge('pools', [reference], { rows_per_file: 9 })[Symbol.asyncIterator]().next()),
          async () => void (await files.stream('pools', [reference])[Symbol.asyncIterator]().next()),
        ]
        for (const call of calls) {
          const error = await call().then(
            () => undefined,
            (thrown: unknown) => thrown,
          )
          expect([kind, isOperatingError(error, kind), String(error)]).toEqual([kind, true, expect.stringContaining(reference.name)])
        }
      }
      await expect(files.decode('pools', bytes, damaged)).rejects.toThrow('checksum')
    })

    test('write no row twice, none out of order, and none without a column', async () => {
      await expect(files.encode('pools', [])).rejects.toThrow('must have a row')
      await expect(files.encode('pools', [pool('a'), pool('a')])).rejects.toThrow('sorted')
      await expect(files.encode('pools', [pool('😀'), pool('\uffff')])).rejects.toThrow('sorted')
      const { max_running: _, ...without } = pool('a')
      await expect(files.encode('pools', [without as unknown as LooseRow])).rejects.toThrow('max_running')
    })
  })
}

const pool = (pool_key: string): LooseRow => ({
  pool_key,
  max_running: null,
  in_use: 1,
  attempt_ms_mean: null,
  updated_by: null,
  reason: null,
  updated_at: 1,
  removed_at: null,
  expires_at: null,
  row_version: 1,
  last_event_id: 'e',
})
