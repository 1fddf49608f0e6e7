// SQL over the tables at one revision: which tables there are, which files have their rows, and the answer to a statement.

import { instantMs } from '../core/time.js'
import { expiryCut } from '../projections/retention.js'
import { TABLE_NAMES, type TableName } from '../projections/tables.js'
import type { FileCache } from '../tables/cache.js'
import type { FileAt } from '../tables/cold/files-at.js'
import { askedOf, runStatement, type StatementAnswer, type StatementRequest } from '../tables/sql/statement.js'
import { absentViewSql, viewSql } from '../tables/sql/view-sql.js'
import type { View } from './reader.js'

export type SqlRequest = Omit<StatementRequest, 'views' | 'paths'>
export type SqlAnswer = StatementAnswer

/** Only the files of tables that the statement names are looked for, and of old rows those that may have what it asks: each is read
 *  through to compare its checksum, and of a remote store it is a download. */
export async function runSql(cache: FileCache, view: View, request: SqlRequest): Promise<SqlAnswer> {
  const named = TABLE_NAMES.filter((table) => isNamedIn(request.text, table))
  const asked = named.some((table) => view.snapshot.checkpoint.cold.has(table)) ? await askedOf(request.text) : undefined
  const where = (table: TableName) => (asked?.table === table ? asked.where : [])
  const tables = new Map(await Promise.all(named.map(async (table) => [table, await view.files(table, where(table))] as const)))
  const { paths, release } = await cache.hold([...tables.values()].flat())
  try {
    const rest = [...paths]
    const views = TABLE_NAMES.map((table) => {
      const files = tables.get(table)
      const sql =
        files === undefined ? absentViewSql(table, whyAbsent(table)) : tableSql(view, table, located(files, rest.splice(0, files.length)))
      return { name: table, sql }
    })
    return await runStatement({ ...request, views, paths })
  } finally {
    release()
  }
}

const isNamedIn = (text: string, table: TableName): boolean => new RegExp(`\\b${table}\\b`, 'i').test(text)

const whyAbsent = (table: TableName): string => `The statement reads ${table} without naming it. Write the name ${table} somewhere in it.`

const located = (files: readonly FileAt[], paths: readonly string[]) => files.map((file, i) => ({ ...file, path: paths[i] as string }))

/** The view of a table over files that somebody else finds where he is told. */
export function tableSql({ snapshot }: View, table: TableName, files: Parameters<typeof viewSql>[1]): string {
  const { fold_time, retention } = snapshot.revision
  return viewSql(table, files, expiryCut(table, instantMs(fold_time), retention))
}
