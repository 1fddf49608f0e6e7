// The settings by which a workspace keeps things, as its events changed them. A setting that is raised brings nothing back:
// what had expired may be gone with a merge or not, and a replay must find the same either way.

import type { EventOf } from '../events/event.js'
import { RETENTION_SETTINGS, type RetentionSetting } from '../events/retention.js'
import type { Moment, Refusal } from './outcome.js'
import { expiredBefore, isExpirySetting, type RetentionPolicy } from './retention.js'
import type { RetentionSettingRow } from './retention-table.js'
import type { WorkingSet } from './working-set.js'

/** What holds now: `defaults`, but for what somebody changed. */
export function retentionIn(rows: Pick<WorkingSet, 'hotRows'>, defaults: RetentionPolicy): RetentionPolicy {
  const changed = rows.hotRows('retention_settings')
  return changed.length === 0 ? defaults : retentionOf(changed, defaults)
}

export function retentionOf(
  changed: readonly Pick<RetentionSettingRow, 'setting' | 'value' | 'gone_before_at'>[],
  defaults: RetentionPolicy,
): RetentionPolicy {
  const values: Partial<Record<RetentionSetting, number>> = {}
  const gone_before: Partial<Record<RetentionSetting, number>> = { ...defaults.gone_before }
  for (const { setting, value, gone_before_at } of changed) {
    values[setting] = value
    if (gone_before_at !== null) gone_before[setting] = gone_before_at
  }
  return { ...defaults, ...values, ...(Object.keys(gone_before).length === 0 ? {} : { gone_before }) }
}

/** What holds after a change, which is folded at this time. */
export function retentionChanged(
  before: RetentionPolicy,
  settings: EventOf<'RetentionChanged'>['payload']['settings'],
  fold_time: number,
): RetentionPolicy {
  const gone_before: Partial<Record<RetentionSetting, number>> = { ...before.gone_before }
  for (const setting of RETENTION_SETTINGS) {
    const isRaised = isExpirySetting(setting) && (settings[setting] ?? 0) > before[setting]
    if (isRaised) gone_before[setting] = expiredBefore(setting, fold_time, before)
  }
  return { ...before, ...settings, ...(Object.keys(gone_before).length === 0 ? {} : { gone_before }) }
}

export function foldRetentionChanged(rows: WorkingSet, { payload }: EventOf<'RetentionChanged'>, moment: Moment): Refusal | undefined {
  const { settings, requested_by, reason } = payload
  const { context, at, event_id } = moment
  // Of an earlier event of this batch too.
  const before = retentionIn(rows, context.retention)
  const after = retentionChanged(before, settings, context.fold_time)
  for (const setting of RETENTION_SETTINGS) {
    if (settings[setting] === undefined) continue
    rows.put('retention_settings', {
      setting,
      value: after[setting],
      gone_before_at: isExpirySetting(setting) ? (after.gone_before?.[setting] ?? null) : null,
      changed_at: at,
      changed_by: requested_by ?? null,
      reason: reason ?? null,
      row_version: 0,
      last_event_id: event_id,
    })
  }
  return undefined
}
