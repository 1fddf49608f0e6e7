// What is materialized of an asset, over all its partitions. Rows are read page by page: the time grows with the partitions
// that were ever tried, the memory does not.

import { isRefusal } from '../partitions/key-order.js'
import { keyOrderOf } from '../partitions/order.js'
import type { PartitionStatusRow } from '../projections/asset-table.js'
import type { RowKey } from '../projections/tables.js'
import type { View } from './reader.js'

type AssetStatus = {
  readonly materialized: number
  readonly failed: number
  readonly last: PartitionStatusRow | undefined
}

const PAGE_ROWS = 5_000

export async function readAssetStatus(view: View, asset_key: string): Promise<AssetStatus> {
  let materialized = 0
  let failed = 0
  let last: PartitionStatusRow | undefined
  for (let after: RowKey | undefined; ; ) {
    const where = [{ column: 'asset_key', is: '=', value: asset_key }] as const
    const page = await view.page('partition_status', { where, limit: PAGE_ROWS, ...(after === undefined ? {} : { after }) })
    for (const row of page.rows as unknown as readonly PartitionStatusRow[]) {
      if (row.failed_since_at !== null) failed += 1
      if (row.last_materialization_id === null) continue
      materialized += 1
      if (last === undefined || (row.last_materialization_ordinal ?? 0) > (last.last_materialization_ordinal ?? 0)) last = row
    }
    if (page.is_last || page.last_key === undefined) return { materialized, failed, last }
    after = page.last_key
  }
}

/** Partitions in words, and how many there are; null where they go on with time. */
export function describePartitions(partitions: unknown): { readonly text: string | null; readonly total: number | null } {
  if (partitions === null || partitions === undefined) return { text: null, total: 1 }
  const order = keyOrderOf(partitions)
  return isRefusal(order) ? { text: order.problem, total: null } : { text: order.description, total: order.total }
}
