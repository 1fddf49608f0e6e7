// Values of a result as JSON has them. Nothing is rounded: a number that JSON cannot hold becomes its text.

import type { DuckDBValue } from '@duckdb/node-api'
import type { Json } from '../../projections/table.js'
import { loadApi } from '../duckdb.js'

/** Instants in UTC, as everywhere; to the millisecond where they have no more. */
export function instantOf(micros: bigint): string | undefined {
  const at = new Date(Number(micros / 1_000n))
  if (Number.isNaN(at.getTime())) return undefined
  const rest = micros % 1_000n
  if (rest === 0n) return at.toISOString()
  const floored = rest < 0n ? new Date(at.getTime() - 1) : at
  return floored.toISOString().replace('Z', `${String(((rest % 1_000n) + 1_000n) % 1_000n).padStart(3, '0')}Z`)
}

/** Digits that a double holds without loss, whatever they are. */
const EXACT_DIGITS = 15

function exactly(text: string): Json {
  return text.replace(/[^0-9]/g, '').length <= EXACT_DIGITS ? Number(text) : text
}

export function jsonOf(value: DuckDBValue): Json {
  const api = loadApi()
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (value instanceof api.DuckDBTimestampTZValue) return instantOf(value.micros) ?? String(value)
  if (value instanceof api.DuckDBDecimalValue) return exactly(String(value))
  if (value instanceof api.DuckDBListValue || value instanceof api.DuckDBArrayValue) return value.items.map(jsonOf)
  if (value instanceof api.DuckDBStructValue) {
    return Object.fromEntries(Object.entries(value.entries).map(([name, entry]) => [name, jsonOf(entry)]))
  }
  if (value instanceof api.DuckDBMapValue) return value.entries.map((entry) => ({ key: jsonOf(entry.key), value: jsonOf(entry.value) }))
  return String(value)
}
