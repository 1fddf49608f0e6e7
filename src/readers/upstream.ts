// What is materialized of the assets that a task is made from: the partitions that its own are mapped to, or all that there
// are where nothing is said of two that are not partitioned alike. Keys of older definitions are not among them.

import type { Json } from '../core/canonical.js'
import { UPSTREAM_METADATA_MAX, UPSTREAM_ROWS_MAX, UPSTREAM_SCANNED_ROWS_MAX } from '../core/limits.js'
import { instantText } from '../core/time.js'
import { isRefusal, type KeyOrder } from '../partitions/key-order.js'
import { type Box, boxesOfKeys, boxOfAll, entryIn, existingIn, keysIn, placesIn } from '../partitions/mapping/boxes.js'
import { isSameKey, openLink } from '../partitions/mapping/link.js'
import { upstreamBoxes } from '../partitions/mapping/map-boxes.js'
import { keyOrderOf } from '../partitions/order.js'
import { expandSelector } from '../partitions/selector.js'
import { UNPARTITIONED } from '../partitions/unpartitioned.js'
import type { AssetDefinitionRow, PartitionStatusRow } from '../projections/asset-table.js'
import type { TaskRow } from '../projections/run-table.js'
import { keyText, type RowKey } from '../projections/tables.js'
import { readAssetGraph } from './assets.js'
import { openCurrentPartitions, partitionPages } from './current-partitions.js'
import type { View } from './reader.js'

export type Wanted = {
  readonly definition: Pick<AssetDefinitionRow, 'deps' | 'partitions'>
  readonly partition_keys: readonly string[] | null
  /** When the run was asked for: what existed then is what it was planned with. */
  readonly requested_at: number
}

type UpstreamRow = {
  readonly partition_key: string
  readonly materialization_id: string
  readonly materialized_at: string
  readonly code_version: string | null
  readonly data_version: string | null
  readonly metadata: Readonly<Record<string, Json>> | null
}
type UpstreamOf = Readonly<Record<string, readonly UpstreamRow[]>>

/** Keys are looked up together for all tasks; where all are meant, or too many, the upstream asset's rows are taken in the
 *  order of their keys, up to a bound. */
export async function readUpstream(view: View, wanted: readonly Wanted[]): Promise<ReadonlyMap<Wanted, UpstreamOf>> {
  if (wanted.every(({ definition }) => definition.deps.length === 0)) return new Map()
  const { definitions } = await readAssetGraph(view)
  const plans = wanted.map((want) => ({
    want,
    places: want.definition.deps.map((dependency) => ({
      key: dependency.asset_key,
      place: placeOf(definitions.get(dependency.asset_key), dependency.mapping, want),
    })),
  }))
  const keys = new Map<string, RowKey>()
  /** By the newest request: what exists for that one is filtered for the others. */
  const scanned = new Map<string, number>()
  for (const { want, places } of plans) {
    for (const { key, place } of places) {
      if (place === 'all') scanned.set(key, Math.max(scanned.get(key) ?? 0, want.requested_at))
      else for (const each of place) keys.set(keyText(each), each)
    }
  }
  const found = byKey(await view.rows('partition_status', [...keys.values()]))
  const all = new Map(
    await Promise.all(
      [...scanned].map(async ([key, requested_at]) => [key, await allOf(view, definitions.get(key), requested_at)] as const),
    ),
  )
  const currentAt = openCurrent(view, definitions)
  const chosen = await Promise.all(
    plans.map(async ({ want, places }) => ({
      want,
      rows: await Promise.all(
        places.map(async ({ key, place }) => {
          const rows = place === 'all' ? (all.get(key) ?? []) : place.flatMap((each) => found.get(keyText(each)) ?? [])
          return { key, rows: rows.length === 0 ? rows : ((await currentAt(key, want.requested_at)?.keep(rows, 'areKeys')) ?? []) }
        }),
      ),
    })),
  )
  const metadata = await readMetadata(
    view,
    chosen.flatMap(({ rows }) => (countOf(rows) <= UPSTREAM_METADATA_MAX ? rows.flatMap((each) => each.rows) : [])),
  )
  return new Map(
    chosen.map(({ want, rows }) => [
      want,
      Object.fromEntries(rows.map((each) => [each.key, each.rows.filter(isMaterialized).map((row) => present(row, metadata))])),
    ]),
  )
}

type Materialized = PartitionStatusRow & { readonly last_materialization_id: string; readonly last_materialization_at: number }
const isMaterialized = (row: PartitionStatusRow): row is Materialized =>
  row.last_materialization_id !== null && row.last_materialization_at !== null

const countOf = (rows: readonly { readonly rows: readonly unknown[] }[]): number => rows.reduce((sum, each) => sum + each.rows.length, 0)

function placeOf(upstream: AssetDefinitionRow | undefined, mapping: unknown, want: Wanted): readonly RowKey[] | 'all' {
  if (upstream === undefined) return []
  return isSameKey(mapping) ? sameKeys(upstream, want) : mappedKeys(upstream, mapping, want)
}

