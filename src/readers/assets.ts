// The current definitions of a workspace at one revision: who needs whom. Read when one of them has changed, and held in
// memory until then, whoever asks.

import { type AssetGraph, assetGraphOf } from '../projections/asset-selection.js'
import type { AssetDefinitionRow } from '../projections/asset-table.js'
import { keyText } from '../projections/tables.js'
import { readAll } from './pages.js'
import type { View } from './reader.js'

export type { AssetGraph }

export const readAssetGraph = (view: View): Promise<AssetGraph> => view.derived('asset_graph', ['asset_definitions'], () => loadGraph(view))

async function loadGraph(view: View): Promise<AssetGraph> {
  const rows = await readAll(view, 'asset_definitions', { where: [{ column: 'state', is: '=', value: 'CURRENT' }] })
  return assetGraphOf(rows)
}

type Reference = Pick<AssetDefinitionRow, 'asset_key' | 'definition_hash'>
const referenceKey = ({ asset_key, definition_hash }: Reference) => [asset_key, definition_hash] as const

/** The definitions that these were planned with, current or not. */
export async function readDefinitionsOf(
  view: View,
  tasks: readonly Reference[],
): Promise<(task: Reference) => AssetDefinitionRow | undefined> {
  const keys = new Map(tasks.map((task) => [keyText(referenceKey(task)), referenceKey(task)]))
  const rows = await view.rows('asset_definitions', [...keys.values()])
  const definitions = new Map(rows.map((row) => [keyText(referenceKey(row)), row]))
  return (task) => definitions.get(keyText(referenceKey(task)))
}
