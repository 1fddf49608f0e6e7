// What is materialized of an asset, over the partitions of its definition. Rows are read page by page: the time grows with the
// partitions that were ever tried, the memory does not.

import { isRefusal } from '../partitions/key-order.js'
import { keyOrderOf } from '../partitions/order.js'
import type { AssetDefinitionRow, PartitionStatusRow } from '../projections/asset-table.js'
import { openCurrentPartitions, partitionPages } from './current-partitions.js'
import type { View } from './reader.js'

type AssetStatus = {
  readonly materialized: number
  readonly failed: number
  readonly last: PartitionStatusRow | undefined
}

/** `now_ms`: which of them exist. */
export async function readAssetStatus(view: View, definition: AssetDefinitionRow, now_ms: number): Promise<AssetStatus> {
  const current = openCurrentPartitions(view, definition, now_ms)
  let materialized = 0
  let failed = 0
  let last: PartitionStatusRow | undefined
  for await (const rows of partitionPages(view, definition.asset_key)) {
    for (const row of await current.keep(rows)) {
      if (row.failed_since_at !== null) failed += 1
      if (row.last_materialization_id === null) continue
      materialized += 1
      if (last === undefined || (row.last_materialization_ordinal ?? 0) > (last.last_materialization_ordinal ?? 0)) last = row
    }
  }
  return { materialized, failed, last }
}

/** Partitions in words, and how many there are; null where they go on with time. */
export function describePartitions(partitions: unknown): { readonly text: string | null; readonly total: number | null } {
  if (partitions === null || partitions === undefined) return { text: null, total: 1 }
  const order = keyOrderOf(partitions)
  return isRefusal(order) ? { text: order.problem, total: null } : { text: order.description, total: order.total }
}
