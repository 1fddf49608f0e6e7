// What has expired is absent: to look-ups, to the fold, to replay; and merges drop it. Only fold time says so, never a
// clock, so that a replay forgets the same rows at the same place.

import { isDerivedRunKey } from '../core/keys.js'
import { DAY_MS, floorTo, HOUR_MS } from '../core/time.js'
import type { AnyRow, LooseRow, TableName } from './tables.js'

/** Recorded in every revision, because what it decides must be decided again in the same way. */
export type RetentionPolicy = {
  readonly idempotency_hours: number
  readonly refusals_days: number
  readonly outbox_days: number
  readonly cold_after_days: number
  readonly skipped_ticks_days: number
  readonly no_data_days: number
}

export const RETENTION: RetentionPolicy = {
  idempotency_hours: 168,
  refusals_days: 30,
  outbox_days: 30,
  cold_after_days: 7,
  skipped_ticks_days: 30,
  no_data_days: 7,
}

/** Rows whose instant in this column is below `at` have expired; those without an instant never do. */
export type ExpiryCut = { readonly column: string; readonly at: number }

/** Cuts fall on whole hours or days, so a part of one period goes whole, and nothing goes before its time is full. */
export function expiryCut(table: TableName, fold_time: number, retention: RetentionPolicy): ExpiryCut | undefined {
  switch (table) {
    case 'idempotency_keys':
      return { column: 'folded_hour_at', at: floorTo(fold_time, HOUR_MS) - retention.idempotency_hours * HOUR_MS }
    case 'refusals':
      return { column: 'folded_at', at: floorTo(fold_time, DAY_MS) - retention.refusals_days * DAY_MS }
    case 'dispatch_outbox':
      return { column: 'closed_at', at: floorTo(fold_time, DAY_MS) - retention.outbox_days * DAY_MS }
    case 'run_key_index':
    case 'pools':
    case 'schedule_ticks':
      return { column: 'expires_at', at: fold_time }
    case 'runs':
    case 'tasks':
    case 'dep_satisfaction':
    case 'asset_definitions':
    case 'code_locations':
    case 'names':
    case 'schedule_definitions':
    case 'schedule_state':
    case 'partition_status':
    case 'run_key_conflicts':
    case 'quarantine':
      return undefined
  }
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
