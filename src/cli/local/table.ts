// `servo table`: the rows of one table, now or as they were.

import { type Command, InvalidArgumentError } from 'commander'
import { openReader } from '../../bin/deps.js'
import { missing } from '../../core/errors.js'
import { isUlid } from '../../core/ids.js'
import { type Moment, openAsOf } from '../../readers/as-of.js'
import { parseCondition, presentRow, readableTables, readRows } from '../../readers/rows.js'
import { collect, parseCount } from '../arguments.js'
import { UsageError } from '../exit-code.js'
import { type StoreOptions, withDeps, withStore } from './options.js'
import { note, printJson, printTable } from './print.js'

type TableOptions = StoreOptions & { readonly where: readonly string[]; readonly asOf?: Moment; readonly limit?: number }

/** What fits a screen; programs get everything unless they say otherwise. */
const ROWS_FOR_PEOPLE = 100
const CELL_CHARACTERS_MAX = 40

export function addTableCommand(group: Command): void {
  withStore(group)
    .argument('<table>', 'for example runs, tasks, partition_status')
    .option('--where <condition>', 'column=value, also != < <= > >=; null for no value; several are joined with AND', collect, [])
    .option('--as-of <moment>', 'a revision (its number or id; 2025 is a number) or an instant such as 2025-01-15T10:00:00Z', parseMoment)
    .option('--limit <count>', `how many rows (${ROWS_FOR_PEOPLE}; with --json all)`, parseCount)
    .action((table: string, options: TableOptions) => show(table, options))
}

function parseMoment(text: string): Moment {
  if (/^[0-9]{1,15}$/.test(text)) return { sequence: Number(text) }
  if (isUlid(text)) return { revision: text }
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new InvalidArgumentError('Give a revision (its number or id) or an instant such as 2025-01-15T10:00:00Z.')
  return { at }
}

async function show(name: string, options: TableOptions): Promise<void> {
  const table = readableTables().find((known) => known === name)
  if (table === undefined) throw new UsageError(`There is no table ${name}. There are: ${readableTables().join(', ')}.`)
  const conditions = options.where.map((text) => {
    const condition = parseCondition(table, text, { tenant_id: options.tenant, workspace_id: options.workspace })
    if ('problem' in condition) throw new UsageError(condition.problem)
    return condition
  })
  const where = conditions.flatMap((condition) => ('fits_all' in condition ? [] : [condition]))
  const fitsNone = conditions.some((condition) => 'fits_all' in condition && !condition.fits_all)
  await withDeps(options, 'read', async (deps) => {
    const reader = openReader(deps)
    const view = options.asOf === undefined ? await reader.latest() : reader.viewOf(await openAsOf(deps, options.asOf))
    if (view === undefined) throw missing(`${deps.store.label} has no revision yet: run \`servo ledger compact\` first.`)
    const limit = options.limit ?? (options.json === true ? Number.POSITIVE_INFINITY : ROWS_FOR_PEOPLE)
    // One more than is shown, to know whether there are more.
    const found = fitsNone ? [] : await readRows(view, table, where, limit + 1)
    const rows = found.slice(0, limit).map((row) => presentRow(table, row, deps.scope))
    if (options.json === true) return printJson(rows)
    if (rows.length === 0) return note(`No row of ${table} fits at revision ${view.sequence}.`)
    printRows(rows)
    if (found.length > limit) note(`These are the first ${limit} rows. Say --limit to see more, or --where to see fewer.`)
  })
}

/** The columns that have a value anywhere: most of a row is empty most of the time. */
function printRows(rows: readonly Readonly<Record<string, unknown>>[]): void {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => rows.some((row) => row[column] !== null))
  printTable(
    columns,
    rows.map((row) => columns.map((column) => cell(row[column]))),
  )
}

function cell(value: unknown): string {
  const text = value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length <= CELL_CHARACTERS_MAX ? text : `${text.slice(0, CELL_CHARACTERS_MAX - 1)}…`
}
