// What a schedule says of itself in a deploy.

/** Keys of one dimension: `{ keys: ['eu'] }`, `{ range: { start, end } }`, `{ all: true }`, `{ match: ['us-*'] }`. */
export type DimensionKeys =
  | { readonly keys: readonly string[] }
  | { readonly range: { readonly start: string; readonly end: string } }
  | { readonly all: true }
  | { readonly match: readonly string[] }

export type LastComplete = {
  readonly type: 'LAST_COMPLETE'
  readonly end_offset: number
  readonly dims?: Readonly<Record<string, DimensionKeys>>
}

export type SchedulePolicy = {
  /** How far back missed instants still run: 1,440 where it is left out. */
  readonly catchup_window_minutes?: number
  /** How many of those run, the newest first: 3 where it is left out. */
  readonly max_catchup_ticks?: number
  /** Whether what a pause held back is caught up with. */
  readonly catch_up_on_resume?: boolean
  /** SKIP: no tick while a run of the schedule is active. */
  readonly overlap_policy?: 'ALLOW' | 'SKIP'
  readonly tags?: Readonly<Record<string, string>>
  readonly priority?: number
  readonly description?: string
  /** Of a schedule that is new; what people made of it since stays. */
  readonly default_status?: 'ACTIVE' | 'PAUSED'
}

/** As a deploy says it. Defaults are not written: they are applied where it is deployed. */
export type ScheduleDefinition = SchedulePolicy & {
  readonly schedule_name: string
  readonly renamed_from?: string
  readonly cron_expressions: readonly string[]
  readonly timezone?: string
  readonly asset_selection: readonly string[]
  readonly partition_mapping?: LastComplete
}
