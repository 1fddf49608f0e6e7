// One example of each event, frozen: a test compares them with test/golden/events. Together they tell one story, from
// a deploy to a finished run; RunCancelRequested, PlanFailed and AttemptLost are other ways in which it could go on.
// Secret, run key and ids are those of DATA section 1.

import type { AssetDefined, AssetRemoved, CodeLocationDeployed, PoolDefined, PoolRemoved } from './asset.js'
import type { PlanCreated, PlanFailed, RunCancelRequested, RunRequested } from './run.js'
import type { AttemptLost, DispatchEnqueued, DispatchRequested, TaskFinished, TaskHeartbeat, TaskStarted } from './task.js'

const CODE_LOCATION_DEPLOYED: CodeLocationDeployed = {
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
}

const ASSET_DEFINED: AssetDefined = {
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
}

const ASSET_REMOVED: AssetRemoved = {
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
}

const POOL_DEFINED: PoolDefined = {
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
}

const POOL_REMOVED: PoolRemoved = {
  event_id: '01JHMR6K20JYY6WSHEEZDXXD40',
  event_type: 'PoolRemoved',
  event_version: 1,
  timestamp: '2025-01-15T10:30:00.000Z',
  source: 'servo/api',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'pool_def:pool:warehouse:removed:pool-2025-01-15-b',
  payload: { pool_key: 'pool:warehouse', requested_by: 'user:1' },
}

const RUN_REQUESTED: RunRequested = {
  event_id: '01JHMPFN80JC1DHBK8GS5PA08V',
  event_type: 'RunRequested',
  event_version: 1,
  timestamp: '2025-01-15T10:00:00.000Z',
  source: 'servo/turn',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'runreq:sched:01JZ8M5Q3R7T9V0W2X4Y6ZABCD:1736935200:898e8a7484f0d1cd25213c4299d64cb73a587e38a0906e7e7117fc761327a536',
  correlation_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
  payload: {
    run_key: 'sched:01JZ8M5Q3R7T9V0W2X4Y6ZABCD:1736935200',
    run_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
    secret_key_id: 'golden',
    request_fingerprint: '5d8ee4bcb54c1644a13c9171d83286f0baed9a62248c5251ef8accafe653c94a',
    assets: { keys: ['analytics.daily_summary'] },
    partitions: { keys: ['2025-01-14'] },
    tags: { team: 'core' },
    priority: 0,
    trigger: { type: 'SCHEDULE', schedule_id: '01JZ8M5Q3R7T9V0W2X4Y6ZABCD', tick_id: '01JZ8M5Q3R7T9V0W2X4Y6ZABCD:1736935200' },
  },
}

const RUN_CANCEL_REQUESTED: RunCancelRequested = {
  event_id: '01JHMPGJHGXC7RGG2QN1Z0PETH',
  event_type: 'RunCancelRequested',
  event_version: 1,
  timestamp: '2025-01-15T10:00:30.000Z',
  source: 'servo/api',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'runcancel:run_ywyvhmgqjsi3naar7smdnlfsve:cancel-2025-01-15',
  correlation_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
  payload: { run_id: 'run_ywyvhmgqjsi3naar7smdnlfsve', requested_by: 'user:1', reason: 'Yesterday came in late.' },
}

const PLAN_CREATED: PlanCreated = {
  event_id: '01JHMPFN80FMEQHZ95XYH76WME',
  event_type: 'PlanCreated',
  event_version: 1,
  timestamp: '2025-01-15T10:00:00.000Z',
  source: 'servo/turn',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'plan:run_ywyvhmgqjsi3naar7smdnlfsve:01JHMPFN80JC1DHBK8GS5PA08V:0',
  correlation_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
  causation_id: '01JHMPFN80JC1DHBK8GS5PA08V',
  basis: { request_event_id: '01JHMPFN80JC1DHBK8GS5PA08V', run_state: 'PENDING' },
  payload: {
    run_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
    page: 0,
    pages: 1,
    task_offset: 0,
    task_count: 1,
    definitions: [
      { asset_key: 'analytics.daily_summary', definition_hash: '705638124e3174f243b13e7c6e68b5c3ef4ef36334322ee6599ad27a862ba3ab' },
    ],
    tasks: [{ k: 'analytics.daily_summary', d: 0, p: { keys: ['2025-01-14'] }, n: 1 }],
  },
}

