// Whose partitions a run names: those of the assets that it ends with, and of what has the same keys above them. What they
// are made from by another mapping is found through it, never named.

import { isSameKey } from './link.js'

type DependentAsset = {
  readonly asset_key: string
  readonly partitions: unknown
  readonly deps: readonly { readonly asset_key: string; readonly mapping?: unknown }[]
}

/** Of the assets that a run selects. One without partitions maps nothing. */
export function anchoredAssets<Asset extends DependentAsset>(selected: readonly Asset[]): readonly Asset[] {
  const partitioned = selected.filter(({ partitions }) => partitions !== null && partitions !== undefined)
  const assets = new Map(partitioned.map((asset) => [asset.asset_key, asset]))
  // What is mapped to, and all that it is made from in turn, however that is.
  const mapped = new Set<string>()
  const reached = partitioned.flatMap(({ deps }) => deps.filter(({ mapping }) => !isSameKey(mapping)))
  for (const { asset_key } of reached) {
    if (mapped.has(asset_key)) continue
    mapped.add(asset_key)
    reached.push(...(assets.get(asset_key)?.deps ?? []))
  }
  return partitioned.filter(({ asset_key }) => !mapped.has(asset_key))
}
