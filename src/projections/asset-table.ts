// The rows of what is defined: assets, the code locations that serve them, pools and names; and partition status.

import type { AssetDefinition } from '../events/asset.js'
import type { Partitions } from '../events/partitions.js'
import type { Dependency } from '../events/value.js'
import { column, defineTable, type RowOf } from './table.js'

export const POOLS = defineTable({
  name: 'pools',
  key: ['pool_key'],
  residency: 'whole',
  expiry: { column: 'expires_at' },
  columns: {
    pool_key: column.string,
    max_running: column.optional.int32,
    in_use: column.int32,
    /** Of a location: a moving average of how long an attempt had a slot, or waited for one in vain. */
    attempt_ms_mean: column.optional.int64,
    updated_by: column.optional.repeated,
    /** Why, as the person who set or removed the cap said it. */
    reason: column.optional.string,
    updated_at: column.timestamp,
    removed_at: column.optional.timestamp,
    /** Of the value of a tag that counts nothing and has no cap of its own. */
    expires_at: column.optional.timestamp,
  },
})

export const ASSET_DEFINITIONS = defineTable({
  name: 'asset_definitions',
  key: ['asset_key', 'definition_hash'],
  residency: { while_open: { column: 'state', values: ['CURRENT'] } },
  columns: {
    asset_key: column.string,
    definition_hash: column.string,
    state: column.oneOf('CURRENT', 'SUPERSEDED', 'REMOVED'),
    location_name: column.repeated,
    location_version: column.int64,
    group_name: column.optional.repeated,
    description: column.optional.string,
    code_version: column.optional.repeated,
    partitions: column.optional.json<Partitions>(),
    deps: column.json<readonly Dependency[]>(),
    definition: column.json<AssetDefinition>(),
    defined_at: column.timestamp,
    current_since_at: column.optional.timestamp,
    ended_at: column.optional.timestamp,
  },
})

export const CODE_LOCATIONS = defineTable({
  name: 'code_locations',
  key: ['location_name'],
  residency: 'whole',
  columns: {
    location_name: column.string,
    location_version: column.int64,
    content_sha256: column.string,
    worker_url: column.string,
    worker_queue: column.string,
    slots: column.int32,
    /** Attempts that its workers keep beyond their slots. */
    prefetch: column.optional.int32,
    code_version: column.optional.string,
    sdk: column.optional.string,
    asset_count: column.int32,
    schedule_count: column.int32,
    sensor_count: column.int32,
    deployed_by: column.optional.repeated,
    deployed_at: column.timestamp,
  },
})

export const NAMES = defineTable({
  name: 'names',
  key: ['kind', 'name'],
  residency: 'whole',
  columns: {
    kind: column.oneOf('SCHEDULE', 'SENSOR'),
    name: column.string,
    entity_id: column.string,
    taken_at: column.timestamp,
    released_at: column.optional.timestamp,
  },
})

export const PARTITION_STATUS = defineTable({
  name: 'partition_status',
  key: ['asset_key', 'sort_key', 'partition_key'],
  residency: 'on_disk',
  columns: {
    asset_key: column.repeated,
    sort_key: column.string,
    partition_key: column.string,
    partition_values: column.optional.json(),
    last_materialization_id: column.optional.string,
    last_materialization_run_id: column.optional.string,
    last_materialization_at: column.optional.timestamp,
    last_materialization_ordinal: column.optional.int64,
    last_materialization_code_version: column.optional.repeated,
    last_materialization_definition_hash: column.optional.repeated,
    last_materialization_source: column.optional.oneOf('RUN', 'REPORTED'),
    data_version: column.optional.string,
    last_attempt_run_id: column.optional.string,
    last_attempt_id: column.optional.string,
    last_attempt_at: column.optional.timestamp,
    last_attempt_outcome: column.optional.oneOf('SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED'),
    last_attempt_error_code: column.optional.repeated,
    failed_since_at: column.optional.timestamp,
    wiped_at: column.optional.timestamp,
  },
})

export type PoolRow = RowOf<typeof POOLS>
export type AssetDefinitionRow = RowOf<typeof ASSET_DEFINITIONS>
export type CodeLocationRow = RowOf<typeof CODE_LOCATIONS>
export type NameRow = RowOf<typeof NAMES>
export type PartitionStatusRow = RowOf<typeof PARTITION_STATUS>
