// The frozen examples of what events say of schedules: their part of the story in example.ts. The tick is that of the
// run in example-run.ts.

export const SCHEDULE_DEFINED = {
  event_id: '01JHMP6G90V3K8W2N5T7XA4C9D',
  event_type: 'ScheduleDefined',
  event_version: 1,
  timestamp: '2025-01-15T09:55:00.000Z',
  source: 'servo/deploy',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'schedule_def:01JZ8M5Q3R7T9V0W2X4Y6ZABCD:deploy-2025-01-15-a',
  correlation_id: 'deploy-2025-01-15-a',
  basis: { expected_definition_version: 0 },
  payload: {
    schedule_id: '01JZ8M5Q3R7T9V0W2X4Y6ZABCD',
    schedule_name: 'daily-summary',
    location_name: 'analytics',
    definition_hash: '46ceeaf54c2873f4642b3c3041957b4cb4687957e69226f8c09d6361edfe2142',
    definition: {
      cron_expressions: ['0 10 * * *'],
      timezone: 'UTC',
      asset_selection: ['analytics.daily_summary'],
      partition_mapping: { type: 'LAST_COMPLETE', end_offset: 0 },
      catchup_window_minutes: 1440,
      max_catchup_ticks: 3,
      catch_up_on_resume: false,
      overlap_policy: 'ALLOW',
      tags: { team: 'core' },
      priority: 0,
      description: 'The summary of yesterday, at ten.',
      default_status: 'ACTIVE',
    },
    requested_by: 'user:1',
  },
} as const

export const SCHEDULE_TICKED = {
  event_id: '01JHMPFN80B6E1H4M9Q3S7V2YZ',
  event_type: 'ScheduleTicked',
  event_version: 1,
  timestamp: '2025-01-15T10:00:00.000Z',
  source: 'servo/turn',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'sched_tick:01JZ8M5Q3R7T9V0W2X4Y6ZABCD:1736935200',
  correlation_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
  basis: { expected_state_version: 1 },
  payload: {
    schedule_id: '01JZ8M5Q3R7T9V0W2X4Y6ZABCD',
    kind: 'CRON',
    from: '2025-01-15T09:55:00.000Z',
    to: '2025-01-15T10:00:00.000Z',
    ticks: [
      {
        tick_id: '01JZ8M5Q3R7T9V0W2X4Y6ZABCD:1736935200',
        scheduled_for: '2025-01-15T10:00:00.000Z',
        status: 'TRIGGERED',
        partitions: { keys: ['2025-01-14'] },
        run_count: 1,
        run_key: 'sched:01JZ8M5Q3R7T9V0W2X4Y6ZABCD:1736935200',
        request_fingerprint: '5d8ee4bcb54c1644a13c9171d83286f0baed9a62248c5251ef8accafe653c94a',
      },
    ],
    definition_hash: '46ceeaf54c2873f4642b3c3041957b4cb4687957e69226f8c09d6361edfe2142',
    definition_version: 1,
    assets: { keys: ['analytics.daily_summary'] },
  },
} as const

export const SCHEDULE_STATUS_CHANGED = {
  event_id: '01JHMQM9401R5T8W3Z6B9E2G4J',
  event_type: 'ScheduleStatusChanged',
  event_version: 1,
  timestamp: '2025-01-15T10:20:00.000Z',
  source: 'servo/api',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'schedule_status:01JZ8M5Q3R7T9V0W2X4Y6ZABCD:pause-2025-01-15',
  basis: { expected_state_version: 2 },
  payload: {
    schedule_id: '01JZ8M5Q3R7T9V0W2X4Y6ZABCD',
    to: 'PAUSED',
    requested_by: 'user:1',
    reason: 'The warehouse is under maintenance.',
  },
} as const

export const SCHEDULE_REMOVED = {
  event_id: '01JHMR6K20N4Q7T0X3A6D9F2HK',
  event_type: 'ScheduleRemoved',
  event_version: 1,
  timestamp: '2025-01-15T10:30:00.000Z',
  source: 'servo/deploy',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'schedule_removed:01JZ8M5Q3R7T9V0W2X4Y6ZABCD:deploy-2025-01-15-b',
  correlation_id: 'deploy-2025-01-15-b',
  payload: { schedule_id: '01JZ8M5Q3R7T9V0W2X4Y6ZABCD', requested_by: 'user:1' },
} as const
