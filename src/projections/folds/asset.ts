// The events of code locations, assets and pools. All of these rows but older definitions are in memory as a whole.

import type { AssetEvent } from '../../events/asset.js'
import { foldAssetDefined, foldAssetRemoved, foldCodeLocationDeployed, keysOfAssetDefined } from '../asset.js'
import { foldPoolDefined, foldPoolRemoved } from '../pool.js'
import type { Entity, FoldsOf } from './event-fold.js'

const assetOf = ({ payload }: { readonly payload: { readonly asset_key: string } }): Entity => ({
  entity_kind: 'ASSET',
  entity_id: payload.asset_key,
})
const poolOf = ({ payload }: { readonly payload: { readonly pool_key: string } }): Entity => ({
  entity_kind: 'POOL',
  entity_id: payload.pool_key,
})

export const ASSET_FOLDS = {
  CodeLocationDeployed: {
    entity: ({ payload }) => ({ entity_kind: 'CODE_LOCATION', entity_id: payload.location_name }),
    fold: foldCodeLocationDeployed,
  },
  AssetDefined: { entity: assetOf, keys: keysOfAssetDefined, fold: foldAssetDefined },
  AssetRemoved: { entity: assetOf, fold: foldAssetRemoved },
  PoolDefined: { entity: poolOf, fold: foldPoolDefined },
  PoolRemoved: { entity: poolOf, fold: foldPoolRemoved },
} satisfies FoldsOf<AssetEvent>
