// Every table, by name: the one place that says which tables there are.

import { compareText, orderOf } from '../core/order.js'
import { ASSET_DEFINITIONS, CODE_LOCATIONS, NAMES, PARTITION_STATUS, POOLS } from './asset-table.js'
import { IDEMPOTENCY_KEYS, QUARANTINE, REFUSALS, RUN_KEY_CONFLICTS, RUN_KEY_INDEX } from './outcome-table.js'
import { RETENTION_SETTING_ROWS } from './retention-table.js'
import { DEP_SATISFACTION, DISPATCH_OUTBOX, FAILED_ATTEMPTS, RUNS, TASKS } from './run-table.js'
import { SCHEDULE_DEFINITIONS, SCHEDULE_STATE, SCHEDULE_TICKS } from './schedule-table.js'
import type { KeyValue, RowOf, Table } from './table.js'

export const TABLES = {
  runs: RUNS,
  tasks: TASKS,
  dep_satisfaction: DEP_SATISFACTION,
  failed_attempts: FAILED_ATTEMPTS,
  dispatch_outbox: DISPATCH_OUTBOX,
  pools: POOLS,
  retention_settings: RETENTION_SETTING_ROWS,
  asset_definitions: ASSET_DEFINITIONS,
  code_locations: CODE_LOCATIONS,
  names: NAMES,
  schedule_definitions: SCHEDULE_DEFINITIONS,
  schedule_state: SCHEDULE_STATE,
  schedule_ticks: SCHEDULE_TICKS,
  partition_status: PARTITION_STATUS,
  run_key_index: RUN_KEY_INDEX,
  run_key_conflicts: RUN_KEY_CONFLICTS,
  idempotency_keys: IDEMPOTENCY_KEYS,
  refusals: REFUSALS,
  quarantine: QUARANTINE,
} as const

export type TableName = keyof typeof TABLES
export type Rows = { readonly [Name in TableName]: RowOf<(typeof TABLES)[Name]> }
export type AnyRow = Rows[TableName]
/** A row whose table is known at run time only: codecs, merges and comparisons see rows like this. */
export type LooseRow = Readonly<Record<string, unknown>> & { readonly row_version: number; readonly last_event_id: string }

export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[]
export const isTableName = (name: string): name is TableName => Object.hasOwn(TABLES, name)

/** The declaration without its row type, for code that handles every table alike. */
export const tableNamed = (name: TableName): Table => TABLES[name] as unknown as Table

/** Key values in key order. */
export type RowKey = readonly KeyValue[]
export type KeyedRow = { readonly table: TableName; readonly key: RowKey }

export function keyOfRow(name: TableName, row: object): RowKey {
  const values = row as Readonly<Record<string, KeyValue>>
  return tableNamed(name).key.map((part) => values[part] as KeyValue)
}

/** One text for a key, for maps. No key value may contain a control character (DATA section 1), so NUL separates. */
export function keyText(key: RowKey): string {
  let text = String(key[0])
  for (let part = 1; part < key.length; part++) text += `\u0000${key[part]}`
  return text
}

/** The same text, from a row. */
export function keyTextOfRow(name: TableName, row: object): string {
  const values = row as Readonly<Record<string, KeyValue>>
  const { key } = tableNamed(name)
  let text = String(values[key[0] as string])
  for (let part = 1; part < key.length; part++) text += `\u0000${values[key[part] as string]}`
  return text
}

/** The rows of a table by key text. */
export type RowsByKey = ReadonlyMap<string, LooseRow>
export type ChangedRows = ReadonlyMap<TableName, RowsByKey>

export const rowsByKey = (name: TableName, rows: readonly LooseRow[]): RowsByKey =>
  new Map(rows.map((row) => [keyTextOfRow(name, row), row]))

/** Its key has no number, so that key texts have the order of the keys: NUL comes before all that a value may hold. */
const hasTextKey = (name: TableName): boolean => tableNamed(name).key.every((part) => tableNamed(name).columns[part]?.type === 'string')

/** In the order of the files. */
export const sortedRows = (name: TableName, rows: RowsByKey): readonly LooseRow[] =>
  sortedTexts(name, rows).map((text) => rows.get(text) as LooseRow)

/** The key texts of the rows, in the same order. */
export function sortedTexts(name: TableName, rows: RowsByKey): readonly string[] {
  const texts = [...rows.keys()]
  if (hasTextKey(name)) return texts.sort(orderOf(texts))
  return texts.sort((left, right) => compareRows(name, rows.get(left) as LooseRow, rows.get(right) as LooseRow))
}

/** As compareKeys, of two rows. */
export function compareRows(name: TableName, left: LooseRow, right: LooseRow): number {
  for (const part of tableNamed(name).key) {
    const a = left[part] as KeyValue
    const b = right[part] as KeyValue
    if (a === b) continue
    return typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b))
  }
  return 0
}

/** The order of the files: text by code point (the order of UTF-8 bytes, which Parquet readers compare), numbers by value. */
export function compareKeys(left: RowKey, right: RowKey): number {
  const length = Math.min(left.length, right.length)
  for (let i = 0; i < length; i++) {
    const a = left[i] as KeyValue
    const b = right[i] as KeyValue
    if (a === b) continue
    if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : 1
    return compareText(String(a), String(b))
  }
  return left.length - right.length
}
