// How long a workspace keeps what, at one revision: what holds, and who set it when.

import { RETENTION_BOUNDS, RETENTION_SETTINGS, type RetentionSetting } from '../../events/retention.js'
import { RETENTION, type RetentionPolicy } from '../../projections/retention.js'
import { readAll } from '../pages.js'
import type { View } from '../reader.js'

export type Setting = {
  readonly setting: RetentionSetting
  readonly value: number
  /** Where nobody sets another. */
  readonly default_value: number
  readonly minimum: number
  readonly maximum: number
  /** null: nobody set it. */
  readonly changed_at: number | null
  readonly changed_by: string | null
  readonly reason: string | null
}

/** What holds at a revision; before the first one, what holds where nobody sets another. */
export const retentionAt = (view: View | undefined): RetentionPolicy => view?.snapshot.revision.retention ?? RETENTION

export async function readSettings(view: View | undefined): Promise<readonly Setting[]> {
  const holds = retentionAt(view)
  const rows = view === undefined ? [] : await readAll(view, 'retention_settings', { limit: RETENTION_SETTINGS.length })
  const changed = new Map(rows.map((row) => [row.setting, row]))
  return RETENTION_SETTINGS.map((setting) => {
    const row = changed.get(setting)
    return {
      setting,
      value: holds[setting],
      default_value: RETENTION[setting],
      ...RETENTION_BOUNDS[setting],
      changed_at: row?.changed_at ?? null,
      changed_by: row?.changed_by ?? null,
      reason: row?.reason ?? null,
    }
  })
}
