// Table files as Parquet: written, merged and streamed on columns, and queried with DuckDB where they lie on the local
// disk. It keeps no row between two calls.

import type { DuckDBDataChunk } from '@duckdb/node-api'
import { corrupt, isOperatingError } from '../core/errors.js'
import { crc32cHex } from '../core/hash.js'
import { compareKeys, keyOfRow, keyText, type LooseRow, type RowKey, type TableName, tableNamed } from '../projections/tables.js'
import type { FileCache } from './cache.js'
import type { FileScope } from './columns/file-column.js'
import { columnValues, createDuckDb, type DuckDb, type DuckDbOptions, type Query } from './duckdb.js'
import { decodeRows, encodeRows } from './parquet.js'
import { mergeFiles, type MergeSource, streamFiles } from './parquet-merge.js'
import { type LocalFile, lookupQueries, quote, readParquet, scanQueries, type SourceSql, sqlTypeOf } from './parquet-query.js'
import type { FileReference, TableFiles } from './table-files.js'

export type ParquetFilesOptions = DuckDbOptions & { readonly cache: FileCache; readonly scope: FileScope }

/** Builds the queries of a call, once it is known where the files are. */
type Ask = (files: readonly LocalFile[], source: SourceSql) => readonly Query[]

export function createParquetFiles(options: ParquetFilesOptions): TableFiles {
  const { cache, scope } = options
  const database = createDuckDb(options)
  /** Tables of which a file lacks a column that was declared later, and the columns that its files have. */
  const older = new Map<TableName, Map<string, ReadonlySet<string>>>()

  async function queryOnce(table: TableName, files: readonly FileReference[], ask: Ask): Promise<readonly (readonly DuckDBDataChunk[])[]> {
    const { paths, release } = await cache.hold(files)
    try {
      const columns = older.get(table)
      const source = columns === undefined ? readParquet : await widenedSource(database, table, paths, columns)
      const local = files.map(({ rows, min_key, max_key }, i) => ({ path: paths[i] as string, rows, min_key, max_key }))
      return await Promise.all(ask(local, source).map(database.run))
    } finally {
      release()
    }
  }

  async function query(table: TableName, files: readonly FileReference[], ask: Ask): Promise<readonly (readonly DuckDBDataChunk[])[]> {
    try {
      return await queryOnce(table, files, ask)
    } catch (error) {
      if (isOperatingError(error)) throw error
      // The trouble may be that a file is gone or damaged, or older than a column: look again, and ask once more.
      cache.forget(files)
      if (!older.has(table)) older.set(table, new Map())
      return queryOnce(table, files, ask)
    }
  }

  async function* reading<T>(
    files: readonly FileReference[],
    read: (sources: readonly MergeSource[]) => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    const { paths, release } = await cache.hold(files)
    try {
      yield* read(files.map(({ min_key }, i) => ({ path: paths[i] as string, min_key })))
    } finally {
      release()
    }
  }

  return {
    extension: 'parquet',
    // What a publish writes lives until the next merges: quick to write counts for more than small.
    encode: (table, rows) => encodeRows(table, scope, rows, { compression: 'snappy' }),
    async decode(table, bytes, { name, crc32c }) {
      const found = crc32cHex(bytes)
      if (found !== crc32c) throw corrupt(`${name} has the checksum ${found}, not ${crc32c} as written. Run \`servo ledger verify\`.`)
      return decodeRows(table, bytes)
    },
    async lookup(table, files, keys) {
      if (files.length === 0 || keys.length === 0) return []
      const names = columnNames(table)
      const answers = await query(table, files, (local, source) => lookupQueries(table, local, keys, names, source))
      return answers.flatMap((chunks) => toRows(table, chunks))
    },
    async versions(table, files, keys) {
      if (files.length === 0 || keys.length === 0) return new Map()
      const names = [...tableNamed(table).key, 'row_version']
      const answers = await query(table, files, (local, source) => lookupQueries(table, local, keys, names, source))
      return highestVersions(answers, names.length)
    },
    async scan(table, files, scan) {
      if (files.length === 0) return []
      const names = columnNames(table)
      const answers = await query(table, files, (local, source) => scanQueries(table, local, scan, names, source))
      return inKeyOrder(
        table,
        answers.flatMap((chunks) => toRows(table, chunks)),
      ).slice(0, scan.limit)
    },
    merge: (table, files, mergeOptions) => reading(files, (sources) => mergeFiles(table, scope, sources, mergeOptions)),
    stream: (table, files) => reading(files, (sources) => streamFiles(table, sources)),
    close: database.close,
  }
}