const PLAN_FAILED: PlanFailed = {
  event_id: '01JHMPFN80J76FE8VGE1ET66K6',
  event_type: 'PlanFailed',
  event_version: 1,
  timestamp: '2025-01-15T10:00:00.000Z',
  source: 'servo/turn',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'plan:run_ywyvhmgqjsi3naar7smdnlfsve:01JHMPFN80JC1DHBK8GS5PA08V:failed',
  correlation_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
  causation_id: '01JHMPFN80JC1DHBK8GS5PA08V',
  basis: { request_event_id: '01JHMPFN80JC1DHBK8GS5PA08V', run_state: 'PENDING' },
  payload: {
    run_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
    error: { code: 'BAD_PARTITION', message: '2025-01-14 is no partition of analytics.daily_summary.', retryable: false },
  },
}

const DISPATCH_REQUESTED: DispatchRequested = {
  event_id: '01JHMPFN80SC1X7M218BFV69HZ',
  event_type: 'DispatchRequested',
  event_version: 1,
  timestamp: '2025-01-15T10:00:00.000Z',
  source: 'servo/turn',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'dispatch:run_ywyvhmgqjsi3naar7smdnlfsve:analytics.daily_summary:1',
  correlation_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
  basis: {
    task_state: 'READY',
    previous_attempt: 0,
    definition_hash: '705638124e3174f243b13e7c6e68b5c3ef4ef36334322ee6599ad27a862ba3ab',
  },
  payload: {
    run_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
    task_key: 'analytics.daily_summary',
    attempt: 1,
    attempt_id: '3AYAGXAP8KGYKNN09WMD8HK6EN',
    secret_key_id: 'golden',
    queue_task_name: 'd_yo4czk3ou7oxu4nriwye7cm7lt',
    location_name: 'analytics',
    worker_queue: 'default',
  },
}

const DISPATCH_ENQUEUED: DispatchEnqueued = {
  event_id: '01JHMPFNWA18HCVGV3MDPSCP9A',
  event_type: 'DispatchEnqueued',
  event_version: 1,
  timestamp: '2025-01-15T10:00:00.650Z',
  source: 'servo/handover',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'dispatch:run_ywyvhmgqjsi3naar7smdnlfsve:analytics.daily_summary:1:enqueued',
  correlation_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
  payload: {
    run_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
    task_key: 'analytics.daily_summary',
    attempt: 1,
    attempt_id: '3AYAGXAP8KGYKNN09WMD8HK6EN',
    port: 'DIRECT',
  },
}

const TASK_STARTED: TaskStarted = {
  event_id: '01JHMPFPDGEX9DNFN8KYP1ABT5',
  event_type: 'TaskStarted',
  event_version: 1,
  timestamp: '2025-01-15T10:00:01.200Z',
  source: 'servo/callback',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'started:run_ywyvhmgqjsi3naar7smdnlfsve:analytics.daily_summary:1:3AYAGXAP8KGYKNN09WMD8HK6EN',
  correlation_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
  basis: { sequence: 4213 },
  payload: {
    run_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
    task_key: 'analytics.daily_summary',
    attempt: 1,
    attempt_id: '3AYAGXAP8KGYKNN09WMD8HK6EN',
    execution_id: '01JHMPFPDGVVAJ43NZ5HDPMWWT',
    worker_id: 'analytics-worker-1',
    code_version: '2025.01.15',
    worker_started_at: '2025-01-15T10:00:01.100Z',
  },
}

