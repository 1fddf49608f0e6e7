// The frozen examples of what events say of runs and their plans: their part of the story in example.ts.

export const RUN_REQUESTED = {
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
} as const

export const RUN_CANCEL_REQUESTED = {
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
} as const

export const PLAN_CREATED = {
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
} as const

export const PLAN_FAILED = {
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
} as const
