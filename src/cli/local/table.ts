// `servo table`: the rows of one table, now or as they were.

import type { Command } from 'commander'
import { readAll } from '../../readers/pages.js'
import { parseCondition, presentRow, readableTables } from '../../readers/rows.js'
import { collect, parseCount } from '../arguments.js'
import { UsageError } from '../exit-code.js'
import { type AsOfOptions, noteMoment, openView, placeOf, withAsOf } from './as-of.js'
import { withDeps, withStore } from './options.js'
import { cell, counted, note, printJson, printTable, ROWS_FOR_PEOPLE } from './print.js'

type TableOptions = AsOfOptions & { readonly where: readonly string[]; readonly limit?: number }

export function addTableCommand(group: Command): void {
  withAsOf(withStore(group))
    .argument('<table>', 'for example runs, tasks, partition_status')
    .option('--where <condition>', 'column=value, also != < <= > >=; null for no value; several are joined with AND', collect, [])
    .option('--limit <count>', `how many rows (${ROWS_FOR_PEOPLE}; with --json all)`, parseCount)
    .action((table: string, options: TableOptions) => show(table, options))
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
    const view = await openView(deps, options)
    const limit = options.limit ?? (options.json === true ? Number.POSITIVE_INFINITY : ROWS_FOR_PEOPLE)
    // One more than is shown, to know whether there are more.
    const found = fitsNone ? [] : await readAll(view, table, { where, limit: limit + 1 })
    const rows = found.slice(0, limit).map((row) => presentRow(table, row, deps.scope))
    if (options.json === true) {
      printJson(rows)
      return noteMoment(view, options)
    }
    if (rows.length === 0) return note(`No row of ${table} fits ${placeOf(view)}.`)
    printRows(rows)
    if (found.length > limit) note(`These are the first ${limit} rows. Say --limit to see more, or --where to see fewer.`)
    note(`${counted(rows.length, 'row')} ${placeOf(view)}.`)
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