const TASK_HEARTBEAT: TaskHeartbeat = {
  event_id: '01JHMPG9R82C0RXEPPANT8XZAN',
  event_type: 'TaskHeartbeat',
  event_version: 1,
  timestamp: '2025-01-15T10:00:21.000Z',
  source: 'servo/callback',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'heartbeat:run_ywyvhmgqjsi3naar7smdnlfsve:analytics.daily_summary:1:3AYAGXAP8KGYKNN09WMD8HK6EN:1',
  correlation_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
  basis: { sequence: 4213 },
  payload: {
    run_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
    task_key: 'analytics.daily_summary',
    attempt: 1,
    attempt_id: '3AYAGXAP8KGYKNN09WMD8HK6EN',
    execution_id: '01JHMPFPDGVVAJ43NZ5HDPMWWT',
    seq: 1,
    progress: { done: 400, total: 1204, message: '400 of 1204 rows' },
  },
}

const TASK_FINISHED: TaskFinished = {
  event_id: '01JHMPHVJ00CKQMC6NE9KEJRAX',
  event_type: 'TaskFinished',
  event_version: 1,
  timestamp: '2025-01-15T10:01:12.000Z',
  source: 'servo/callback',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'finished:run_ywyvhmgqjsi3naar7smdnlfsve:analytics.daily_summary:1:3AYAGXAP8KGYKNN09WMD8HK6EN',
  correlation_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
  basis: { sequence: 4213 },
  payload: {
    run_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
    task_key: 'analytics.daily_summary',
    attempt: 1,
    attempt_id: '3AYAGXAP8KGYKNN09WMD8HK6EN',
    execution_id: '01JHMPFPDGVVAJ43NZ5HDPMWWT',
    outcome: 'SUCCEEDED',
    materialization_id: '01JHMPHVJ0RJKEJFFCZ9M0T6G5',
    code_version: '2025.01.15',
    data_version: '2025-01-14.1',
    metadata: { rows: 1204, table: 'analytics.daily_summary' },
    worker_finished_at: '2025-01-15T10:01:11.900Z',
  },
}

const ATTEMPT_LOST: AttemptLost = {
  event_id: '01JHMPJRVGQJD0QFM2XQ5QRW95',
  event_type: 'AttemptLost',
  event_version: 1,
  timestamp: '2025-01-15T10:01:42.000Z',
  source: 'servo/turn',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'lost:run_ywyvhmgqjsi3naar7smdnlfsve:analytics.daily_summary:1',
  correlation_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
  basis: { task_state: 'RUNNING', deadline_at: '2025-01-15T10:01:41.000Z' },
  payload: {
    run_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
    task_key: 'analytics.daily_summary',
    attempt: 1,
    attempt_id: '3AYAGXAP8KGYKNN09WMD8HK6EN',
    reason: 'HEARTBEAT',
  },
}

export const EXAMPLES = {
  CodeLocationDeployed: CODE_LOCATION_DEPLOYED,
  AssetDefined: ASSET_DEFINED,
  AssetRemoved: ASSET_REMOVED,
  PoolDefined: POOL_DEFINED,
  PoolRemoved: POOL_REMOVED,
  RunRequested: RUN_REQUESTED,
  RunCancelRequested: RUN_CANCEL_REQUESTED,
  PlanCreated: PLAN_CREATED,
  PlanFailed: PLAN_FAILED,
  DispatchRequested: DISPATCH_REQUESTED,
  DispatchEnqueued: DISPATCH_ENQUEUED,
  TaskStarted: TASK_STARTED,
  TaskHeartbeat: TASK_HEARTBEAT,
  TaskFinished: TASK_FINISHED,
  AttemptLost: ATTEMPT_LOST,
} as const

/** The examples that a fold applies, in an order in which it does. */
export const STORY = [
  CODE_LOCATION_DEPLOYED,
  ASSET_DEFINED,
  POOL_DEFINED,
  RUN_REQUESTED,
  PLAN_CREATED,
  DISPATCH_REQUESTED,
  DISPATCH_ENQUEUED,
  TASK_STARTED,
  TASK_HEARTBEAT,
  TASK_FINISHED,
  ASSET_REMOVED,
  POOL_REMOVED,
] as const
