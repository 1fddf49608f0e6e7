// What has expired is absent: to look-ups, to the fold, to replay; and merges drop it. Only fold time says so, never a
// clock, so that a replay forgets the same rows at the same place.

import { isDerivedRunKey } from '../core/keys.js'
import { AS_OF_HOURS_KEPT_DAYS, AS_OF_MINUTES_KEPT_HOURS } from '../core/limits.js'
import { DAY_MS, floorTo, HOUR_MS } from '../core/time.js'
import type { RetentionSetting } from '../events/retention.js'
import type { ExpirySetting } from './table.js'
import { type AnyRow, type LooseRow, type TableName, tableNamed } from './tables.js'

/** Recorded in every revision, because what it decides must be decided again in the same way. */
export type RetentionPolicy = { readonly [Setting in RetentionSetting]: number } & {
  /** By setting, where it was raised: what was older was gone by then, and stays so, whether or not anything removed it. */
  readonly gone_before?: { readonly [Setting in RetentionSetting]?: number }
}

/** Where nobody set another. */
export const RETENTION: RetentionPolicy = {
  idempotency_hours: 168,
  refusals_days: 30,
  outbox_days: 30,
  cold_after_days: 7,
  skipped_ticks_days: 30,
  no_data_days: 7,
  as_of_minutes_hours: AS_OF_MINUTES_KEPT_HOURS,
  as_of_hours_days: AS_OF_HOURS_KEPT_DAYS,
}

/** The unit that each counts in. */
const EXPIRY_UNITS: Readonly<Record<ExpirySetting, number>> = { idempotency_hours: HOUR_MS, refusals_days: DAY_MS, outbox_days: DAY_MS }

export const isExpirySetting = (setting: RetentionSetting): setting is ExpirySetting => Object.hasOwn(EXPIRY_UNITS, setting)

/** Cuts fall on whole hours or days, so a part of one period goes whole, and nothing goes before its time is full. They never
 *  go back: not by what is raised, either. */
export function expiredBefore(setting: ExpirySetting, fold_time: number, retention: RetentionPolicy): number {
  const unit_ms = EXPIRY_UNITS[setting]
  const by_age = floorTo(fold_time, unit_ms) - retention[setting] * unit_ms
  return Math.max(by_age, retention.gone_before?.[setting] ?? Number.NEGATIVE_INFINITY)
}

/** Rows whose instant in this column is below `at` have expired; those without an instant never do. */
export type ExpiryCut = { readonly column: string; readonly at: number }

export function expiryCut(table: TableName, fold_time: number, retention: RetentionPolicy): ExpiryCut | undefined {
  const { expiry } = tableNamed(table)
  if (expiry === undefined) return undefined
  const { column, keep_for } = expiry
  return { column, at: keep_for === undefined ? fold_time : expiredBefore(keep_for, fold_time, retention) }
}

export function isExpired(table: TableName, row: AnyRow | LooseRow, fold_time: number, retention: RetentionPolicy): boolean {
  const cut = expiryCut(table, fold_time, retention)
  if (cut === undefined) return false
  const at = (row as LooseRow)[cut.column]
  return typeof at === 'number' && at < cut.at
}

/** Rows whose instant is earlier have gone cold. It falls on whole UTC days, so that the rows of a day go together. */
export const coldCut = (fold_time: number, { cold_after_days }: RetentionPolicy): number =>
  floorTo(fold_time, DAY_MS) - cold_after_days * DAY_MS

/** When a run key is free again; null: never. */
export const runKeyExpiry = (run_key: string, fold_time: number, retention: RetentionPolicy): number | null =>
  isDerivedRunKey(run_key) ? fold_time + retention.idempotency_hours * HOUR_MS : null

/** Of a row that counts what was skipped. It is fixed with the row, as every column is. */
export const skippedTickExpiry = (fold_time: number, retention: RetentionPolicy): number =>
  fold_time + retention.skipped_ticks_days * DAY_MS
