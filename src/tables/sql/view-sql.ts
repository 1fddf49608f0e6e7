// The SQL of a table at one revision: all of its files as one view, in which the newest version of each key counts and
// what has expired is absent, as for every reader. A text and nothing run.

import { instantText } from '../../core/time.js'
import type { ExpiryCut } from '../../projections/retention.js'
import { compareKeys, type TableName, tableNamed } from '../../projections/tables.js'
import type { FileAt } from '../cold/files-at.js'
import { FILE_LAYOUTS } from '../columns/file-column.js'
import { quote, sqlTypeOf } from '../parquet-query.js'

/** A file of the table, and where whoever runs the SQL finds it. */
export type ViewFile = Pick<FileAt, 'min_key' | 'max_key' | 'period' | 'periods' | 'day' | 'is_late'> & { readonly path: string }

const named = (name: string): string => `"${name}"`

export function viewSql(table: TableName, files: readonly ViewFile[], cut: ExpiryCut | undefined): string {
  const settled = files.filter(isSettled)
  const above = files.filter((file) => !isSettled(file))
  const [alone, together] = apart(table, above)
  const { key } = tableNamed(table)
  // Versions first and expiry afterwards: an expired row still hides the older versions of its key.
  const newest = `QUALIFY row_number() OVER (PARTITION BY ${key.map(named).join(', ')} ORDER BY "row_version" DESC) = 1`
  const sources = [
    noRow(table),
    ...(alone.length === 0 ? [] : [`SELECT * FROM ${readFiles(alone)}`]),
    ...(together.length === 0 ? [] : [`SELECT * FROM ${readFiles(together)} ${newest}`]),
    ...(settled.length === 0 ? [] : [settledSql(table, settled, above)]),
  ]
  const columns = FILE_LAYOUTS[table].columns.map(({ name }) => named(name)).join(', ')
  const live = cut === undefined ? '' : ` WHERE "${cut.column}" IS NULL OR "${cut.column}" >= TIMESTAMPTZ '${instantText(cut.at)}'`
  return `SELECT ${columns} FROM (${sources.join(' UNION ALL BY NAME ')})${live}`
}

/** Of the cold parts no two have the same key, but for those that are late. */
const isSettled = ({ day, is_late }: ViewFile): boolean => day !== undefined && is_late !== true

/** Years of rows whose versions need not be compared with each other: memory holds the keys of what is above them alone. */
function settledSql(table: TableName, settled: readonly ViewFile[], above: readonly ViewFile[]): string {
  const rows = `SELECT * FROM ${readFiles(settled)} AS settled`
  if (above.length === 0) return rows
  const isSameKey = tableNamed(table).key.map((column) => `above.${named(column)} = settled.${named(column)}`)
  return `${rows} WHERE NOT EXISTS (SELECT 1 FROM ${readFiles(above)} AS above WHERE ${isSameKey.join(' AND ')})`
}

/** Has the table's columns and their types. Whoever reads it all the same is told why there is nothing. */
export const absentViewSql = (table: TableName, why: string): string => `${noRow(table)} OR error(${quote(why)})::BOOLEAN`

/** Gives every column its type, those too that older files lack, and those of a table without a file. */
function noRow(table: TableName): string {
  const columns = FILE_LAYOUTS[table].columns.map((column) => `NULL::${sqlTypeOf(column)} AS ${named(column.name)}`)
  return `SELECT ${columns.join(', ')} WHERE false`
}

/** Paths of hive partitions hold `tenant=…`, which must not become columns; files of different ages differ in theirs. */
const readFiles = (files: readonly ViewFile[]): string =>
  `read_parquet([${files.map(({ path }) => quote(path)).join(', ')}], hive_partitioning = false, union_by_name = true)`

/** Files that share no key with another, and those that may: only these need their versions compared, which takes memory
 *  for every key of theirs. */
function apart(table: TableName, files: readonly ViewFile[]): readonly [alone: readonly ViewFile[], together: readonly ViewFile[]] {
  const sorted = [...files].sort((left, right) => compareKeys(left.min_key, right.min_key))
  const shared = new Set<ViewFile>()
  for (const [i, file] of sorted.entries()) {
    for (let next = i + 1; next < sorted.length; next++) {
      const other = sorted[next] as ViewFile
      if (compareKeys(other.min_key, file.max_key) > 0) break
      if (!mayShareRows(table, file, other)) continue
      shared.add(file)
      shared.add(other)
    }
  }
  return [sorted.filter((file) => !shared.has(file)), sorted.filter((file) => shared.has(file))]
}

/** Where a live key is in one period only, files of other periods have none of it. */
function mayShareRows(table: TableName, left: ViewFile, right: ViewFile): boolean {
  if (tableNamed(table).period?.holds_key_once !== true) return true
  const [mine, others] = [periodsOf(left), periodsOf(right)]
  return mine.length === 0 || others.length === 0 || mine.some((period) => others.includes(period))
}

const periodsOf = ({ period, periods }: ViewFile): readonly number[] => (period === null ? (periods ?? []) : [period])
