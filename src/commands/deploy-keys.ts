// What a deploy that changes the partitions of an asset does to its keys: how many that are materialized end, and how many
// begin. Rows are read for it, so only a dry run asks.

import { DEPLOY_ROWS_READ_MAX } from '../core/limits.js'
import { countBegunKeys } from '../partitions/begun-keys.js'
import { openCurrentPartitions, partitionPages } from '../readers/current-partitions.js'
import type { View } from '../readers/reader.js'

export type KeyChanges = {
  /** Materialized keys that are none of the new definition: they stay as history, and count no more. */
  readonly materialized_ended: number
  /** Keys of history that count again. */
  readonly materialized_begun: number
  /** Keys that exist by the new definition and not by the old one; null: too many to compare. */
  readonly begun: number | null
  /** false: only some of the rows were read, and as many keys as that at least end. */
  readonly is_complete: boolean
}

type AssetChange = {
  readonly asset_key: string
  readonly members: readonly { readonly member: string; readonly from: unknown; readonly to: unknown }[]
}

/** By asset, of those whose partitions change. */
export async function readKeyChanges(
  view: View | undefined,
  changed: readonly AssetChange[],
  now: number,
): Promise<ReadonlyMap<string, KeyChanges>> {
  const changes = new Map<string, KeyChanges>()
  let rows_left = DEPLOY_ROWS_READ_MAX
  for (const { asset_key, members } of changed) {
    const change = members.find(({ member }) => member === 'partitions')
    if (view === undefined || change === undefined) continue
    const counted = await countEnded(view, { asset_key, from: change.from, to: change.to }, { now, rows_max: rows_left })
    rows_left -= counted.rows_read
    const { materialized_ended, materialized_begun, is_complete } = counted
    changes.set(asset_key, { materialized_ended, materialized_begun, begun: countBegunKeys(change.from, change.to, now), is_complete })
  }
  return changes
}

type Change = { readonly asset_key: string; readonly from: unknown; readonly to: unknown }

async function countEnded(
  view: View,
  { asset_key, from, to }: Change,
  { now, rows_max }: { readonly now: number; readonly rows_max: number },
) {
  const before = openCurrentPartitions(view, { asset_key, partitions: from as PartitionsOfRow }, now)
  const after = openCurrentPartitions(view, { asset_key, partitions: to as PartitionsOfRow }, now)
  let [materialized_ended, materialized_begun, rows_read] = [0, 0, 0]
  for await (const rows of partitionPages(view, asset_key)) {
    if (rows_read + rows.length > rows_max) return { materialized_ended, materialized_begun, rows_read, is_complete: false }
    rows_read += rows.length
    const materialized = rows.filter(({ last_materialization_id }) => last_materialization_id !== null)
    const [olds, youngs] = await Promise.all([before.keep(materialized), after.keep(materialized)])
    const [wasKey, isKey] = [new Set(olds), new Set(youngs)]
    materialized_ended += olds.filter((row) => !isKey.has(row)).length
    materialized_begun += youngs.filter((row) => !wasKey.has(row)).length
  }
  return { materialized_ended, materialized_begun, rows_read, is_complete: true }
}

type PartitionsOfRow = Parameters<typeof openCurrentPartitions>[1]['partitions']