function mappedKeys({ asset_key, partitions }: AssetDefinitionRow, mapping: unknown, want: Wanted): readonly RowKey[] | 'all' {
  const { definition, partition_keys, requested_at } = want
  const link = openLink(mapping, definition.partitions, partitions, requested_at)
  // It was deployed with partitions that it fitted.
  if (isRefusal(link)) return 'all'
  const { downstream, upstream } = link.sides
  const boxes = upstreamBoxes(link.mapping, link.sides, boxesOfKeys(downstream, partition_keys ?? ['']))
  const meant = existingIn(upstream, boxes, requested_at)
  const count = meant.reduce((sum, box) => sum + keysIn(box), 0)
  return count > UPSTREAM_ROWS_MAX && link.mapping.type === 'all' ? 'all' : keysOfBoxes(asset_key, upstream, meant)
}

function keysOfBoxes(asset_key: string, order: KeyOrder, boxes: readonly Box[]): readonly RowKey[] {
  const keys: RowKey[] = []
  for (const box of boxes) {
    for (const places of placesIn(box)) {
      if (keys.length === UPSTREAM_ROWS_MAX) return keys
      const { sort_key, partition_key } = entryIn(order, places)
      keys.push([asset_key, sort_key, partition_key])
    }
  }
  return keys
}

function sameKeys({ asset_key, partitions }: AssetDefinitionRow, { partition_keys }: Wanted): readonly RowKey[] | 'all' {
  if (partitions === null) return [[asset_key, '', '']]
  if (partition_keys === null) return 'all'
  const order = keyOrderOf(partitions)
  if (isRefusal(order)) return 'all'
  const shared = partition_keys.filter((key) => 'index' in order.indexOf(key))
  // Not one key in common: the two are partitioned in different ways.
  if (shared.length === 0) return 'all'
  const selected = expandSelector(partitions, { keys: shared }, () => undefined, shared.length)
  return 'problem' in selected ? 'all' : selected.keys.map(({ sort_key, partition_key }) => [asset_key, sort_key, partition_key])
}

type Definitions = ReadonlyMap<string, AssetDefinitionRow>

/** Tasks of one run have one instant, and most of them the same dependencies. */
function openCurrent(view: View, definitions: Definitions) {
  const opened = new Map<string, ReturnType<typeof openCurrentPartitions>>()
  return (asset_key: string, requested_at: number) => {
    const definition = definitions.get(asset_key)
    if (definition === undefined) return undefined
    const name = `${asset_key} ${requested_at}`
    const current = opened.get(name) ?? openCurrentPartitions(view, definition, requested_at)
    opened.set(name, current)
    return current
  }
}

/** In the order of their keys, up to the bound. Where rows of older definitions are in the way for long, what exists is looked
 *  up by its keys. */
async function allOf(view: View, definition: AssetDefinitionRow | undefined, requested_at: number): Promise<readonly PartitionStatusRow[]> {
  if (definition === undefined) return []
  const current = openCurrentPartitions(view, definition, requested_at)
  const kept: PartitionStatusRow[] = []
  let scanned = 0
  for await (const rows of partitionPages(view, definition.asset_key, UPSTREAM_ROWS_MAX)) {
    kept.push(...(await current.keep(rows)))
    scanned += rows.length
    if (kept.length >= UPSTREAM_ROWS_MAX) return kept.slice(0, UPSTREAM_ROWS_MAX)
    if (scanned >= UPSTREAM_SCANNED_ROWS_MAX) return existingOf(view, definition, requested_at)
  }
  return kept
}

async function existingOf(view: View, { asset_key, partitions }: AssetDefinitionRow, requested_at: number) {
  const order = partitions === null ? UNPARTITIONED : keyOrderOf(partitions)
  const keys = isRefusal(order) ? [] : keysOfBoxes(asset_key, order, [boxOfAll(order, requested_at)])
  return await view.rows('partition_status', keys)
}

const byKey = (rows: readonly PartitionStatusRow[]): ReadonlyMap<string, PartitionStatusRow> =>
  new Map(rows.map((row) => [keyText([row.asset_key, row.sort_key, row.partition_key]), row]))

/** The metadata is in the row of the task that made it; one task of several of an asset is not found by the asset alone. */
async function readMetadata(view: View, rows: readonly PartitionStatusRow[]): Promise<ReadonlyMap<string, TaskRow['metadata']>> {
  const keys = new Map<string, RowKey>()
  for (const { last_materialization_run_id: run_id, asset_key } of rows) {
    if (run_id !== null) keys.set(keyText([run_id, asset_key]), [run_id, asset_key])
  }
  const tasks = await view.rows('tasks', [...keys.values()])
  return new Map(tasks.flatMap((task) => (task.materialization_id === null ? [] : [[task.materialization_id, task.metadata] as const])))
}

const present = (row: Materialized, metadata: ReadonlyMap<string, TaskRow['metadata']>): UpstreamRow => ({
  partition_key: row.partition_key,
  materialization_id: row.last_materialization_id,
  materialized_at: instantText(row.last_materialization_at),
  code_version: row.last_materialization_code_version,
  data_version: row.data_version,
  metadata: (metadata.get(row.last_materialization_id) ?? null) as UpstreamRow['metadata'],
})
