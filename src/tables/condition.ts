// What a condition means, said once: for rows in memory, and as the rule that files are queried by. It reads no file.

import { canonicalJson } from '../core/canonical.js'
import { assert } from '../core/errors.js'
import { compareText } from '../core/order.js'
import type { Column } from '../projections/table.js'
import { type LooseRow, type TableName, tableNamed } from '../projections/tables.js'
import type { Comparison, Condition } from './table-files.js'

type Plain = string | number | boolean

/** The declared column; a condition on another one is a bug of whoever parsed it. */
export function columnOf(table: TableName, name: string): Column {
  const { columns } = tableNamed(table)
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined
  assert(column !== undefined, `${table} has no column ${name} to ask for. It has: ${Object.keys(columns).join(', ')}.`)
  return column
}

export function assertComparable(table: TableName, name: string, value: Plain): void {
  const { type } = columnOf(table, name)
  const wanted = type === 'string' || type === 'json' ? 'string' : type === 'boolean' ? 'boolean' : 'number'
  assert(typeof value === wanted, `Column ${name} of ${table} is compared with a ${wanted}, not with ${typeof value} ${value}.`)
  const isValue = type === 'timestamp' ? Number.isSafeInteger(value) : !Number.isNaN(value)
  assert(wanted !== 'number' || isValue, `Column ${name} of ${table}, a ${type}, cannot be compared with ${value}.`)
}

/** Says whether a row fits all conditions. A row without a value fits no comparison, `!=` included, as in SQL. */
export function rowFilter(table: TableName, where: readonly Condition[]): (row: LooseRow) => boolean {
  const tests = where.map((condition) => testOf(table, condition))
  return (row) => tests.every((test) => test(row))
}

function testOf(table: TableName, condition: Condition): (row: LooseRow) => boolean {
  const { column: name } = condition
  const { type } = columnOf(table, name)
  if ('is_null' in condition) return (row) => (row[name] === null) === condition.is_null
  // JSON is compared as the text that the files hold.
  const valueOf = (row: LooseRow): Plain | null => (type === 'json' && row[name] !== null ? canonicalJson(row[name]) : (row[name] as Plain))
  if ('in' in condition) {
    for (const value of condition.in) assertComparable(table, name, value)
    const wanted = new Set<Plain | null>(condition.in)
    return (row) => wanted.has(valueOf(row))
  }
  const { is, value } = condition
  assertComparable(table, name, value)
  const holds = HOLDS[is]
  return (row) => {
    const found = valueOf(row)
    return found !== null && holds(comparePlain(found, value))
  }
}

const HOLDS = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
} as const satisfies Record<Comparison, (order: number) => boolean>

const comparePlain = (left: Plain, right: Plain): number =>
  typeof left === 'string' && typeof right === 'string' ? compareText(left, right) : Number(left) - Number(right)
