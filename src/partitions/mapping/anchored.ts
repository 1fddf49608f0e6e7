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
  if (partitioned.every(({ deps }) => deps.every(({ mapping }) => isSameKey(mapping)))) return partitioned
  const dependents = dependentsIn(partitioned)
  const known = new Map<string, boolean>()
  const isAnchored = (asset_key: string): boolean => {
    const before = known.get(asset_key)
    if (before !== undefined) return before
    // Assets that need each other in a circle are refused elsewhere.
    known.set(asset_key, true)
    const found = (dependents.get(asset_key) ?? []).every((each) => each.is_same_key && isAnchored(each.asset_key))
    known.set(asset_key, found)
    return found
  }
  return partitioned.filter(({ asset_key }) => isAnchored(asset_key))
}

type Dependent = { readonly asset_key: string; readonly is_same_key: boolean }

/** By the key of what they are made from. */
function dependentsIn(assets: readonly DependentAsset[]): ReadonlyMap<string, readonly Dependent[]> {
  const dependents = new Map<string, Dependent[]>()
  for (const { asset_key, deps } of assets) {
    for (const dependency of deps) {
      const known = dependents.get(dependency.asset_key) ?? []
      dependents.set(dependency.asset_key, [...known, { asset_key, is_same_key: isSameKey(dependency.mapping) }])
    }
  }
  return dependents
}
