// What a statement asks of its one table, where its syntax says so plainly: conditions that a row must fit, whatever else is
// done with it. It answers too few rather than a wrong one, and reads the parsed text alone.

import { z } from 'zod'
import { TABLE_NAMES, type TableName, tableNamed } from '../../projections/tables.js'
import type { Comparison, Condition } from '../table-files.js'

export type Asked = { readonly table: TableName; readonly where: readonly Condition[] }

const baseTable = z.object({
  type: z.literal('BASE_TABLE'),
  table_name: z.string(),
  sample: z.null(),
  at_clause: z.null(),
  column_name_alias: z.array(z.string()).length(0),
})

const select = z.object({
  type: z.literal('SELECT_NODE'),
  cte_map: z.object({ map: z.array(z.unknown()).length(0) }),
  select_list: z.array(z.object({ alias: z.string() })),
  from_table: baseTable,
  where_clause: z.unknown(),
  sample: z.null(),
})

const columnRef = z.object({ class: z.literal('COLUMN_REF'), column_names: z.array(z.string()).min(1) })
const textConstant = z.object({
  class: z.literal('CONSTANT'),
  value: z.object({ type: z.object({ id: z.literal('VARCHAR') }), is_null: z.literal(false), value: z.string() }),
})
const textAsInstant = z.object({
  class: z.literal('CAST'),
  cast_type: z.object({ id: z.literal('TIMESTAMP WITH TIME ZONE') }),
  child: textConstant,
})
const conjunction = z.object({ class: z.literal('CONJUNCTION'), type: z.literal('CONJUNCTION_AND'), children: z.array(z.unknown()) })
const comparison = z.object({ class: z.literal('COMPARISON'), type: z.string(), left: columnRef, right: z.unknown() })

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  COMPARE_EQUAL: '=',
  COMPARE_LESSTHAN: '<',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHAN: '>',
  COMPARE_GREATERTHANOREQUALTO: '>=',
}

/** What reads a table a second time, or rows that the condition is not said of. */
const OTHER_SOURCE = /"type":"(?:BASE_TABLE|TABLE_FUNCTION|SHOW_REF|COLUMN_DATA|DELIM_GET)"/g

/** `node` as DuckDB's own json_serialize_sql has the one statement. */
export function askedIn(node: unknown): Asked | undefined {
  if ((JSON.stringify(node).match(OTHER_SOURCE) ?? []).length !== 1) return undefined
  const parsed = select.safeParse(node)
  if (!parsed.success) return undefined
  const { from_table, where_clause, select_list } = parsed.data
  const table = TABLE_NAMES.find((name) => name === from_table.table_name.toLowerCase())
  if (table === undefined) return undefined
  // Such a name could be meant instead of the column.
  const aliases = new Set(select_list.map(({ alias }) => alias.toLowerCase()))
  return { table, where: partsOf(where_clause).flatMap((part) => conditionOf(table, aliases, part) ?? []) }
}

/** Of what is not joined by AND nothing is known. */
function partsOf(where: unknown): readonly unknown[] {
  const joined = conjunction.safeParse(where)
  return joined.success ? joined.data.children.flatMap(partsOf) : [where]
}

function conditionOf(table: TableName, aliases: ReadonlySet<string>, part: unknown): Condition | undefined {
  const parsed = comparison.safeParse(part)
  const is = parsed.success ? COMPARISONS[parsed.data.type] : undefined
  if (!parsed.success || is === undefined) return undefined
  const name = (parsed.data.left.column_names.at(-1) ?? '').toLowerCase()
  const column = tableNamed(table).columns[name]
  if (column === undefined || aliases.has(name)) return undefined
  const value =
    column.type === 'string' ? textIn(parsed.data.right) : column.type === 'timestamp' ? instantIn(parsed.data.right) : undefined
  // Texts have an order of their own in a database.
  return value === undefined || (typeof value === 'string' && is !== '=') ? undefined : { column: name, is, value }
}

function textIn(value: unknown): string | undefined {
  const constant = textConstant.safeParse(value)
  return constant.success ? constant.data.value.value : undefined
}

/** A day, or a moment in UTC to the millisecond: other forms are read by DuckDB alone. */
const INSTANT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d(?:\.\d{3})?)(?:Z|\+00(?::00)?)?)?$/

function instantIn(value: unknown): number | undefined {
  const cast = textAsInstant.safeParse(value)
  const [, day, time = '00:00:00'] = INSTANT.exec(textIn(cast.success ? cast.data.child : value) ?? '') ?? []
  const instant = day === undefined ? Number.NaN : Date.parse(`${day}T${time}Z`)
  return Number.isNaN(instant) ? undefined : instant
}
