// The current definitions of a workspace at one revision: who needs whom, and in which order. Read once a view, whoever
// asks; a view that many share has its definitions in memory for as long as somebody holds it.

import type { AssetDefinitionRow } from '../projections/asset-table.js'
import type { View } from './reader.js'
import { readRows } from './rows.js'

export type AssetGraph = {
  /** In the order of their keys. */
  readonly definitions: ReadonlyMap<string, AssetDefinitionRow>
  /** By the key of what is needed; only assets that are defined. */
  readonly downstream: ReadonlyMap<string, readonly string[]>
}

const graphs = new WeakMap<View, Promise<AssetGraph>>()

export function readAssetGraph(view: View): Promise<AssetGraph> {
  const known = graphs.get(view)
  if (known !== undefined) return known
  const graph = loadGraph(view)
  graphs.set(view, graph)
  // A failed read is not remembered: the next one may succeed.
  graph.catch(() => graphs.delete(view))
  return graph
}

async function loadGraph(view: View): Promise<AssetGraph> {
  const rows = await readRows(view, 'asset_definitions', [{ column: 'state', is: '=', value: 'CURRENT' }], Number.MAX_SAFE_INTEGER)
  const definitions = new Map((rows as unknown as readonly AssetDefinitionRow[]).map((row) => [row.asset_key, row]))
  return { definitions, downstream: downstreamOf(definitions) }
}

export function downstreamOf(definitions: ReadonlyMap<string, Pick<AssetDefinitionRow, 'deps'>>): ReadonlyMap<string, readonly string[]> {
  const downstream = new Map<string, string[]>([...definitions.keys()].map((asset_key) => [asset_key, []]))
  for (const [asset_key, { deps }] of definitions) for (const dep of deps) downstream.get(dep.asset_key)?.push(asset_key)
  return downstream
}
