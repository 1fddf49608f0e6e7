// The settings of a workspace that somebody changed: how long what is kept.

import { column, defineTable, type RowOf } from './table.js'

export const RETENTION_SETTING_ROWS = defineTable({
  name: 'retention_settings',
  key: ['setting'],
  residency: 'whole',
  columns: {
    setting: column.oneOf(
      'idempotency_hours',
      'refusals_days',
      'outbox_days',
      'cold_after_days',
      'skipped_ticks_days',
      'no_data_days',
      'as_of_minutes_hours',
      'as_of_hours_days',
    ),
    value: column.int32,
    /** Of a setting by which rows expire, once it was raised: what was older had expired by then, and stays so. */
    gone_before_at: column.optional.timestamp,
    changed_at: column.timestamp,
    changed_by: column.optional.repeated,
    reason: column.optional.string,
  },
})

export type RetentionSettingRow = RowOf<typeof RETENTION_SETTING_ROWS>
