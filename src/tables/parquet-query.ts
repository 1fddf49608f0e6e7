// The SQL that finds rows in sorted Parquet files: texts and bound values, nothing run. Column names come from table
// declarations alone. Everything is written so that DuckDB can leave out row groups by their smallest and largest values.

import { assert } from '../core/errors.js'
import type { Column, ColumnType, KeyValue } from '../projections/table.js'
import { type RowKey, type TableName, tableNamed } from '../projections/tables.js'
import { assertComparable, columnOf } from './condition.js'
import type { Bound, Query, SqlType } from './duckdb.js'
import { compareValues, equalValue, mayFit, runsOf } from './key-range.js'
import type { Condition, FileReference, Scan } from './table-files.js'

/** A file where it lies on local disk. */
type LocalFile = Pick<FileReference, 'min_key' | 'max_key'> & { readonly path: string }

/** What is read from: normally `readParquet`. */
export type SourceSql = (paths: readonly string[]) => string

/** Union branches of one statement: planning grows with them. */
const BRANCHES_MAX = 8
/** A longer list is joined: comparing each row with each value would take longer. */
const IN_LIST_MAX = 8

const SQL_TYPES = {
  string: 'VARCHAR',
  json: 'VARCHAR',
  int32: 'INTEGER',
  int64: 'BIGINT',
  double: 'DOUBLE',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMPTZ',
} as const satisfies Record<ColumnType, SqlType>

export const sqlTypeOf = ({ type }: Pick<Column, 'type'>): SqlType => SQL_TYPES[type]

/** Paths of hive partitions hold `tenant=…`, which must not become columns. */
export const readParquet: SourceSql = (paths) => `read_parquet([${paths.map(quote).join(', ')}], hive_partitioning = false)`

export const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Each as a type that becomes a value of a row without BigInt. */
function selected(table: TableName, names: readonly string[]): string {
  return names
    .map((name) => {
      const { type } = columnOf(table, name)
      if (type === 'timestamp') return `epoch_ms("${name}")::DOUBLE`
      return type === 'int64' ? `"${name}"::DOUBLE` : `"${name}"`
    })
    .join(', ')
}

type Binder = { readonly values: Bound[]; readonly bind: (column: Column, value: KeyValue | boolean) => string }

function createBinder(): Binder & { readonly bindList: (column: Column, list: readonly KeyValue[]) => string } {
  const values: Bound[] = []
  const place = (bound: Bound) => `$${values.push(bound)}`
  return {
    values,
    bind(column, value) {
      return place({ type: typeof value === 'number' ? numberType(column, value) : sqlTypeOf(column), value })
    },
    bindList: (column, list) => place({ type: sqlTypeOf(column), list }),
  }
}

/** A number that the column cannot hold is compared as it is: to round it would find other rows. */
function numberType(column: Column, value: number): SqlType {
  if (!Number.isSafeInteger(value)) return 'DOUBLE'
  return column.type === 'int32' && (value | 0) !== value ? 'BIGINT' : sqlTypeOf(column)
}

type Branches = { readonly binder: ReturnType<typeof createBinder>; readonly texts: string[] }

/** Several branches a statement, several statements where there are more. */
function statements<T>(parts: readonly T[], write: (part: T, binder: Branches['binder']) => string): Query[] {
  const queries: Query[] = []
  for (let start = 0; start < parts.length; start += BRANCHES_MAX) {
    const binder = createBinder()
    const texts = parts.slice(start, start + BRANCHES_MAX).map((part) => write(part, binder))
    queries.push({
      sql: texts.length === 1 ? (texts[0] as string) : texts.map((text) => `(${text})`).join(' UNION ALL '),
      values: binder.values,
    })
  }
  return queries
}

function extremes(values: readonly KeyValue[]): readonly [KeyValue, KeyValue] {
  let least = values[0] as KeyValue
  let most = least
  for (const value of values) {
    if (compareValues(value, least) < 0) least = value
    if (compareValues(value, most) > 0) most = value
  }
  return [least, most]
}

/** The first rows that fit of each run of files that do not overlap; the caller sorts and cuts. */
export function scanQueries(
  table: TableName,
  files: readonly LocalFile[],
  scan: Scan,
  names: readonly string[],
  source: SourceSql,
): Query[] {
  const { where = [], after, limit } = scan
  assert(Number.isSafeInteger(limit) && limit > 0, `A scan of ${table} wants a limit of at least one row, not ${limit}.`)
  const asked = files.filter((file) => mayFit(table, file, where, after))
  return statements(runsOf(asked), (run, binder) => {
    const conditions = where.map((condition) => conditionSql(table, condition, binder))
    if (after !== undefined) conditions.push(afterSql(table, where, after, binder))
    const filter = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
    // The files of a run are in key order, and DuckDB keeps that order and stops at the limit; but not through a join.
    const order = where.some(isJoined)
      ? ` ORDER BY ${tableNamed(table)
          .key.map((name) => `"${name}"`)
          .join(', ')}`
      : ''
    return `SELECT ${selected(table, names)} FROM ${source(run.map(({ path }) => path))}${filter}${order} LIMIT ${limit}`
  })
}

/** `a >= x AND (a > x OR …)`, because a comparison of tuples leaves out no row group. Leading columns that a condition
 *  holds equal need no comparison. */
function afterSql(table: TableName, where: readonly Condition[], after: RowKey, binder: Binder): string {
  const { key } = tableNamed(table)
  for (const [i, name] of key.entries()) {
    const held = equalValue(where, name)
    if (held === undefined) return strictlyAfter(table, key.slice(i), after.slice(i), binder)
    const order = compareValues(held, after[i] as KeyValue)
    if (order !== 0) return order > 0 ? 'true' : 'false'
  }
  return 'false'
}

function strictlyAfter(table: TableName, names: readonly string[], after: RowKey, binder: Binder): string {
  const [name, ...others] = names as [string, ...string[]]
  const value = binder.bind(columnOf(table, name), after[0] as KeyValue)
  if (others.length === 0) return `"${name}" > ${value}`
  return `"${name}" >= ${value} AND ("${name}" > ${value} OR (${strictlyAfter(table, others, after.slice(1), binder)}))`
}

const isJoined = (condition: Condition): boolean => 'in' in condition && condition.in.length > IN_LIST_MAX

function conditionSql(table: TableName, condition: Condition, binder: Branches['binder']): string {
  const { column: name } = condition
  const column = columnOf(table, name)
  if ('is_null' in condition) return `"${name}" IS ${condition.is_null ? '' : 'NOT '}NULL`
  if ('is' in condition) {
    assertComparable(table, name, condition.value)
    return `"${name}" ${condition.is} ${binder.bind(column, condition.value)}`
  }
  for (const value of condition.in) assertComparable(table, name, value)
  if (condition.in.length === 0) return 'false'
  if (!isJoined(condition)) return `"${name}" IN (${condition.in.map((value) => binder.bind(column, value)).join(', ')})`
  const list = condition.in as readonly KeyValue[]
  const [least, most] = extremes(list)
  const bounds = `"${name}" BETWEEN ${binder.bind(column, least)} AND ${binder.bind(column, most)}`
  return `"${name}" IN (SELECT unnest(${binder.bindList(column, list)})) AND ${bounds}`
}
