// What becomes of an event: applied, duplicate, refused or quarantined, and the rows that remember it.

import { floorTo, HOUR_MS } from '../core/time.js'
import type { LedgerEvent } from '../events/event.js'
import type { QuarantineReason } from './outcome-table.js'
import { isExpired, type RetentionPolicy } from './retention.js'
import type { Json } from './table.js'
import type { RowKey, Rows, TableName } from './tables.js'
import type { WorkingSet } from './working-set.js'

/** A part of a batch as it was parsed: an event, or what could not become one. */
export type BatchEntry = { readonly kind: 'event'; readonly event: LedgerEvent } | QuarantineEntry

type QuarantineEntry = {
  readonly kind: 'quarantine'
  readonly reason: QuarantineReason
  /** The bytes as text, cut to the limit. */
  readonly raw: string
  /** −1: the whole batch, or the whole segment; left out: its place in the batch. */
  readonly event_index?: number | undefined
  readonly event_type?: string | undefined
  readonly event_version?: number | undefined
  readonly event_id?: string | undefined
  readonly detail?: Json | undefined
}

export const REFUSAL_REASONS = [
  'STALE_BASIS',
  'STALE_ATTEMPT',
  'ATTEMPT_OVER',
  'OTHER_EXECUTION',
  'BASIS_MISSING',
  'CAP_REACHED',
  'ILLEGAL_TRANSITION',
  'TERMINAL',
  'UNKNOWN_ENTITY',
  'NAME_TAKEN',
  'OWNED_ELSEWHERE',
  'STALE_LOCATION',
  'TRIGGER_NOT_APPLIED',
  'RUN_KEY_CONFLICT',
] as const
type RefusalReason = (typeof REFUSAL_REASONS)[number]

export type Refusal = { readonly reason: RefusalReason; readonly detail?: Json }

export type EventOutcome =
  | { readonly kind: 'applied' }
  | { readonly kind: 'duplicate' }
  | ({ readonly kind: 'refused' } & Refusal)
  | { readonly kind: 'quarantined'; readonly reason: QuarantineReason }

export const APPLIED: EventOutcome = { kind: 'applied' }
export const DUPLICATE: EventOutcome = { kind: 'duplicate' }

export const refusal = (reason: RefusalReason, detail?: Json): Refusal => (detail === undefined ? { reason } : { reason, detail })

/** Where and when a batch is folded. */
export type FoldContext = {
  /** Highest creation time folded so far, that of this segment included, epoch milliseconds. */
  readonly fold_time: number
  readonly segment_name: string
  readonly batch_index: number
  readonly batch_id: string
  readonly retention: RetentionPolicy
}

/** What a noun's fold knows about the event besides its payload. */
export type Moment = {
  readonly context: FoldContext
  readonly event_id: string
  /** The event's timestamp, epoch milliseconds: deadlines count from it. */
  readonly at: number
  /** The place of this event among all that were applied. */
  readonly ordinal: number
}

/** When it happened, for a column: never before what it follows. Each process knows the store's clock to a part of a second, and
 *  what one of them says may carry an earlier time than what it answers to. Deadlines count from `at` itself. */
export function notBefore({ at }: Moment, ...causes: readonly (number | null | undefined)[]): number {
  let latest = at
  for (const cause of causes) if (cause !== null && cause !== undefined && cause > latest) latest = cause
  return latest
}

/** The row, unless it has expired. */
export function liveRow<Name extends TableName>(
  rows: WorkingSet,
  context: FoldContext,
  table: Name,
  ...key: RowKey
): Rows[Name] | undefined {
  const row = rows.get(table, ...key)
  return row === undefined || isExpired(table, row, context.fold_time, context.retention) ? undefined : row
}

export const isKeyApplied = (rows: WorkingSet, context: FoldContext, idempotency_key: string): boolean =>
  liveRow(rows, context, 'idempotency_keys', idempotency_key) !== undefined

/** Only applied keys enter the index: a refused one stays free, because its event must be able to be said again. */
export function rememberApplied(rows: WorkingSet, { idempotency_key, event_id, event_type }: LedgerEvent, context: FoldContext): void {
  rows.countApplied()
  const folded_hour_at = floorTo(context.fold_time, HOUR_MS)
  rows.put('idempotency_keys', { idempotency_key, event_id, event_type, folded_hour_at, row_version: 0, last_event_id: event_id })
}

export function rememberRefused(
  rows: WorkingSet,
  event: LedgerEvent,
  { entity_kind, entity_id }: { readonly entity_kind: string; readonly entity_id: string },
  { reason, detail }: Refusal,
  { context, at }: Moment,
): void {
  rows.put('refusals', {
    idempotency_key: event.idempotency_key,
    event_id: event.event_id,
    event_type: event.event_type,
    reason,
    detail: detail ?? null,
    entity_kind,
    entity_id,
    batch_id: context.batch_id,
    causation_id: event.causation_id ?? null,
    segment_name: context.segment_name,
    refused_at: at,
    folded_at: context.fold_time,
    row_version: 0,
    last_event_id: event.event_id,
  })
}

export function rememberQuarantined(rows: WorkingSet, entry: QuarantineEntry, index: number, context: FoldContext): EventOutcome {
  rows.put('quarantine', {
    segment_name: context.segment_name,
    batch_index: context.batch_index,
    event_index: entry.event_index ?? index,
    reason: entry.reason,
    event_type: entry.event_type ?? null,
    event_version: entry.event_version ?? null,
    event_id: entry.event_id ?? null,
    raw: entry.raw,
    detail: entry.detail ?? null,
    folded_at: context.fold_time,
    row_version: 0,
    last_event_id: entry.event_id ?? '',
  })
  return { kind: 'quarantined', reason: entry.reason }
}
