// One statement of a person's, on views of tables, in a database of its own that is locked before the statement is looked at.
// It reads those files and writes at most the one file of its result: everything else is refused with a sentence.

import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api'
import { assert, corrupt, messageOf, unavailable } from '../../core/errors.js'
import type { Json } from '../../projections/table.js'
import { LOCK, loadApi, openInstance } from '../duckdb.js'
import { quote } from '../parquet-query.js'
import { type Asked, askedIn } from './asked.js'
import { errorOf, faultOf, type StatementFault } from './fault.js'
import { jsonOf } from './value.js'

export type StatementRequest = {
  readonly text: string
  readonly views: readonly { readonly name: string; readonly sql: string }[]
  /** What the views read. */
  readonly paths: readonly string[]
  readonly memory_limit_mb: number
  /** Of work: what whoever takes the rows needs does not count. */
  readonly timeout_ms: number
  readonly result: ResultSink | ResultFile
}

/** Rows in order, once the statement has ended well. */
type ResultSink = {
  /** Absent: all of them. */
  readonly limit?: number
  readonly begin: (columns: readonly string[]) => void
  readonly take: (rows: readonly (readonly Json[])[]) => Promise<void>
}

/** A Parquet file that is not there yet. */
type ResultFile = { readonly path: string }

export type StatementAnswer = { readonly kind: 'done'; readonly row_count: number } | StatementFault

const THREADS = 2
const PARSER_MEMORY_MB = 64
const RESULT_DATABASE = 'statement'
const RESULT = `${RESULT_DATABASE}.result`

export async function runStatement(request: StatementRequest): Promise<StatementAnswer> {
  const instance = await openDatabase(request.memory_limit_mb)
  try {
    const connection = await instance.connect()
    await prepareDatabase(connection, request)
    return (await faultOfText(connection, request.text)) ?? (await runChecked(connection, request))
  } finally {
    instance.closeSync()
  }
}

const openDatabase = (memory_limit_mb: number) =>
  openInstance(memory_limit_mb, THREADS, []).catch((error: unknown) => {
    throw unavailable(`DuckDB does not start: ${messageOf(error)}.`, error)
  })

async function prepareDatabase(connection: DuckDBConnection, { views, paths, result }: StatementRequest): Promise<void> {
  // Days and hours are those of UTC, whatever the machine's are.
  await connection.run("SET GLOBAL TimeZone = 'UTC'")
  // A database for the result: `show tables` has none of it.
  await connection.run(`ATTACH ':memory:' AS ${RESULT_DATABASE}`)
  for (const { name, sql } of views) {
    await connection.run(`CREATE VIEW "${name}" AS ${sql}`).catch((error: unknown) => {
      throw corrupt(`A file of ${name} cannot be read: ${messageOf(error)}. Run \`servo ledger verify\`.`, error)
    })
  }
  const allowed = 'path' in result ? [...paths, result.path] : paths
  const settings = [
    `SET GLOBAL allowed_paths = [${allowed.map(quote).join(', ')}]`,
    'SET GLOBAL enable_external_access = false',
    'SET errors_as_json = true',
    LOCK,
  ]
  for (const setting of settings) await connection.run(setting)
}

/** Before any file is looked for. undefined: nothing that helps to choose them. */
export async function askedOf(text: string): Promise<Asked | undefined> {
  const instance = await openDatabase(PARSER_MEMORY_MB)
  try {
    const parsed = await parse(await instance.connect(), text)
    return parsed.error || parsed.statements.length !== 1 ? undefined : askedIn(parsed.statements[0]?.node)
  } finally {
    instance.closeSync()
  }
}

type Parsed =
  | { readonly error: false; readonly statements: readonly { readonly node: unknown }[] }
  | { readonly error: true; readonly error_type: string; readonly error_message: string; readonly position?: string }

const ONLY_SELECT = 'Only a SELECT can be run: tables change by events alone.'
const notUnderstood = (sentence: string): StatementFault => ({ kind: 'not_understood', sentence })

async function parse(connection: DuckDBConnection, text: string): Promise<Parsed> {
  const [[answer]] = (await (await connection.run(`SELECT json_serialize_sql(${quote(text)})`)).getRows()) as [[string]]
  return JSON.parse(answer) as Parsed
}

/** By its syntax alone, before any name in it is looked up. */
async function faultOfText(connection: DuckDBConnection, text: string): Promise<StatementFault | undefined> {
  const parsed = await parse(connection, text)
  if (parsed.error) {
    // It parses every statement, and knows no form but that of a SELECT.
    if (parsed.error_type !== 'parser') {
      const isPivot = /\bpivot\b/i.test(text)
      return notUnderstood(isPivot ? `${ONLY_SELECT} A PIVOT is one where it names its values: ON column IN ('a', 'b').` : ONLY_SELECT)
    }
    const { error_type, error_message, position } = parsed
    return faultOf(text, { exception_type: error_type, exception_message: error_message, ...(position === undefined ? {} : { position }) })
  }
  const count = parsed.statements.length
  if (count === 0) return notUnderstood('There is no statement. Write one, such as "select state, count(*) from runs group by state".')
  return count === 1 ? undefined : notUnderstood(`These are ${count} statements. Write one at a time.`)
}

