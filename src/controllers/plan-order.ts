// In which order a run's assets are planned: dependencies first, then by key, so that the same definitions make the same
// plan in every process. It knows nothing of partitions, and of assets that are not selected.

import { assert } from '../core/errors.js'
import { orderOf } from '../core/order.js'
import type { AssetDefinitionRow } from '../projections/asset-table.js'

type SelectedAssets = ReadonlyMap<string, Pick<AssetDefinitionRow, 'deps'>>

/** `cycle`: each needs the next, and the last one the first. */
type AssetOrder = { readonly order: readonly string[] } | { readonly cycle: readonly string[] }

/** By the length of the longest way from an asset without dependencies, then by key. It costs assets and edges, once. */
export function orderAssets(assets: SelectedAssets): AssetOrder {
  const compare = orderOf([...assets.keys()])
  const downstream = new Map<string, string[]>()
  const open = new Map<string, number>()
  for (const [asset_key, { deps }] of assets) {
    const upstream = selectedUpstream(assets, deps)
    open.set(asset_key, upstream.length)
    for (const key of upstream) {
      const known = downstream.get(key)
      if (known === undefined) downstream.set(key, [asset_key])
      else known.push(asset_key)
    }
  }
  const depth = new Map<string, number>()
  const placed = [...open].flatMap(([asset_key, count]) => (count === 0 ? [asset_key] : []))
  for (let next = 0; next < placed.length; next++) {
    const asset_key = placed[next] as string
    const below = (depth.get(asset_key) ?? 0) + 1
    for (const key of downstream.get(asset_key) ?? []) {
      depth.set(key, Math.max(depth.get(key) ?? 0, below))
      const left = (open.get(key) ?? 0) - 1
      open.set(key, left)
      if (left === 0) placed.push(key)
    }
  }
  if (placed.length < assets.size) return { cycle: findCycle(assets, new Set(placed), compare) }
  const depthOf = (asset_key: string): number => depth.get(asset_key) ?? 0
  return { order: placed.sort((left, right) => depthOf(left) - depthOf(right) || compare(left, right)) }
}

/** The keys of selected assets that these dependencies name, each once. */
export const selectedUpstream = (assets: SelectedAssets, deps: AssetDefinitionRow['deps']): readonly string[] => [
  ...new Set(deps.flatMap(({ asset_key }) => (assets.has(asset_key) ? [asset_key] : []))),
]

type Compare = (left: string, right: string) => number

/** Whatever could not be placed needs something that could not be placed: following that comes round in the end. */
function findCycle(assets: SelectedAssets, placed: ReadonlySet<string>, compare: Compare): readonly string[] {
  const smallest = (keys: readonly string[]): string => {
    const [first] = keys.filter((key) => !placed.has(key)).sort(compare)
    assert(first !== undefined, 'An asset that cannot be planned needs none that cannot.')
    return first
  }
  const path: string[] = []
  const positions = new Map<string, number>()
  let asset_key = smallest([...assets.keys()])
  while (!positions.has(asset_key)) {
    positions.set(asset_key, path.length)
    path.push(asset_key)
    asset_key = smallest(selectedUpstream(assets, assets.get(asset_key)?.deps ?? []))
  }
  const cycle = path.slice(positions.get(asset_key))
  const first = cycle.indexOf(smallest(cycle))
  return [...cycle.slice(first), ...cycle.slice(0, first)]
}
