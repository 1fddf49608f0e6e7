// The frozen example of a change of how long things are kept: its part of the story in example.ts.

export const RETENTION_CHANGED = {
  event_id: '01JHMR8DN0Q5V2X9B4N7K1M3ZD',
  event_type: 'RetentionChanged',
  event_version: 1,
  timestamp: '2025-01-15T10:31:00.000Z',
  source: 'servo/api',
  tenant_id: 'acme',
  workspace_id: 'prod',
  idempotency_key: 'retention_change:keep-2025-01-15',
  payload: {
    settings: { idempotency_hours: 336, refusals_days: 14 },
    requested_by: 'user:1',
    reason: 'Partners send again for two weeks.',
  },
} as const
