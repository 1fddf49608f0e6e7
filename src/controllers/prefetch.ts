// How many attempts a location may be given beyond its slots. Where the store takes one publish a second, a slot that is free
// waits for the next one, so short tasks are dispatched ahead: as many as its slots get through until those that replace them
// are there. It prefetches nothing for tasks that take long, nor for slots that are stuck.

import { PREFETCH_PUBLISHES, PREFETCH_STALE_MS } from '../core/limits.js'
import type { PoolRow } from '../projections/asset-table.js'
import { capOf, locationOfPool, type PoolSource, prefetchOf } from '../projections/pool.js'
import type { TaskRow } from '../projections/run-table.js'
import { isActive } from '../projections/state-machine.js'

type Pace = {
  readonly slots: number
  /** What its workers say that they keep. */
  readonly kept_max: number
  /** Attempts that have had a slot for long, or have waited for one. */
  readonly stale_count: number
  readonly attempt_ms_mean: PoolRow['attempt_ms_mean']
  readonly publish_interval_ms: number
}

/** Of attempts that are not known to be short none is prefetched: beside them a publish is a short wait. */
export function prefetchCount({ slots, kept_max, stale_count, attempt_ms_mean, publish_interval_ms }: Pace): number {
  if (attempt_ms_mean === null) return 0
  const moving = Math.max(0, slots - stale_count)
  return Math.min(kept_max, Math.floor((moving * PREFETCH_PUBLISHES * publish_interval_ms) / Math.max(1, attempt_ms_mean)))
}

type Prefetching = {
  readonly source: PoolSource
  readonly tasks: () => readonly TaskRow[]
  readonly now: number
  readonly publish_interval_ms: number
}

/** By the key of a location's pool, once a round: 0 for any other pool. Tasks are gone through only where something is prefetched. */
export function prefetchCounts({ source, tasks, now, publish_interval_ms }: Prefetching): (pool_key: string) => number {
  const counts = new Map<string, number>()
  let stale: ReadonlyMap<string, number> | undefined
  return (pool_key) => {
    const location_name = publish_interval_ms === 0 ? undefined : locationOfPool(pool_key)
    if (location_name === undefined) return 0
    const known = counts.get(pool_key)
    if (known !== undefined) return known
    const kept_max = prefetchOf(source, pool_key)
    if (kept_max > 0) stale ??= countStale(tasks(), now)
    const pace = {
      slots: capOf(source, pool_key) ?? 0,
      kept_max,
      stale_count: stale?.get(location_name) ?? 0,
      attempt_ms_mean: source.pool(pool_key)?.attempt_ms_mean ?? null,
      publish_interval_ms,
    }
    const count = kept_max === 0 ? 0 : prefetchCount(pace)
    counts.set(pool_key, count)
    return count
  }
}

/** By location name. */
function countStale(tasks: readonly TaskRow[], now: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { state, location_name, started_at, dispatched_at } of tasks) {
    if (!isActive(state) || now - (started_at ?? dispatched_at ?? now) <= PREFETCH_STALE_MS) continue
    counts.set(location_name, (counts.get(location_name) ?? 0) + 1)
  }
  return counts
}
