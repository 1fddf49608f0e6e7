// Table files as JSON arrays, read whole: the adapter of the table files' port for crash enumeration and simulation, where
// tens of thousands of tiny files are written. Slow for anything large, and plain enough to be right at a glance.

import { corrupt, missing } from '../core/errors.js'
import { crc32cHex } from '../core/hash.js'
import { compareText } from '../core/order.js'
import { compareKeys, keyOfRow, keyText, type LooseRow, type TableName, tableNamed } from '../projections/tables.js'
import type { ObjectStore } from '../storage/object-store.js'
import { filterKeyOf } from './bloom.js'
import type { Comparison, Condition, EncodedFile, FileReference, MergeOptions, Scan, TableFiles } from './table-files.js'

const textEncoder = new TextEncoder()
const textDecoder = new TextDecoder()

export function createPlainFiles({ store }: { readonly store: ObjectStore }): TableFiles {
  async function read(file: FileReference): Promise<readonly LooseRow[]> {
    const answer = await store.get(file.name)
    if (answer.kind === 'absent') throw missing(`${file.name} is not in ${store.label}. Read the pointer again.`)
    return decode(answer.bytes, file)
  }
  const readAll = async (files: readonly FileReference[]) => (await Promise.all(files.map(read))).flat()
  return {
    extension: 'json',
    encode: async (table, rows) => encode(table, rows),
    decode: async (_table, bytes, reference) => decode(bytes, reference),
    async lookup(table, files, keys) {
      const wanted = new Set(keys.map(keyText))
      return (await readAll(files)).filter((row) => wanted.has(keyText(keyOfRow(table, row))))
    },
    scan: async (table, files, scan) => scanRows(table, await readAll(files), scan),
    async *merge(table, files, options) {
      const rows = newestRows(table, await readAll(files)).filter((row) => isKept(row, options))
      for (let start = 0; start < rows.length; start += options.rows_per_file) {
        yield encode(table, rows.slice(start, start + options.rows_per_file))
      }
    },
    async *stream(table, files) {
      const rows = newestRows(table, await readAll(files))
      if (rows.length > 0) yield rows
    },
    close: async () => undefined,
  }
}

function encode(table: TableName, rows: readonly LooseRow[]): EncodedFile {
  const { times, bloom } = tableNamed(table)
  const keys = rows.map((row) => keyOfRow(table, row))
  const spans = times.flatMap((column) => {
    const values = rows.map((row) => row[column]).filter((value) => typeof value === 'number')
    return values.length === 0 ? [] : [[column, [Math.min(...values), Math.max(...values)] as const] as const]
  })
  return {
    bytes: textEncoder.encode(JSON.stringify(rows)),
    rows: rows.length,
    min_key: keys[0] ?? [],
    max_key: keys.at(-1) ?? [],
    times: Object.fromEntries(spans),
    filter_keys: bloom ? keys.map((key) => filterKeyOf(table, key)) : [],
  }
}

function decode(bytes: Uint8Array, { name, crc32c }: FileReference): readonly LooseRow[] {
  if (crc32cHex(bytes) !== crc32c) {
    throw corrupt(`${name} does not have the checksum ${crc32c} that its revision states. Run \`servo ledger verify\`.`)
  }
  return JSON.parse(textDecoder.decode(bytes)) as readonly LooseRow[]
}

function scanRows(table: TableName, rows: readonly LooseRow[], { where = [], after, limit }: Scan): readonly LooseRow[] {
  const fitting = rows
    .filter((row) => where.every((condition) => fits(row, condition)))
    .filter((row) => after === undefined || compareKeys(keyOfRow(table, row), after) > 0)
  return sorted(table, fitting).slice(0, limit)
}

const sorted = (table: TableName, rows: readonly LooseRow[]): LooseRow[] =>
  [...rows].sort((left, right) => compareKeys(keyOfRow(table, left), keyOfRow(table, right)))

function newestRows(table: TableName, rows: readonly LooseRow[]): LooseRow[] {
  const newest = new Map<string, LooseRow>()
  for (const row of rows) {
    const key = keyText(keyOfRow(table, row))
    const other = newest.get(key)
    if (other === undefined || other.row_version < row.row_version) newest.set(key, row)
  }
  return sorted(table, [...newest.values()])
}

function isKept(row: LooseRow, { drop_before, only }: MergeOptions): boolean {
  const at = (column: string): number | undefined => (typeof row[column] === 'number' ? row[column] : undefined)
  if (drop_before !== undefined && (at(drop_before.column) ?? Number.POSITIVE_INFINITY) < drop_before.at) return false
  if (only === undefined) return true
  const value = at(only.column)
  return value !== undefined && value >= only.from && value < only.before
}

/** As SQL has it: a comparison with null is never true. */
export function fits(row: LooseRow, condition: Condition): boolean {
  const value = row[condition.column] ?? null
  if ('is_null' in condition) return (value === null) === condition.is_null
  if (value === null) return false
  if ('in' in condition) return condition.in.some((wanted) => compareValues(value, wanted) === 0)
  return isSo(compareValues(value, condition.value), condition.is)
}

function compareValues(left: unknown, right: string | number | boolean): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (typeof left === 'boolean' || typeof right === 'boolean') return Number(left) - Number(right)
  return compareText(typeof left === 'string' ? left : JSON.stringify(left), String(right))
}

function isSo(order: number, is: Comparison): boolean {
  switch (is) {
    case '=':
      return order === 0
    case '!=':
      return order !== 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}
