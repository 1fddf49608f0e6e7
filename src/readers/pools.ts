// Pools at one revision, as whoever dispatches sees them: how many tasks each has, and the cap that holds.

import { GLOBAL_POOL_KEY, poolKeyOfLocation } from '../core/ids.js'
import { compareText } from '../core/order.js'
import type { CodeLocationRow, PoolRow } from '../projections/asset-table.js'
import { type Cap, effectiveCap, locationOfPool } from '../projections/pool.js'
import { allValuesOf, isTagPool, isTagValue } from '../projections/tag-pool.js'
import type { View } from './reader.js'
import { readRows } from './rows.js'

/** A `PoolSource` with all that the rows say. */
export type Pools = {
  readonly rows: readonly PoolRow[]
  readonly location: (location_name: string) => CodeLocationRow | undefined
  readonly pool: (pool_key: string) => PoolRow | undefined
}

/** All of them: those that a task counts in are named by the caps of others, too. */
export async function readPools(view: View | undefined): Promise<Pools> {
  const [pools, locations] = (await Promise.all(
    view === undefined ? [[], []] : TABLES.map((table) => readRows(view, table, [], Number.MAX_SAFE_INTEGER)),
  )) as unknown as readonly [readonly PoolRow[], readonly CodeLocationRow[]]
  // A tag's value that is idle is gone, whether or not the revision is past the moment that it says.
  const rows = pools.filter(({ expires_at }) => expires_at === null)
  const byKey = new Map(rows.map((pool) => [pool.pool_key, pool]))
  const byName = new Map(locations.map((location) => [location.location_name, location]))
  return { rows, pool: (pool_key) => byKey.get(pool_key), location: (location_name) => byName.get(location_name) }
}

const TABLES = ['pools', 'code_locations'] as const

export type Pool = {
  readonly pool_key: string
  readonly kind: 'GLOBAL' | 'POOL' | 'LOCATION' | 'TAG_VALUE' | 'TAG'
  /** Active tasks; null where none is counted: `tag:key` caps each value, and has no tasks of its own. */
  readonly in_use: number | null
  /** The cap that holds; undefined: none. */
  readonly cap: Cap | undefined
  /** The pool's own, whatever holds. */
  readonly own_max_running: number | null
  readonly set_by: string | null
  readonly set_at: number | null
}

/** In the order of their keys. `global` is there before the first task, and a location's from its first deploy. */
export function listPools(pools: Pools): readonly Pool[] {
  const keys = new Set([GLOBAL_POOL_KEY, ...pools.rows.map(({ pool_key }) => pool_key)])
  return [...keys].sort(compareText).map((pool_key) => describePool(pools, pool_key))
}

/** Whether anything is known of it: that somebody set it, that a task counts in it, that a location is called so. */
export const isPoolThere = (pools: Pools, pool_key: string): boolean =>
  pool_key === GLOBAL_POOL_KEY || pools.pool(pool_key) !== undefined || effectiveCap(pools, pool_key) !== undefined

export function describePool(pools: Pools, pool_key: string): Pool {
  const row = pools.pool(pool_key)
  const cap = effectiveCap(pools, pool_key)
  const kind = kindOf(pool_key)
  return {
    pool_key,
    kind,
    in_use: kind === 'TAG' ? null : (row?.in_use ?? 0),
    cap,
    own_max_running: cap?.source === 'DEFAULT' ? null : (row?.max_running ?? null),
    ...whoSet(pools, pool_key, cap),
  }
}

function kindOf(pool_key: string): Pool['kind'] {
  if (pool_key === GLOBAL_POOL_KEY) return 'GLOBAL'
  if (isTagPool(pool_key)) return isTagValue(pool_key) ? 'TAG_VALUE' : 'TAG'
  return pool_key.startsWith(poolKeyOfLocation('')) ? 'LOCATION' : 'POOL'
}

/** Of the cap that holds: who removed one is in the ledger. */
function whoSet(pools: Pools, pool_key: string, cap: Cap | undefined): Pick<Pool, 'set_by' | 'set_at'> {
  switch (cap?.source) {
    case 'OWN':
      return setIn(pools.pool(pool_key))
    case 'TAG':
      return setIn(pools.pool(allValuesOf(pool_key)))
    case 'SLOTS': {
      const location = pools.location(locationOfPool(pool_key) ?? '')
      return { set_by: location?.deployed_by ?? null, set_at: location?.deployed_at ?? null }
    }
    case 'DEFAULT':
    case undefined:
      return { set_by: null, set_at: null }
  }
}

const setIn = (pool: PoolRow | undefined): Pick<Pool, 'set_by' | 'set_at'> => ({
  set_by: pool?.updated_by ?? null,
  set_at: pool?.updated_at ?? null,
})
