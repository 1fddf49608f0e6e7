// The rows of an asset's partitions that count by its definition at an instant: keys that exist, and those that a run was
// allowed to make ahead of that (ADR 0078). Older rows are history.

import { canonicalJson } from '../core/canonical.js'
import { openCurrentKeys } from '../partitions/current-keys.js'
import type { AssetDefinitionRow, PartitionStatusRow } from '../projections/asset-table.js'
import { pagesOf } from './pages.js'
import type { View } from './reader.js'

type Definition = Pick<AssetDefinitionRow, 'asset_key' | 'partitions'> & {
  /** Of a definition that is deployed. */
  readonly definition_hash?: string
}

export type CurrentPartitions = {
  /** Those of the rows that count, in their order. `areKeys`: they were looked up by keys of the definition. */
  readonly keep: (rows: readonly PartitionStatusRow[], areKeys?: 'areKeys') => Promise<readonly PartitionStatusRow[]>
}

export function openCurrentPartitions(view: View, definition: Definition, now_ms: number): CurrentPartitions {
  const { asset_key, definition_hash } = definition
  const standingOf = openCurrentKeys(definition.partitions, now_ms)
  const hasSameKeys = new Map(definition_hash === undefined ? [] : [[definition_hash, true]])
  const isAllowed = new Map<string, boolean>()

  /** Most rows were made by definitions with the same partitions: then no key is looked up. */
  async function learnDefinitions(rows: readonly PartitionStatusRow[]): Promise<void> {
    const unknown = new Set(
      rows.flatMap(({ last_materialization_definition_hash: hash }) => hash ?? []).filter((hash) => !hasSameKeys.has(hash)),
    )
    if (unknown.size === 0) return
    const text = canonicalJson(definition.partitions)
    const found = await view.rows(
      'asset_definitions',
      [...unknown].map((hash) => [asset_key, hash]),
    )
    for (const hash of unknown) hasSameKeys.set(hash, false)
    for (const row of found) {
      hasSameKeys.set(row.definition_hash, canonicalJson(row.partitions) === text)
    }
  }

  async function learnRuns(rows: readonly PartitionStatusRow[]): Promise<void> {
    const unknown = new Set(rows.flatMap(runsOf).filter((run_id) => !isAllowed.has(run_id)))
    if (unknown.size === 0) return
    for (const run_id of unknown) isAllowed.set(run_id, false)
    const found = await view.rows(
      'runs',
      [...unknown].map((run_id) => [run_id]),
    )
    for (const { run_id, partition_end_offset } of found) isAllowed.set(run_id, partition_end_offset !== null)
  }

  return {
    async keep(rows, areKeys) {
      if (areKeys === undefined) await learnDefinitions(rows)
      const standings = rows.map((row) => {
        const isKey = areKeys !== undefined || hasSameKeys.get(row.last_materialization_definition_hash ?? '') === true
        return { row, standing: standingOf(row, isKey) }
      })
      await learnRuns(standings.flatMap(({ row, standing }) => (standing === 'ahead' ? [row] : [])))
      return standings.flatMap(({ row, standing }) => {
        const counts = standing === 'exists' || (standing === 'ahead' && runsOf(row).some((run_id) => isAllowed.get(run_id) === true))
        return counts ? [row] : []
      })
    },
  }
}

const runsOf = ({ last_materialization_run_id, last_attempt_run_id }: PartitionStatusRow): readonly string[] =>
  [last_materialization_run_id, last_attempt_run_id].flatMap((run_id) => run_id ?? [])

/** All rows of an asset's partitions, those of older definitions too, in the order of their keys. */
export const partitionPages = (view: View, asset_key: string, page_rows?: number): AsyncGenerator<readonly PartitionStatusRow[]> =>
  pagesOf(view, 'partition_status', {
    where: [{ column: 'asset_key', is: '=', value: asset_key }],
    ...(page_rows === undefined ? {} : { page_rows }),
  })
