// DuckDB over files on local disk: started when it is first asked, a few connections, values always bound. It reads
// only, and knows nothing of tables.

import { createRequire } from 'node:module'
import type { DuckDBConnection, DuckDBDataChunk, DuckDBInstance, DuckDBPreparedStatement } from '@duckdb/node-api'
import { messageOf, unavailable } from '../core/errors.js'

type Api = typeof import('@duckdb/node-api')

const load = createRequire(import.meta.url)

/** A tenth of a second and 10 MB, which a process that only writes never pays. */
export const loadApi = (): Api => load('@duckdb/node-api') as Api

export type SqlType = 'VARCHAR' | 'INTEGER' | 'BIGINT' | 'DOUBLE' | 'BOOLEAN' | 'TIMESTAMPTZ'

/** An instant is epoch milliseconds here too. */
export type Bound =
  | { readonly type: SqlType; readonly value: string | number | boolean }
  | { readonly type: SqlType; readonly list: readonly (string | number)[] }

/** Values are named $1, $2 and so on in the text. */
export type Query = { readonly sql: string; readonly values: readonly Bound[] }

export type DuckDb = {
  /** Waits for a connection: one runs one query at a time. */
  readonly run: (query: Query) => Promise<readonly DuckDBDataChunk[]>
  /** Waits for what is running. */
  readonly close: () => Promise<void>
}

export type DuckDbOptions = {
  readonly memory_limit_mb: number
  /** Of one query. A small one costs less on one thread (measured), so prefer connections. */
  readonly threads: number
  readonly connections: number
}

type Waiting = { readonly resolve: (connection: DuckDBConnection) => void; readonly reject: (error: unknown) => void }

export function createDuckDb({ memory_limit_mb, threads, connections }: DuckDbOptions): DuckDb {
  let opening: Promise<DuckDBInstance> | undefined
  const idle: DuckDBConnection[] = []
  const waiting: Waiting[] = []
  let count = 0
  let active = 0
  let isClosed = false
  let drained: (() => void) | undefined

  async function acquire(): Promise<DuckDBConnection> {
    const free = idle.pop()
    if (free !== undefined) return free
    if (count >= connections) return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
    count++
    try {
      opening ??= openInstance(memory_limit_mb, threads, [LOCK])
      return await (await opening).connect()
    } catch (error) {
      count--
      opening = undefined
      throw unavailable(`DuckDB does not start: ${messageOf(error)}.`, error)
    }
  }

  function release(connection: DuckDBConnection): void {
    const next = waiting.shift()
    if (next === undefined) idle.push(connection)
    else next.resolve(connection)
  }

  return {
    async run(query) {
      if (isClosed) throw unavailable('The table files are closed: this process is ending.')
      active++
      try {
        const connection = await acquire()
        try {
          return await runOn(connection, query)
        } finally {
          release(connection)
        }
      } catch (error) {
        if (!messageOf(error).includes('Out of Memory Error')) throw error
        throw unavailable(`A query needs more than the ${memory_limit_mb} MB that DuckDB may take. Ask for less at a time.`, error)
      } finally {
        active--
        if (active === 0) drained?.()
      }
    },
    async close() {
      isClosed = true
      if (active > 0) await new Promise<void>((resolve) => (drained = resolve))
      for (const connection of idle.splice(0)) connection.closeSync()
      if (opening !== undefined) (await opening).closeSync()
      opening = undefined
    },
  }
}

/** Of every database: each adds what it allows, and locks them. */
const SETTINGS = [
  // Files never change, so what their footers say may be kept; their content the operating system keeps already.
  'SET GLOBAL parquet_metadata_cache = true',
  'SET GLOBAL enable_external_file_cache = false',
  // A query that is too large fails: it shall not fill a disk.
  "SET GLOBAL temp_directory = ''",
]

export const LOCK = 'SET GLOBAL lock_configuration = true'

export async function openInstance(memory_limit_mb: number, threads: number, settings: readonly string[]): Promise<DuckDBInstance> {
  const instance = await loadApi().DuckDBInstance.create(':memory:', {
    memory_limit: `${memory_limit_mb}MB`,
    threads: String(threads),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  for (const setting of [...SETTINGS, ...settings]) await connection.run(setting)
  connection.closeSync()
  return instance
}

async function runOn(connection: DuckDBConnection, { sql, values }: Query): Promise<readonly DuckDBDataChunk[]> {
  const statement = await connection.prepare(sql)
  try {
    for (let i = 0; i < values.length; i++) bind(statement, i + 1, values[i] as Bound)
    return await (await statement.run()).fetchAllChunks()
  } finally {
    statement.destroySync()
  }
}

function bind(statement: DuckDBPreparedStatement, place: number, bound: Bound): void {
  const { BIGINT, BOOLEAN, DOUBLE, DuckDBTimestampTZValue, INTEGER, LIST, listValue, TIMESTAMPTZ, VARCHAR } = loadApi()
  const types = { VARCHAR, INTEGER, BIGINT, DOUBLE, BOOLEAN, TIMESTAMPTZ } as const
  const convert = (value: string | number | boolean) => {
    if (bound.type === 'BIGINT') return BigInt(value)
    if (bound.type === 'TIMESTAMPTZ') return new DuckDBTimestampTZValue(BigInt(value) * 1_000n)
    return value
  }
  if ('list' in bound) statement.bindList(place, listValue(bound.list.map(convert)), LIST(types[bound.type]))
  else if (bound.type === 'VARCHAR') statement.bindVarchar(place, String(bound.value))
  else statement.bindValue(place, convert(bound.value), types[bound.type])
}

/** One column of all chunks, in their order. */
export function* columnValues(chunks: readonly DuckDBDataChunk[], place: number): Generator<unknown> {
  for (const chunk of chunks) {
    const vector = chunk.getColumnVector(place)
    const rows = chunk.rowCount
    for (let row = 0; row < rows; row++) yield vector.getItem(row)
  }
}
