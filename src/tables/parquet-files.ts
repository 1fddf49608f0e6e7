// Table files as Parquet: written and merged by parquet-wasm, queried with DuckDB where they lie on the local disk.

import { type DuckDBConnection, DuckDBInstance, LIST, listValue, type DuckDBValue, VARCHAR, DOUBLE } from '@duckdb/node-api'
import { corrupt } from '../core/errors.js'
import { crc32cHex } from '../core/hash.js'
import { compareKeys, keyOfRow, keyText, type LooseRow, type RowKey, type TableName, tableNamed } from '../projections/tables.js'
import type { FileCache } from './cache.js'
import { decodeRows, encodeRows } from './parquet.js'
import { mergeFiles, type MergeSource, streamFiles } from './parquet-merge.js'
import type { Condition, FileReference, Scan, TableFiles } from './table-files.js'

export type ParquetFilesOptions = {
  readonly cache: FileCache
  readonly scope: { readonly tenant_id: string; readonly workspace_id: string }
  readonly memory_limit_mb: number
  readonly threads: number
  readonly connections: number
}

export function createParquetFiles(options: ParquetFilesOptions): TableFiles {
  const { cache, scope } = options
  const database = createDatabase(options)
  /** Runs while the files' copies cannot be removed from the disk. */
  async function holding<T>(files: readonly FileReference[], run: (paths: readonly string[]) => Promise<T>): Promise<T> {
    const { paths, release } = await cache.hold(files)
    try {
      return await run(paths)
    } finally {
      release()
    }
  }
  async function* reading<T>(files: readonly FileReference[], read: (sources: readonly MergeSource[]) => AsyncIterable<T>) {
    const { paths, release } = await cache.hold(files)
    try {
      yield* read(paths.map((path, index) => ({ path, min_key: files[index]?.min_key ?? [] })))
    } finally {
      release()
    }
  }
  return {
    extension: 'parquet',
    // What a publish writes lives until the next merges: quick to write counts for more than small.
    encode: (table, rows) => encodeRows(table, scope, rows, { compression: 'snappy' }),
    async decode(table, bytes, { name, crc32c }) {
      if (crc32cHex(bytes) !== crc32c) throw corrupt(`${name} does not have the checksum ${crc32c} that its revision states.`)
      return decodeRows(table, bytes)
    },
    async lookup(table, files, keys) {
      if (files.length === 0 || keys.length === 0) return []
      return holding(files, (paths) => database.rows(table, lookupQuery(table, paths, keys)))
    },
    async versions(table, files, keys) {
      const newest = new Map<string, number>()
      for (const row of await this.lookup(table, files, keys)) {
        const text = keyText(keyOfRow(table, row))
        newest.set(text, Math.max(newest.get(text) ?? 0, row.row_version))
      }
      return newest
    },
    async scan(table, files, scan) {
      if (files.length === 0) return []
      return holding(files, (paths) => database.rows(table, scanQuery(table, paths, scan)))
    },
    merge: (table, files, mergeOptions) => reading(files, (sources) => mergeFiles(table, scope, sources, mergeOptions)),
    stream: (table, files) => reading(files, (sources) => streamFiles(table, sources)),
    close: database.close,
  }
}

type Query = { readonly sql: string; readonly values: readonly Bound[] }
type Bound = string | number | boolean | { readonly list: readonly (string | number)[]; readonly isText: boolean }

const selectList = (table: TableName): string =>
  Object.entries(tableNamed(table).columns)
    .map(([name, { type }]) => (type === 'timestamp' ? `epoch_ms(${name})::DOUBLE` : type === 'int64' ? `${name}::DOUBLE` : name))
    .join(', ')

const source = (paths: readonly string[]): string => `read_parquet([${paths.map((path) => `'${path.replaceAll("'", "''")}'`).join(', ')}])`

function lookupQuery(table: TableName, paths: readonly string[], keys: readonly RowKey[]): Query {
  const key = tableNamed(table).key
  const values: Bound[] = []
  const bind = (value: Bound): string => `$${values.push(value)}`
  if (keys.length <= 8) {
    const any = keys.map((wanted) => `(${key.map((column, i) => `${column} = ${bind(wanted[i] as string | number)}`).join(' AND ')})`)
    return { sql: `SELECT ${selectList(table)} FROM ${source(paths)} WHERE ${any.join(' OR ')}`, values }
  }
  const lists = key.map((column, i) => {
    const list = keys.map((wanted) => wanted[i] as string | number)
    const isText = typeof list[0] === 'string'
    return `unnest(${bind({ list, isText })}${isText ? '::VARCHAR[]' : '::DOUBLE[]'}) AS wanted_${column}`
  })
  const sorted = [...keys].sort(compareKeys)
  const range = key.map((column, i) => {
    const of = i === 0 ? sorted : [...keys].sort((left, right) => compareKeys([left[i] as string | number], [right[i] as string | number]))
    return `t.${column} BETWEEN ${bind(of[0]?.[i] as string | number)} AND ${bind(of.at(-1)?.[i] as string | number)}`
  })
  const on = key.map((column) => `t.${column} = k.wanted_${column}`)
  const sql = `SELECT ${selectList(table)} FROM ${source(paths)} t JOIN (SELECT ${lists.join(', ')}) k ON ${on.join(' AND ')} WHERE ${range.join(' AND ')}`
  return { sql, values }
}