async function runChecked(connection: DuckDBConnection, request: StatementRequest): Promise<StatementAnswer> {
  const { text, result } = request
  const work = createWork(connection, request.timeout_ms)
  try {
    const statement = await work.during(connection.prepare(text))
    // The syntax has said so already: this is what DuckDB is about to run.
    if (statement.statementType !== loadApi().StatementType.SELECT) return notUnderstood(ONLY_SELECT)
    if (statement.parameterCount > 0) return notUnderstood('The statement has parameters, which nobody gives. Write the values in it.')
    statement.destroySync()
    if ('path' in result) return { kind: 'done', row_count: await copy(connection, work, text, result) }
    const row_count = await keep(connection, work, text, result)
    await give(connection, row_count, result)
    return { kind: 'done', row_count }
  } catch (error) {
    if (work.isOver()) {
      return {
        kind: 'stopped',
        sentence: `The statement took longer than ${request.timeout_ms / 1_000} s and was stopped. Ask for less, or give it more with --timeout.`,
      }
    }
    const found = errorOf(error)
    if (found.exception_type === 'Out of Memory') {
      const sentence = `The statement needs more than the ${request.memory_limit_mb} MB that it may take. Ask for less, or give it more with --memory.`
      return { kind: 'stopped', sentence }
    }
    // In the text of a copy the places are others.
    const { position, ...elsewhere } = found
    return faultOf(text, 'path' in result || position === undefined ? elsewhere : found)
  }
}

type Work = {
  /** Waits, and counts the time. */
  readonly during: <T>(working: Promise<T>) => Promise<T>
  readonly isOver: () => boolean
}

/** An interrupt that comes between two steps is lost, so it is said again. */
const INTERRUPT_AGAIN_MS = 50
/** A longer timer would end at once. */
const TIMER_MS_MAX = 2 ** 31 - 1

function createWork(connection: DuckDBConnection, timeout_ms: number): Work {
  let left_ms = timeout_ms
  let isOver = false
  return {
    isOver: () => isOver,
    async during(working) {
      const began = performance.now()
      let again: NodeJS.Timeout | undefined
      const deadline = setTimeout(
        () => {
          isOver = true
          connection.interrupt()
          again = setInterval(() => connection.interrupt(), INTERRUPT_AGAIN_MS)
        },
        Math.min(Math.max(0, left_ms), TIMER_MS_MAX),
      )
      try {
        const done = await working
        // What is read after an interrupt ends as if there were no more rows.
        if (isOver) throw new Error('The statement was stopped.')
        return done
      } finally {
        clearTimeout(deadline)
        clearInterval(again)
        left_ms -= performance.now() - began
      }
    },
  }
}

/** `query` takes the text as a text, so that none of it can end the statement around it and begin another. */
const rowsOf = (text: string): string => `FROM query(${quote(text)})`

async function countOf(work: Work, running: ReturnType<DuckDBConnection['run']>): Promise<number> {
  const [[row_count]] = (await (await work.during(running)).getRows()) as [[bigint]]
  return Number(row_count)
}

const copy = (connection: DuckDBConnection, work: Work, text: string, { path }: ResultFile): Promise<number> =>
  countOf(work, connection.run(`COPY (${rowsOf(text)}) TO ${quote(path)} (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)`))

// Into a table of its own: its memory counts, and a statement that fails has shown nothing. A result that is streamed
// ends without an error where the statement fails on its way, and one that is kept by the client counts for nothing.
const keep = (connection: DuckDBConnection, work: Work, text: string, { limit }: ResultSink): Promise<number> => {
  const most = limit === undefined ? '' : ` LIMIT ${limit}`
  return countOf(work, connection.run(`CREATE TABLE ${RESULT} AS ${rowsOf(text)}${most}`))
}

async function give(connection: DuckDBConnection, row_count: number, sink: ResultSink): Promise<void> {
  const result = await connection.stream(`FROM ${RESULT}`)
  sink.begin(result.columnNames())
  const places = Array.from({ length: result.columnCount }, (_, place) => place)
  let given = 0
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    const vectors = places.map((place) => chunk?.getColumnVector(place))
    const rows = Array.from({ length: chunk.rowCount }, (_, row) => vectors.map((vector) => jsonOf(vector?.getItem(row) as DuckDBValue)))
    given += rows.length
    await sink.take(rows)
  }
  assert(given === row_count, `A result of ${row_count} rows was given as ${given}.`)
}
