// What every benchmark of the truth layer is told.

export type SuiteOptions = {
  readonly is_quick: boolean
  /** One of: append, fold, visible, history, memory, read, size, replay. */
  readonly only: string | undefined
}

/** What has to hold of a large workspace depends on how large it is. */
export type LargeTargets = {
  readonly compact_rss_mb: string
  readonly read_point_p95_ms: string
  readonly read_page_p95_ms: string
  readonly read_fresh_p95_ms: string
}

export type LargeOptions = SuiteOptions & { readonly targets: LargeTargets }
