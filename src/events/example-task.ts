// The frozen examples of what events say of tasks and their attempts: their part of the story in example.ts.

import type { AttemptLost, DispatchEnqueued, DispatchRequested, TaskFinished, TaskHeartbeat, TaskStarted } from './task.js'

export const DISPATCH_REQUESTED: DispatchRequested = {
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

export const DISPATCH_ENQUEUED: DispatchEnqueued = {
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

export const TASK_STARTED: TaskStarted = {
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

export const TASK_HEARTBEAT: TaskHeartbeat = {
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

export const TASK_FINISHED: TaskFinished = {
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

export const ATTEMPT_LOST: AttemptLost = {
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
