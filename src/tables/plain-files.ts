// Table files as JSON arrays, read whole each time: the adapter for simulations, where files are tiny and many. It keeps
// nothing between two calls and never touches a disk.

import { canonicalJson } from '../core/canonical.js'
import { assert, corrupt, missing } from '../core/errors.js'
import { crc32cHex } from '../core/hash.js'
import {
  compareKeys,
  keyOfRow,
  keyText,
  keyTextOfRow,
  type LooseRow,
  type RowKey,
  type TableName,
  tableNamed,
} from '../projections/tables.js'
import type { ObjectStore } from '../storage/object-store.js'
import { filterKeyOf } from './bloom.js'
import { rowFilter } from './condition.js'
import type { EncodedFile, FileReference, MergeOptions, Scan, TableFiles } from './table-files.js'

export type PlainFilesOptions = { readonly store: Pick<ObjectStore, 'label' | 'get'> }

const ROWS_A_BATCH = 1_000

const textEncoder = new TextEncoder()
const textDecoder = new TextDecoder('utf-8', { fatal: true })

export function createPlainFiles({ store }: PlainFilesOptions): TableFiles {
  async function read(table: TableName, file: FileReference): Promise<readonly LooseRow[]> {
    const answer = await store.get(file.name)
    if (answer.kind === 'found') return decode(table, answer.bytes, file)
    throw missing(
      `${file.name} is not in ${store.label}, though a revision names it. Read the pointer again: a merge may have replaced it.`,
    )
  }
  const readAll = async (table: TableName, files: readonly FileReference[]): Promise<LooseRow[]> =>
    (await Promise.all(files.map((file) => read(table, file)))).flat()

  async function lookup(table: TableName, files: readonly FileReference[], keys: readonly RowKey[]): Promise<readonly LooseRow[]> {
    const wanted = new Set(keys.map(keyText))
    return (await readAll(table, files)).filter((row) => wanted.has(keyTextOfRow(table, row)))
  }

  return {
    extension: 'json',
    encode: async (table, rows) => encode(table, rows),
    decode: async (table, bytes, reference) => decode(table, bytes, reference),
    lookup,
    async versions(table, files, keys) {
      const newest = newestOfEach(table, await lookup(table, files, keys))
      return new Map(newest.map((row) => [keyTextOfRow(table, row), row.row_version]))
    },
    scan: async (table, files, scan) => scanRows(table, await readAll(table, files), scan),
    async *merge(table, files, options) {
      const rows = newestOfEach(table, await readAll(table, files)).filter((row) => isKept(row, options))
      for (const batch of batches(rows, options.rows_per_file)) yield encode(table, batch)
    },
    async *stream(table, files) {
      yield* batches(newestOfEach(table, await readAll(table, files)), ROWS_A_BATCH)
    },
    close: async () => undefined,
  }
}

function encode(table: TableName, rows: readonly LooseRow[]): EncodedFile {
  const { bloom, columns } = tableNamed(table)
  const names = Object.keys(columns)
  assert(rows.length > 0, `A file of ${table} must have a row.`)
  for (let i = 1; i < rows.length; i++) {
    const [previous, key] = [keyOfRow(table, rows[i - 1] as LooseRow), keyOfRow(table, rows[i] as LooseRow)]
    assert(compareKeys(previous, key) < 0, `Rows of ${table} must be sorted, each key once: ${previous} comes before ${key}.`)
  }
  for (const row of rows) {
    const absent = names.find((name) => row[name] === undefined)
    assert(absent === undefined, `A ${table} row has no ${absent}: a column without a value is null.`)
  }
  const declared = rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])))
  const keys = rows.map((row) => keyOfRow(table, row))
  return {
    bytes: textEncoder.encode(canonicalJson(declared)),
    rows: rows.length,
    min_key: keys[0] as RowKey,
    max_key: keys.at(-1) as RowKey,
    times: timesOf(table, rows),
    filter_keys: bloom ? keys.map((key) => filterKeyOf(table, key)) : [],
  }
}

function timesOf(table: TableName, rows: readonly LooseRow[]): EncodedFile['times'] {
  const times: Record<string, readonly [number, number]> = {}
  for (const name of tableNamed(table).times) {
    const values = rows.flatMap((row) => (typeof row[name] === 'number' ? [row[name]] : []))
    if (values.length > 0) times[name] = [Math.min(...values), Math.max(...values)]
  }
  return times
}

function decode(table: TableName, bytes: Uint8Array, reference: FileReference): readonly LooseRow[] {
  const found = crc32cHex(bytes)
  if (found !== reference.crc32c) {
    throw corrupt(`${reference.name} has the checksum ${found}, not ${reference.crc32c} as written. Run \`servo ledger verify\`.`)
  }
  const blank = Object.fromEntries(Object.keys(tableNamed(table).columns).map((name) => [name, null]))
  const rows = JSON.parse(textDecoder.decode(bytes)) as LooseRow[]
  return rows.map((row) => ({ ...blank, ...row }))
}

function scanRows(table: TableName, rows: readonly LooseRow[], { where = [], after, limit }: Scan): readonly LooseRow[] {
  const fits = rowFilter(table, where)
  return rows
    .filter((row) => fits(row) && (after === undefined || compareKeys(keyOfRow(table, row), after) > 0))
    .sort((left, right) => compareKeys(keyOfRow(table, left), keyOfRow(table, right)))
    .slice(0, limit)
}

function newestOfEach(table: TableName, rows: readonly LooseRow[]): LooseRow[] {
  const newest = new Map<string, LooseRow>()
  for (const row of rows) {
    const key = keyTextOfRow(table, row)
    const other = newest.get(key)
    if (other === undefined || other.row_version < row.row_version) newest.set(key, row)
  }
  return [...newest.values()].sort((left, right) => compareKeys(keyOfRow(table, left), keyOfRow(table, right)))
}

function isKept(row: LooseRow, { drop_before, only }: MergeOptions): boolean {
  const expires = drop_before === undefined ? null : (row[drop_before.column] as number | null)
  if (drop_before !== undefined && expires !== null && expires < drop_before.at) return false
  const at = only === undefined ? null : (row[only.column] as number | null)
  return only === undefined || (at !== null && at >= only.from && at < only.before)
}

function* batches<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
