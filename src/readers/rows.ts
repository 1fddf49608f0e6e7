// Rows of one table at one revision: conditions as people write them, all pages, and rows as people and programs see them.

import type { Scope } from '../core/ids.js'
import { readInstant } from '../core/instant-text.js'
import { compareText } from '../core/order.js'
import { instantText } from '../core/time.js'
import { type LooseRow, TABLE_NAMES, type TableName, tableNamed } from '../projections/tables.js'
import type { Comparison, Condition } from '../tables/table-files.js'

export const readableTables = (): readonly TableName[] => TABLE_NAMES

const CONDITION = /^([a-z_0-9]+)(!=|<=|>=|=|<|>)(.*)$/s

/** The same in every row of a workspace, and no column of a table: a condition on it fits all rows or none. */
type SameInAllRows = { readonly fits_all: boolean }

/** `column=value`; `column=null` and `column!=null` ask for rows without and with a value. */
export function parseCondition(table: TableName, text: string, scope: Scope): Condition | SameInAllRows | { readonly problem: string } {
  const matched = CONDITION.exec(text)
  if (matched === null) return { problem: `--where ${text} is no condition: write column=value, for example state=RUNNING.` }
  const [, column = '', is = '=', value = ''] = matched
  const { columns } = tableNamed(table)
  if (column === 'tenant_id' || column === 'workspace_id') return { fits_all: fitsText(scope[column], is as Comparison, value) }
  const declared = columns[column]
  if (declared === undefined) {
    return { problem: `${table} has no column ${column}. It has: tenant_id, workspace_id, ${Object.keys(columns).join(', ')}.` }
  }
  if (value === 'null' && (is === '=' || is === '!=')) return { column, is_null: is === '=' }
  switch (declared.type) {
    case 'string':
    case 'json':
      return { column, is: is as Comparison, value }
    case 'boolean':
      if (value !== 'true' && value !== 'false') return { problem: `${column} is true or false, not ${value}.` }
      return { column, is: is as Comparison, value: value === 'true' }
    case 'timestamp': {
      const read = readInstant(value)
      if ('problem' in read) return { problem: `--where ${text}: ${read.problem}` }
      return { column, is: is as Comparison, value: read.at_ms }
    }
    case 'int32':
    case 'int64':
    case 'double': {
      const number = Number(value)
      if (value.trim() === '' || !Number.isFinite(number)) return { problem: `${column} is a number, not ${value}.` }
      return { column, is: is as Comparison, value: number }
    }
  }
}

function fitsText(found: string, is: Comparison, value: string): boolean {
  if (value === 'null' && (is === '=' || is === '!=')) return is === '!='
  const order = compareText(found, value)
  const holds = { '=': order === 0, '!=': order !== 0, '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }
  return holds[is]
}

/** With tenant and workspace in front and instants as text, as the files have them. */
export function presentRow(table: TableName, row: LooseRow, { tenant_id, workspace_id }: Scope): Readonly<Record<string, unknown>> {
  const presented: Record<string, unknown> = { tenant_id, workspace_id }
  for (const [name, { type }] of Object.entries(tableNamed(table).columns)) {
    const value = row[name] ?? null
    presented[name] = type === 'timestamp' && typeof value === 'number' ? instantText(value) : value
  }
  return presented
}
