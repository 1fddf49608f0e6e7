// Pools at one revision, as whoever dispatches sees them: how many tasks each has, and the cap that holds.

import { GLOBAL_POOL_KEY, poolKeyOfName } from '../core/ids.js'
import { compareText } from '../core/order.js'
import type { CodeLocationRow, PoolRow } from '../projections/asset-table.js'
import { type Cap, effectiveCap, locationOfPool } from '../projections/pool.js'
import { allValuesOf, isTagPool, isTagValue } from '../projections/tag-pool.js'
import { readAssetGraph } from './assets.js'
import { readAll } from './pages.js'
import type { View } from './reader.js'

/** A `PoolSource` with all that the rows say. */
export type Pools = {
  readonly rows: readonly PoolRow[]
  /** Those that the assets of now name, whether or not a task ever counted in them. */
  readonly named: ReadonlySet<string>
  readonly location: (location_name: string) => CodeLocationRow | undefined
  readonly pool: (pool_key: string) => PoolRow | undefined
}

/** All of them: those that a task counts in are named by the caps of others, too. */
export async function readPools(view: View | undefined): Promise<Pools> {
  if (view === undefined) return { rows: [], named: new Set(), pool: () => undefined, location: () => undefined }
  const [{ definitions }, pools, locations] = await Promise.all([
    readAssetGraph(view),
    readAll(view, 'pools'),
    readAll(view, 'code_locations'),
  ])
  // A tag's value that is idle is gone, whether or not the revision is past the moment that it says.
  const rows = pools.filter(({ expires_at }) => expires_at === null)
  const byKey = new Map(rows.map((pool) => [pool.pool_key, pool]))
  const byName = new Map(locations.map((location) => [location.location_name, location]))
  const named = new Set([...definitions.values()].flatMap(({ definition }) => (definition.pools ?? []).map(poolKeyOfName)))
  return { rows, named, pool: (pool_key) => byKey.get(pool_key), location: (location_name) => byName.get(location_name) }
}

export type Pool = {
  readonly pool_key: string
  readonly kind: 'GLOBAL' | 'POOL' | 'LOCATION' | 'TAG_VALUE' | 'TAG'
  /** Active tasks; null where none is counted: `tag:key` caps each value, and has no tasks of its own. */
  readonly in_use: number | null
  /** The pool's own cap, as somebody set it. */
  readonly max_running: number | null
  /** The cap that holds; null: none. */
  readonly cap: (Cap & WhoSet) | null
}

type WhoSet = { readonly set_by: string | null; readonly set_at: number | null; readonly reason: string | null }

/** In the order of their keys. The workspace's is there before the first task. */
export function listPools(pools: Pools): readonly Pool[] {
  const keys = new Set([GLOBAL_POOL_KEY, ...pools.named, ...pools.rows.map(({ pool_key }) => pool_key)])
  return [...keys]
    .filter((pool_key) => isPoolThere(pools, pool_key))
    .sort(compareText)
    .map((pool_key) => describePool(pools, pool_key))
}

/** An asset names it, a task is in it, or it has a cap from anywhere. Rows are for ever, and a name that was misspelt once is not. */
export const isPoolThere = (pools: Pools, pool_key: string): boolean =>
  pools.named.has(pool_key) || (pools.pool(pool_key)?.in_use ?? 0) > 0 || effectiveCap(pools, pool_key) !== undefined

export function describePool(pools: Pools, pool_key: string): Pool {
  const row = pools.pool(pool_key)
  const cap = effectiveCap(pools, pool_key)
  const kind = kindOf(pool_key)
  return {
    pool_key,
    kind,
    in_use: kind === 'TAG' ? null : (row?.in_use ?? 0),
    max_running: cap?.source === 'OWN' ? cap.max_running : null,
    cap: cap === undefined ? null : { ...cap, ...whoSet(pools, pool_key, cap) },
  }
}

function kindOf(pool_key: string): Pool['kind'] {
  if (pool_key === GLOBAL_POOL_KEY) return 'GLOBAL'
  if (isTagPool(pool_key)) return isTagValue(pool_key) ? 'TAG_VALUE' : 'TAG'
  return locationOfPool(pool_key) === undefined ? 'POOL' : 'LOCATION'
}

function whoSet(pools: Pools, pool_key: string, { source }: Cap): WhoSet {
  switch (source) {
    case 'OWN':
      return setIn(pools.pool(pool_key))
    case 'TAG':
      return setIn(pools.pool(allValuesOf(pool_key)))
    case 'SLOTS': {
      const location = pools.location(locationOfPool(pool_key) ?? '')
      return { set_by: location?.deployed_by ?? null, set_at: location?.deployed_at ?? null, reason: null }
    }
    case 'DEFAULT':
      return { set_by: null, set_at: null, reason: null }
  }
}

const setIn = (pool: PoolRow | undefined): WhoSet => ({
  set_by: pool?.updated_by ?? null,
  set_at: pool?.updated_at ?? null,
  reason: pool?.reason ?? null,
})
