// What a deploy and the API say about code locations, assets and pools.

import { z } from 'zod'
import {
  DEFINITION_BYTES_MAX,
  LOCATION_DEFINITIONS_MAX,
  LOCATION_PREFETCH_MAX,
  RETRY_FACTOR_MAX,
  TASK_PARTITIONS_MAX,
} from '../core/limits.js'
import { COMMANDED_BY, defineEvent, type EventsIn, eventsByType } from './envelope.js'
import * as example from './example-asset.js'
import { partitions } from './partitions.js'
import { count, dependency, id, integer, json, longCount, type Parsed, positiveCount, priority, seconds, tags, text } from './value.js'

const definitionCount = integer(0, LOCATION_DEFINITIONS_MAX)

const CODE_LOCATION_DEPLOYED = defineEvent({
  event_type: 'CodeLocationDeployed',
  example: example.CODE_LOCATION_DEPLOYED,
  payload: z.object({
    location_name: id('name'),
    content_sha256: id('sha256'),
    worker_url: id('text'),
    worker_queue: id('text'),
    /** LOCATION_SLOTS_DEFAULT where absent. */
    slots: count.exactOptional(),
    /** Attempts that its workers keep beyond their slots; none where absent. */
    prefetch: integer(0, LOCATION_PREFETCH_MAX).exactOptional(),
    code_version: text.exactOptional(),
    sdk: text.exactOptional(),
    asset_count: definitionCount,
    schedule_count: definitionCount,
    sensor_count: definitionCount,
    ...COMMANDED_BY,
  }),
  /** 0: the location is new. */
  basis: z.object({ expected_location_version: longCount }),
})

/** Defaults are applied where the definition is used: its hash is that of what was written. */
export const assetDefinition = z.object({
  asset_key: id('asset_key'),
  description: text.exactOptional(),
  group: text.exactOptional(),
  owners: z.array(text).exactOptional(),
  tags: tags.exactOptional(),
  code_version: text.exactOptional(),
  deps: z.array(dependency),
  partitions: partitions.exactOptional(),
  partitions_per_task: integer(1, TASK_PARTITIONS_MAX).exactOptional(),
  retry: z
    .object({
      max_attempts: positiveCount.exactOptional(),
      max_infra_losses: count.exactOptional(),
      backoff_seconds: seconds(0).exactOptional(),
      factor: z.number().min(1).max(RETRY_FACTOR_MAX).exactOptional(),
      max_backoff_seconds: seconds(0).exactOptional(),
      jitter: z.number().min(0).max(1).exactOptional(),
    })
    .exactOptional(),
  start_timeout_seconds: seconds(0).exactOptional(),
  heartbeat_timeout_seconds: seconds(0).exactOptional(),
  timeout_seconds: seconds(0).exactOptional(),
  cancel_grace_seconds: seconds(0).exactOptional(),
  pools: z.array(id('name')).exactOptional(),
  priority: priority.exactOptional(),
  freshness: json.exactOptional(),
  metadata: json.exactOptional(),
})
export type AssetDefinition = Parsed<typeof assetDefinition>

export const ASSET_DEFINED = defineEvent({
  event_type: 'AssetDefined',
  example: example.ASSET_DEFINED,
  payload: z
    .object({
      location_name: id('name'),
      asset_key: id('asset_key'),
      definition_hash: id('sha256'),
      definition: assetDefinition,
      ...COMMANDED_BY,
    })
    .refine((payload) => payload.definition.asset_key === payload.asset_key, {
      path: ['definition', 'asset_key'],
      error: 'the asset_key of the payload',
    }),
  byte_limits: [{ member: 'definition', bytes_max: DEFINITION_BYTES_MAX }],
})

const ASSET_REMOVED = defineEvent({
  event_type: 'AssetRemoved',
  example: example.ASSET_REMOVED,
  payload: z.object({ location_name: id('name'), asset_key: id('asset_key'), ...COMMANDED_BY }),
  basis: z.object({ definition_hash: id('sha256') }),
})

const POOL_DEFINED = defineEvent({
  event_type: 'PoolDefined',
  example: example.POOL_DEFINED,
  payload: z.object({ pool_key: id('pool_key'), max_running: count, ...COMMANDED_BY }),
})

const POOL_REMOVED = defineEvent({
  event_type: 'PoolRemoved',
  example: example.POOL_REMOVED,
  payload: z.object({ pool_key: id('pool_key'), ...COMMANDED_BY }),
})

export const ASSET_EVENTS = eventsByType(CODE_LOCATION_DEPLOYED, ASSET_DEFINED, ASSET_REMOVED, POOL_DEFINED, POOL_REMOVED)
export type AssetEvent = EventsIn<typeof ASSET_EVENTS>