function scanQuery(table: TableName, paths: readonly string[], { where = [], after, limit }: Scan): Query {
  const { key } = tableNamed(table)
  const values: Bound[] = []
  const bind = (value: Bound): string => `$${values.push(value)}`
  const conditions = where.map((condition) => conditionSql(table, condition, bind))
  if (after !== undefined) conditions.push(afterSql(key, after, bind))
  const filter = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  return { sql: `SELECT ${selectList(table)} FROM ${source(paths)}${filter} ORDER BY ${key.join(', ')} LIMIT ${limit}`, values }
}

/** As `a >= x AND (a > x OR (b > y))`: a comparison of tuples would not prune row groups. */
function afterSql(key: readonly string[], after: RowKey, bind: (value: Bound) => string): string {
  const [column = ''] = key
  const value = after[0] as string | number
  if (key.length === 1) return `${column} > ${bind(value)}`
  return `(${column} >= ${bind(value)} AND (${column} > ${bind(value)} OR ${afterSql(key.slice(1), after.slice(1), bind)}))`
}

function conditionSql(table: TableName, condition: Condition, bind: (value: Bound) => string): string {
  const { column } = condition
  const isInstant = tableNamed(table).columns[column]?.type === 'timestamp'
  const bound = (value: string | number | boolean) =>
    isInstant ? `make_timestamptz((${bind(value)}::DOUBLE * 1000)::BIGINT)` : bind(value)
  if ('is_null' in condition) return `${column} IS ${condition.is_null ? '' : 'NOT '}NULL`
  if ('in' in condition) return condition.in.length === 0 ? 'false' : `${column} IN (${condition.in.map(bound).join(', ')})`
  return `${column} ${condition.is} ${bound(condition.value)}`
}

function createDatabase({ memory_limit_mb, threads, connections }: ParquetFilesOptions) {
  let opened: Promise<DuckDBInstance> | undefined
  const idle: DuckDBConnection[] = []
  const waiting: ((connection: DuckDBConnection) => void)[] = []
  let count = 0
  async function acquire(): Promise<DuckDBConnection> {
    const free = idle.pop()
    if (free !== undefined) return free
    if (count >= connections) return new Promise((resolve) => waiting.push(resolve))
    count += 1
    opened ??= DuckDBInstance.create(':memory:', { memory_limit: `${memory_limit_mb}MB`, threads: String(threads) })
    const connection = await (await opened).connect()
    await connection.run('SET parquet_metadata_cache = true')
    return connection
  }
  function release(connection: DuckDBConnection): void {
    const next = waiting.shift()
    if (next === undefined) idle.push(connection)
    else next(connection)
  }
  return {
    async rows(table: TableName, { sql, values }: Query): Promise<LooseRow[]> {
      const connection = await acquire()
      try {
        const statement = await connection.prepare(sql)
        for (const [index, value] of values.entries()) {
          if (typeof value === 'string') statement.bindVarchar(index + 1, value)
          else if (typeof value === 'number') statement.bindDouble(index + 1, value)
          else if (typeof value === 'boolean') statement.bindBoolean(index + 1, value)
          else statement.bindList(index + 1, listValue(value.list as readonly DuckDBValue[]), LIST(value.isText ? VARCHAR : DOUBLE))
        }
        const result = await statement.runAndReadAll()
        statement.destroySync()
        return toRows(table, result.getColumnsJS() as unknown[][])
      } finally {
        release(connection)
      }
    },
    async close() {
      for (const connection of idle) connection.closeSync()
      if (opened !== undefined) (await opened).closeSync()
    },
  }
}

function toRows(table: TableName, values: readonly (readonly unknown[])[]): LooseRow[] {
  const columns = Object.entries(tableNamed(table).columns)
  const count = values[0]?.length ?? 0
  return Array.from({ length: count }, (_, index) => {
    const row: Record<string, unknown> = {}
    for (const [at, [name, { type }]] of columns.entries()) {
      const value = values[at]?.[index] ?? null
      row[name] = type === 'json' && typeof value === 'string' ? JSON.parse(value) : value
    }
    return row as LooseRow
  })
}
