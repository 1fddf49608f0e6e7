// The rows that remember what became of an event: applied (its key), refused, quarantined; and who has which run key.

import { DAY_MS, HOUR_MS } from '../core/time.js'
import type { Assets, Selector } from '../events/value.js'
import { column, defineTable, type Json, type RowOf } from './table.js'

export const RUN_KEY_INDEX = defineTable({
  name: 'run_key_index',
  key: ['run_key'],
  residency: 'on_disk',
  bloom: true,
  expiry: { column: 'expires_at' },
  columns: {
    run_key: column.string,
    run_id: column.string,
    request_fingerprint: column.string,
    request_event_id: column.string,
    created_at: column.timestamp,
    expires_at: column.optional.timestamp,
  },
})

export const RUN_KEY_CONFLICTS = defineTable({
  name: 'run_key_conflicts',
  key: ['run_key', 'conflicting_fingerprint'],
  residency: 'on_disk',
  times: ['detected_at'],
  columns: {
    run_key: column.string,
    conflicting_fingerprint: column.string,
    run_id: column.string,
    existing_fingerprint: column.string,
    conflicting_event_id: column.string,
    trigger: column.json(),
    assets: column.json<Assets>(),
    partitions: column.json<Selector>(),
    tags: column.json<Readonly<Record<string, string>>>(),
    seen_count: column.int32,
    detected_at: column.timestamp,
  },
})

export const IDEMPOTENCY_KEYS = defineTable({
  name: 'idempotency_keys',
  key: ['idempotency_key'],
  residency: 'on_disk',
  bloom: true,
  // A key that was applied is taken until it expires.
  period: { column: 'folded_hour_at', unit_ms: HOUR_MS, holds_key_once: true },
  expiry: { column: 'folded_hour_at', keep_for: 'idempotency_hours' },
  columns: {
    idempotency_key: column.string,
    event_id: column.string,
    event_type: column.repeated,
    folded_hour_at: column.timestamp,
  },
})

export const REFUSALS = defineTable({
  name: 'refusals',
  key: ['idempotency_key', 'event_id'],
  residency: 'on_disk',
  bloom: true,
  // What was refused may come again on another day, in another segment.
  period: { column: 'folded_at', unit_ms: DAY_MS, holds_key_once: false },
  expiry: { column: 'folded_at', keep_for: 'refusals_days' },
  columns: {
    idempotency_key: column.string,
    event_id: column.string,
    event_type: column.repeated,
    reason: column.repeated,
    detail: column.optional.json<Json>(),
    entity_kind: column.repeated,
    entity_id: column.string,
    batch_id: column.string,
    causation_id: column.optional.string,
    segment_name: column.string,
    refused_at: column.timestamp,
    folded_at: column.timestamp,
  },
})

export const QUARANTINE_REASONS = [
  'BAD_JSON',
  'BAD_SCHEMA',
  'UNKNOWN_TYPE',
  'UNKNOWN_VERSION',
  'TOO_LARGE',
  'LATE',
  'LIST_MISSING',
  'WRONG_WORKSPACE',
] as const

export const QUARANTINE = defineTable({
  name: 'quarantine',
  key: ['segment_name', 'batch_index', 'event_index'],
  residency: 'on_disk',
  columns: {
    segment_name: column.string,
    batch_index: column.int32,
    event_index: column.int32,
    reason: column.oneOf(...QUARANTINE_REASONS),
    event_type: column.optional.string,
    event_version: column.optional.int64,
    event_id: column.optional.string,
    raw: column.string,
    detail: column.optional.json<Json>(),
    folded_at: column.timestamp,
  },
})

export type RefusalRow = RowOf<typeof REFUSALS>
type QuarantineRow = RowOf<typeof QUARANTINE>
export type QuarantineReason = QuarantineRow['reason']