const columnNames = (table: TableName): readonly string[] => Object.keys(tableNamed(table).columns)

/** Files of different ages as one: by name, and null where a file has no such column. */
async function widenedSource(
  database: DuckDb,
  table: TableName,
  paths: readonly string[],
  columns: Map<string, ReadonlySet<string>>,
): Promise<SourceSql> {
  for (const path of paths) {
    if (columns.has(path)) continue
    const sql = `SELECT name FROM parquet_schema(${quote(path)})`
    const names = columnValues(await database.run({ sql, values: [] }), 0)
    columns.set(path, new Set([...names].map(String)))
  }
  return (asked) => {
    const isAbsent = (name: string) => asked.every((path) => columns.get(path)?.has(name) !== true)
    const nulls = Object.entries(tableNamed(table).columns).flatMap(([name, column]) =>
      isAbsent(name) && column.nullable ? [`NULL::${sqlTypeOf(column)} AS "${name}"`] : [],
    )
    const files = `read_parquet([${asked.map(quote).join(', ')}], hive_partitioning = false, union_by_name = true)`
    return nulls.length === 0 ? files : `(SELECT *, ${nulls.join(', ')} FROM ${files})`
  }
}

type MutableRow = Record<string, unknown>

function toRows(table: TableName, chunks: readonly DuckDBDataChunk[]): LooseRow[] {
  const columns = Object.entries(tableNamed(table).columns)
  // A row is a copy of one that has all columns: adding them one by one would make it a slow dictionary.
  const blank = JSON.parse(JSON.stringify(Object.fromEntries(columns.map(([name]) => [name, null])))) as MutableRow
  const count = chunks.reduce((sum, chunk) => sum + chunk.rowCount, 0)
  const rows = Array.from({ length: count }, (): MutableRow => ({ ...blank }))
  columns.forEach(([name, { type }], place) => {
    const convert = type === 'json' ? createJsonReader(table, name) : undefined
    let row = 0
    for (const value of columnValues(chunks, place)) {
      if (value !== null) (rows[row] as MutableRow)[name] = convert === undefined ? value : convert(value as string)
      row++
    }
  })
  return rows as LooseRow[]
}

/** Neighbours often have the same text, and share its value. */
function createJsonReader(table: TableName, name: string): (text: string) => unknown {
  let last: string | undefined
  let value: unknown
  return (text) => {
    if (text === last) return value
    try {
      value = JSON.parse(text)
    } catch (error) {
      throw corrupt(`Column ${name} of a file of ${table} has a text that is not JSON. Run \`servo ledger verify\`.`, error)
    }
    last = text
    return value
  }
}

/** The key columns come first, the version last. */
function highestVersions(answers: readonly (readonly DuckDBDataChunk[])[], columns: number): ReadonlyMap<string, number> {
  const highest = new Map<string, number>()
  for (const chunks of answers) {
    const values = Array.from({ length: columns }, (_, place) => [...columnValues(chunks, place)])
    const versions = values.pop() as number[]
    versions.forEach((version, row) => {
      const text = keyText(values.map((column) => column[row]) as unknown as RowKey)
      if (version > (highest.get(text) ?? Number.NEGATIVE_INFINITY)) highest.set(text, version)
    })
  }
  return highest
}

/** Rows of several sorted runs, one run after another: sorting them is merging. */
function inKeyOrder(table: TableName, rows: readonly LooseRow[]): readonly LooseRow[] {
  return rows
    .map((row) => ({ key: keyOfRow(table, row), row }))
    .sort((left, right) => compareKeys(left.key, right.key))
    .map(({ row }) => row)
}
