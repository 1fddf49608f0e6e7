// `servo sql`: a SELECT over all tables at one revision, as a table, as JSON or into a Parquet file.

import { randomUUID } from 'node:crypto'
import { rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Deps } from '../../bin/deps.js'
import { messageOf } from '../../core/errors.js'
import type { View } from '../../readers/reader.js'
import { runSql, type SqlAnswer, type SqlRequest } from '../../readers/sql.js'
import { parseCount, parseDuration } from '../arguments.js'
import { FailedError, UsageError } from '../exit-code.js'
import { noteMoment, openView, placeOf, withAsOf } from './as-of.js'
import { withDeps, withStore } from './options.js'
import { cell, counted, note, printJson, printPart, printTable, ROWS_FOR_PEOPLE } from './print.js'
import { type ListingOptions, list, listingOf } from './sql-listing.js'

type SqlOptions = ListingOptions & {
  readonly output?: string
  readonly limit?: number
  readonly timeout: number
  readonly memory: number
}

const TIMEOUT_MS = 60_000
/** A million rows of a table are a second's work within it (measured); a report over one takes less. */
const MEMORY_MB = 1_024

export function addSqlCommand(group: Command): void {
  withAsOf(withStore(group))
    .argument('[statement]', 'a SELECT over the tables, for example "select state, count(*) from runs group by state"')
    .option('--tables', 'list the tables with their columns and types instead')
    .option('--files', 'list the Parquet files that hold each table at the revision instead')
    .option('--views', "print the same tables as views for DuckDB's own command line instead")
    .option('--output <file>', 'write the rows to a Parquet file instead of printing them')
    .option('--limit <count>', `how many rows (${ROWS_FOR_PEOPLE}; with --json and --output all)`, parseCount)
    .option('--timeout <time>', 'how long the statement may take: 90s, 2m (60s)', parseDuration, TIMEOUT_MS)
    .option('--memory <megabytes>', 'what the statement may take', parseCount, MEMORY_MB)
    .action((statement: string | undefined, options: SqlOptions) => run(statement, options))
}

async function run(text: string | undefined, options: SqlOptions): Promise<void> {
  const listing = listingOf(options)
  if ((text === undefined) === (listing === undefined)) {
    throw new UsageError(
      'Give one statement, such as "select state, count(*) from runs group by state", or one of --tables, --files and --views.',
    )
  }
  if (listing !== undefined) return list(listing, options)
  return answer(text ?? '', options)
}

const answer = (text: string, options: SqlOptions): Promise<void> =>
  withDeps(options, 'read', async (deps) => {
    const view = await openView(deps, options)
    const asked = { text, memory_limit_mb: options.memory, timeout_ms: options.timeout }
    if (options.output !== undefined) return writeFile(deps, view, asked, options)
    return options.json === true ? printAsJson(deps, view, asked, options) : printForPeople(deps, view, asked, options)
  })

type Asked = Omit<SqlRequest, 'result'>

/** How many rows there were. */
async function ask(deps: Deps, view: View, request: SqlRequest): Promise<number> {
  const answer: SqlAnswer = await runSql(deps.cache, view, request)
  if (answer.kind === 'done') return answer.row_count
  throw answer.kind === 'stopped' ? new FailedError(answer.sentence) : new UsageError(answer.sentence)
}

/** Every column that was asked for, with a value or without. */
async function printForPeople(deps: Deps, view: View, asked: Asked, { limit = ROWS_FOR_PEOPLE }: SqlOptions): Promise<void> {
  let head: readonly string[] = []
  const rows: string[][] = []
  const result = {
    // One more than is shown, to know whether there are more.
    limit: limit + 1,
    begin: (columns: readonly string[]) => void (head = columns),
    take: async (some: readonly (readonly unknown[])[]) => void rows.push(...some.map((row) => row.map(cell))),
  }
  await ask(deps, view, { ...asked, result })
  printTable(head, rows.slice(0, limit))
  if (rows.length > limit) note(`These are the first ${limit} rows. Say --limit to see more, or LIMIT and WHERE to see others.`)
  note(`${counted(Math.min(rows.length, limit), 'row')} ${placeOf(view)}.`)
}

async function printAsJson(deps: Deps, view: View, asked: Asked, options: SqlOptions): Promise<void> {
  const { limit } = options
  let columns: readonly string[] = []
  let between = '['
  const result = {
    ...(limit === undefined ? {} : { limit }),
    begin: (names: readonly string[]) => void (columns = names),
    async take(rows: readonly (readonly unknown[])[]): Promise<void> {
      const texts = rows.map((row) => JSON.stringify(Object.fromEntries(columns.map((name, place) => [name, row[place]]))))
      await printPart(`${between}${texts.join(',')}`)
      between = ','
    },
  }
  await ask(deps, view, { ...asked, result })
  await printPart(between === '[' ? '[]\n' : ']\n')
  noteMoment(view, options)
}

/** Beside the file first, and there at once: whoever reads it meanwhile sees the former one whole. */
async function writeFile(deps: Deps, view: View, asked: Asked, { output = '', limit, json }: SqlOptions): Promise<void> {
  const file = resolve(output)
  if (limit !== undefined) throw new UsageError('--output writes every row: leave --limit out, and write LIMIT in the statement.')
  if ((await stat(dirname(file)).catch(() => undefined))?.isDirectory() !== true) {
    throw new UsageError(`--output ${output}: there is no folder ${dirname(file)}. Make it, or name another.`)
  }
  const temporary = `${file}.${randomUUID()}.part`
  try {
    const row_count = await ask(deps, view, { ...asked, result: { path: temporary } })
    await rename(temporary, file).catch((error: unknown) => {
      throw new FailedError(`--output ${output} could not be written: ${messageOf(error)}.`)
    })
    if (json === true) return printJson({ file, row_count, sequence: view.sequence })
    note(`${counted(row_count, 'row')} at revision ${view.sequence} written to ${output}.`)
  } finally {
    await rm(temporary, { force: true })
  }
}
