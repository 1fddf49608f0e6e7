// What a change of settings would do, as it is told: counted at one revision, as if the change were folded at that instant.

import type { RetentionSetting } from '../../events/retention.js'
import type { TableName } from '../../projections/tables.js'

export type AsOfReach = {
  /** Of those that were replaced longer ago than all revisions are kept, how many can be opened. */
  readonly revisions: number
  /** Nothing from before it can be asked for. null: nothing that old can. */
  readonly oldest_at: number | null
}

export type SettingChange = { readonly setting: RetentionSetting; readonly from: number; readonly to: number }
export type AskedSettings = { readonly [Setting in RetentionSetting]?: number | undefined }

/** Of rows that expire by a setting. */
export type ExpiryEffect = {
  readonly table: TableName
  readonly setting: RetentionSetting
  /** Rows whose instant in it is earlier are gone: now, and once the change is folded. */
  readonly column: string
  readonly expired_before: number
  readonly would_expire_before: number
  readonly rows: number
  /** Those that hold nothing else; null: other rows are in the same files, which merges write anew. */
  readonly files: number | null
  readonly bytes: number | null
}

/** Of rows that move to files of their own day. */
export type ColdEffect = { readonly table: TableName; readonly column: string; readonly before: number; readonly rows: number }

export type RetentionEffect = {
  readonly sequence: number
  readonly counted_at: number
  readonly changes: readonly SettingChange[]
  readonly expiring: readonly ExpiryEffect[]
  readonly moving: readonly ColdEffect[]
  /** null: no setting of it would change. */
  readonly as_of: { readonly now: AsOfReach; readonly then: AsOfReach } | null
  readonly warnings: readonly string[]
}
