// The frozen examples of what events say of deploys, assets and pools: their part of the story in example.ts.

export const CODE_LOCATION_DEPLOYED = {
  event_id: '01JHMNXBA052H5V769WCPC1YK5',
  event_type: 'CodeLocationDeployed',
  event_version: 1,
  timestamp: '2025-01-15T09:50:00.000Z',
  source: 'servo/deploy',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'deploy:analytics:deploy-2025-01-15',
  correlation_id: 'deploy-2025-01-15',
  basis: { expected_location_version: 0 },
  payload: {
    location_name: 'analytics',
    content_sha256: '3c71f609aabe0cc0e192bdece4e70cc15d0bd05e26a150ecb1e8c5ea8cc5a0db',
    worker_url: 'https://analytics-worker.example.com',
    worker_queue: 'default',
    slots: 64,
    code_version: '2025.01.15',
    sdk: 'servo-sdk/0.1.0',
    asset_count: 1,
    schedule_count: 0,
    sensor_count: 0,
    requested_by: 'user:1',
  },
} as const

export const ASSET_DEFINED = {
  event_id: '01JHMNXBA0SPEEGVS935ZGSRZQ',
  event_type: 'AssetDefined',
  event_version: 1,
  timestamp: '2025-01-15T09:50:00.000Z',
  source: 'servo/deploy',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'asset_def:analytics.daily_summary:705638124e3174f243b13e7c6e68b5c3ef4ef36334322ee6599ad27a862ba3ab:deploy-2025-01-15',
  correlation_id: 'deploy-2025-01-15',
  causation_id: '01JHMNXBA052H5V769WCPC1YK5',
  payload: {
    location_name: 'analytics',
    asset_key: 'analytics.daily_summary',
    definition_hash: '705638124e3174f243b13e7c6e68b5c3ef4ef36334322ee6599ad27a862ba3ab',
    definition: {
      asset_key: 'analytics.daily_summary',
      description: 'One row for each day: events, users and revenue.',
      group: 'analytics',
      owners: ['team:core'],
      tags: { team: 'core' },
      code_version: '2025.01.15',
      deps: [{ asset_key: 'raw.events' }],
      partitions: { type: 'daily', start_date: '2025-01-01', timezone: 'UTC' },
      retry: { max_attempts: 3, backoff_seconds: 30, factor: 2, max_backoff_seconds: 600, jitter: 0.2 },
      heartbeat_timeout_seconds: 60,
      timeout_seconds: 3600,
      pools: ['warehouse'],
      metadata: { docs: 'https://docs.example.com/daily-summary' },
    },
    requested_by: 'user:1',
  },
} as const

export const ASSET_REMOVED = {
  event_id: '01JHMR6K20MBXZ59DG0AQX72KE',
  event_type: 'AssetRemoved',
  event_version: 1,
  timestamp: '2025-01-15T10:30:00.000Z',
  source: 'servo/deploy',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'asset_def:analytics.daily_summary:removed:deploy-2025-01-15-b',
  correlation_id: 'deploy-2025-01-15-b',
  basis: { definition_hash: '705638124e3174f243b13e7c6e68b5c3ef4ef36334322ee6599ad27a862ba3ab' },
  payload: {
    location_name: 'analytics',
    asset_key: 'analytics.daily_summary',
    requested_by: 'user:1',
    reason: 'Replaced by analytics.summary.',
  },
} as const

export const POOL_DEFINED = {
  event_id: '01JHMNXBA0ARW3B6348WTBW7TC',
  event_type: 'PoolDefined',
  event_version: 1,
  timestamp: '2025-01-15T09:50:00.000Z',
  source: 'servo/api',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'pool_def:pool:warehouse:pool-2025-01-15',
  payload: {
    pool_key: 'pool:warehouse',
    max_running: 4,
    requested_by: 'user:1',
    reason: 'The warehouse has four slots.',
  },
} as const

export const POOL_REMOVED = {
  event_id: '01JHMR6K20JYY6WSHEEZDXXD40',
  event_type: 'PoolRemoved',
  event_version: 1,
  timestamp: '2025-01-15T10:30:00.000Z',
  source: 'servo/api',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'pool_def:pool:warehouse:removed:pool-2025-01-15-b',
  payload: { pool_key: 'pool:warehouse', requested_by: 'user:1' },
} as const
