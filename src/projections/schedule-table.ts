// The rows of schedules: what each is, how it stands, and what became of its instants.

import type { SkipReason, TickAssets } from '../events/schedule.js'
import type { PartitionMapping } from '../events/schedule-definition.js'
import type { ErrorValue, Selector } from '../events/value.js'
import { column, defineTable, type RowOf } from './table.js'

/** A removed schedule stays: its row is the tombstone that ends its loop, and the way in to its history. */
export const SCHEDULE_DEFINITIONS = defineTable({
  name: 'schedule_definitions',
  key: ['schedule_id'],
  residency: 'whole',
  columns: {
    schedule_id: column.string,
    schedule_name: column.string,
    /** Of the code location that deploys it; null: it was made by the API, and no deploy touches it. */
    location_name: column.optional.repeated,
    definition_hash: column.string,
    /** From 1; a description moves none. */
    definition_version: column.int64,
    cron_expressions: column.json<readonly string[]>(),
    timezone: column.repeated,
    asset_selection: column.json<readonly string[]>(),
    partition_mapping: column.optional.json<PartitionMapping>(),
    catchup_window_minutes: column.int32,
    max_catchup_ticks: column.int32,
    catch_up_on_resume: column.boolean,
    overlap_policy: column.oneOf('ALLOW', 'SKIP'),
    tags: column.json<Readonly<Record<string, string>>>(),
    priority: column.int32,
    description: column.optional.string,
    default_status: column.oneOf('ACTIVE', 'PAUSED'),
    created_at: column.timestamp,
    updated_at: column.timestamp,
    cron_changed_at: column.timestamp,
    removed_at: column.optional.timestamp,
  },
})

export const SCHEDULE_STATE = defineTable({
  name: 'schedule_state',
  key: ['schedule_id'],
  residency: 'whole',
  columns: {
    schedule_id: column.string,
    schedule_name: column.string,
    status: column.oneOf('ACTIVE', 'PAUSED', 'REMOVED'),
    /** Moved by each decision of the clock, edit and change of status: what is decided on an older one is refused. */
    state_version: column.int64,
    enabled_at: column.timestamp,
    /** Since when it is paused; null: it is not. */
    paused_at: column.optional.timestamp,
    status_changed_by: column.optional.repeated,
    /** Why, as whoever paused or resumed it said. */
    status_reason: column.optional.string,
    /** Nothing up to here is decided any more, but for what is owed. */
    floor_at: column.timestamp,
    last_scheduled_for: column.optional.timestamp,
    last_tick_id: column.optional.string,
    last_tick_status: column.optional.oneOf('TRIGGERED', 'FAILED', 'SKIPPED'),
    last_run_key: column.optional.string,
    last_decided_at: column.optional.timestamp,
    /** Ticks that FAILED since the last one that did not; what was skipped counts neither way. */
    consecutive_failures: column.int32,
    owed: column.json<readonly OwedSpan[]>(),
  },
})

/** Instants that a change cut off, to be counted as skipped: those after `from` up to `to`, by the cron and zone of then.
 *  In the order of time, the oldest first; none overlaps another. */
export type OwedSpan = {
  readonly from: string
  readonly to: string
  readonly cron_expressions: readonly string[]
  readonly timezone: string
  readonly reason: 'SUPERSEDED' | 'PAUSED'
}

export const SCHEDULE_TICKS = defineTable({
  name: 'schedule_ticks',
  key: ['schedule_id', 'tick_id'],
  residency: 'on_disk',
  bloom: true,
  expiry: { column: 'expires_at' },
  times: ['scheduled_for', 'decided_at'],
  // What was skipped goes for good before long: it stays in the base until then, where merges drop it.
  cold: { by: { column: 'scheduled_for', unless_set: 'expires_at' }, found_by: 'tick_id' },
  columns: {
    schedule_id: column.repeated,
    tick_id: column.string,
    schedule_name: column.repeated,
    kind: column.oneOf('CRON', 'MANUAL'),
    /** Of SKIPPED the last of its instants. */
    scheduled_for: column.timestamp,
    status: column.oneOf('TRIGGERED', 'FAILED', 'SKIPPED'),
    skipped_count: column.optional.int32,
    first_scheduled_for: column.optional.timestamp,
    skip_reasons: column.optional.json<SkipReasons>(),
    /** The run that had not ended when they were skipped. */
    active_run_id: column.optional.string,
    definition_version: column.int64,
    definition_hash: column.repeated,
    assets: column.json<TickAssets>(),
    partitions: column.json<Selector>(),
    run_count: column.int32,
    run_key: column.optional.string,
    /** The first that was requested. */
    run_id: column.optional.string,
    /** Requests of this tick whose run key another request holds. */
    conflict_count: column.int32,
    request_fingerprint: column.optional.string,
    error: column.optional.json<ErrorValue>(),
    requested_by: column.optional.repeated,
    decided_at: column.timestamp,
    /** Of SKIPPED alone: the others are kept. */
    expires_at: column.optional.timestamp,
  },
})

export type SkipReasons = Readonly<Partial<Record<SkipReason, number>>>

export type ScheduleDefinitionRow = RowOf<typeof SCHEDULE_DEFINITIONS>
export type ScheduleStateRow = RowOf<typeof SCHEDULE_STATE>
export type ScheduleTickRow = RowOf<typeof SCHEDULE_TICKS>
export type ScheduleStatus = ScheduleStateRow['status']
