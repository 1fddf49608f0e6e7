// Table files as Parquet: written, merged, streamed and searched on columns. Where a condition fits hardly any row, DuckDB
// goes through the files on local disk instead. It keeps decoded columns between two calls, and no row.

import type { DuckDBDataChunk } from '@duckdb/node-api'
import { assert, BugError, corrupt, isOperatingError } from '../core/errors.js'
import { crc32cHex } from '../core/hash.js'
import { compareRows, type LooseRow, type TableName, tableNamed } from '../projections/tables.js'
import type { FileCache } from './cache.js'
import { FILE_LAYOUTS, type FileLayout, type FileScope } from './columns/file-column.js'
import { rowFilter } from './condition.js'
import { columnValues, createDuckDb, type DuckDb, type DuckDbOptions } from './duckdb.js'
import { findRows, findVersions } from './groups/find-rows.js'
import { createGroupCache, type GroupFile } from './groups/group-cache.js'
import { scanRows } from './groups/scan-rows.js'
import { mayFit, runsOf } from './key-range.js'
import { decodeRows, encodeRows } from './parquet.js'
import { type MergeSource, mergeFiles, streamFiles } from './parquet-merge.js'
import { quote, readParquet, type SourceSql, scanQueries, sqlTypeOf } from './parquet-query.js'
import { rowsToTest } from './rows-to-test.js'
import type { FileReference, Scan, TableFiles } from './table-files.js'

type ParquetFilesOptions = DuckDbOptions & {
  readonly cache: FileCache
  readonly scope: FileScope
  /** What decoded columns may take; absent: 48 MB. */
  readonly decoded_bytes_max?: number
  /** How many rows a scan tests before DuckDB is asked instead; absent: 32,768. Below 0 it is asked at once. */
  readonly tested_rows_max?: number
}

/** All of a table of 100,000 rows, of a larger one its keys and what is asked for again and again. */
const DECODED_BYTES_MAX = 48 * 1_024 ** 2

/** DuckDB is slow to begin and quick to go on: these rows are tested in less time than it takes to begin. */
const TESTED_ROWS_MAX = 32_768

export function createParquetFiles(options: ParquetFilesOptions): TableFiles {
  const { cache, scope } = options
  const database = createDuckDb(options)
  const groups = createGroupCache(options.decoded_bytes_max ?? DECODED_BYTES_MAX)
  const tested_rows_max = options.tested_rows_max ?? TESTED_ROWS_MAX
  /** Tables of which a file lacks a column that was declared later, and the columns that its files have. */
  const older = new Map<TableName, Map<string, ReadonlySet<string>>>()

  function forget(files: readonly FileReference[]): void {
    const paths = files.map(cache.place)
    groups.forget(paths)
    cache.forget(files)
    for (const columns of older.values()) for (const path of paths) columns.delete(path)
  }

  type Ask<T> = (paths: readonly string[], isAgain: boolean) => Promise<T>

  /** Once more where the trouble may be that a file is gone or damaged, or older than a column. */
  async function asking<T>(files: readonly FileReference[], ask: Ask<T>): Promise<T> {
    const { paths, release } = await cache.hold(files)
    try {
      return await ask(paths, false)
    } catch (error) {
      if (isOperatingError(error, 'unavailable') || error instanceof BugError) throw error
      forget(files)
    } finally {
      release()
    }
    const again = await cache.hold(files)
    try {
      return await ask(again.paths, true)
    } finally {
      again.release()
    }
  }

  const inGroups = <T>(
    table: TableName,
    files: readonly FileReference[],
    run: (layout: FileLayout, files: readonly GroupFile[]) => Promise<T>,
  ): Promise<T> =>
    asking(files, (paths) => {
      const layout = FILE_LAYOUTS[table]
      const wanted = files.map(({ min_key }, i) => ({ path: paths[i] as string, min_key }))
      return groups.use(layout, wanted, (opened) => run(layout, opened))
    })

  const queried = (table: TableName, files: readonly FileReference[], scan: Scan): Promise<readonly LooseRow[]> =>
    asking(files, async (paths, isAgain) => {
      if (isAgain && !older.has(table)) older.set(table, new Map())
      const columns = older.get(table)
      const source = columns === undefined ? readParquet : await widenedSource(database, table, paths, columns)
      const local = files.map(({ min_key, max_key }, i) => ({ path: paths[i] as string, min_key, max_key }))
      const answers = await Promise.all(scanQueries(table, local, scan, columnNames(table), source).map(database.run))
      const rows = answers.flatMap((chunks) => toRows(table, chunks))
      // Several sorted runs, one after another: sorting them is merging.
      return rows.sort((left, right) => compareRows(table, left, right)).slice(0, scan.limit)
    })

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
      return inGroups(table, files, (layout, opened) => findRows(layout, opened, keys))
    },
    async versions(table, files, keys) {
      if (files.length === 0 || keys.length === 0) return new Map()
      return inGroups(table, files, (layout, opened) => findVersions(layout, opened, keys))
    },
    async scan(table, files, scan) {
      const { where = [], after, limit } = scan
      assert(Number.isSafeInteger(limit) && limit > 0, `A scan of ${table} wants a limit of at least one row, not ${limit}.`)
      const asked = files.filter((file) => mayFit(table, file, where, after))
      // A condition that no row can be tested by is refused, whoever reads.
      rowFilter(table, where)
      if (rowsToTest(table, asked, scan) > tested_rows_max) return queried(table, asked, scan)
      const runs = runsOf(asked)
      const found = await inGroups(table, runs.flat(), (layout, opened) => {
        const rest = [...opened]
        return scanRows(
          layout,
          runs.map((run) => rest.splice(0, run.length)),
          scan,
          tested_rows_max,
        )
      })
      return found ?? queried(table, asked, scan)
    },
    merge: (table, files, mergeOptions) => reading(files, (sources) => mergeFiles(table, scope, sources, mergeOptions)),
    stream: (table, files) => reading(files, (sources) => streamFiles(table, sources)),
    forget,
    async close() {
      await groups.close()
      await database.close()
    },
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
