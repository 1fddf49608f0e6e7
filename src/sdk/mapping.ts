// Which upstream partitions one of an asset is made from, as users write it: docs/partitions.md.

type PartitionMapping =
  | { readonly type: 'identity' | 'last' | 'all' }
  /** Those whose time it shares, from `start_offset` before to `end_offset` after: `-1` is one earlier. */
  | { readonly type: 'time_window'; readonly start_offset?: number; readonly end_offset?: number }
  | { readonly type: 'static'; readonly upstream_keys: Readonly<Record<string, readonly string[]>> }

export type DependencyMapping =
  | PartitionMapping
  | { readonly type: 'dimension'; readonly dimension: string; readonly mapping?: PartitionMapping }
  | {
      readonly type: 'dimension'
      readonly dimensions: Readonly<Record<string, { readonly dimension?: string; readonly mapping?: PartitionMapping }>>
    }
