// Tasks that are due and not dispatched, with the pools that each would count in. Whoever counts them reads all of them:
// the time grows with how many wait.

import { isDue } from '../projections/dispatch-order.js'
import { cappedTagsIn, dispatchPoolKeys } from '../projections/pool.js'
import type { TaskRow } from '../projections/run-table.js'
import { readAssetGraph } from './assets.js'
import { pagesOf } from './pages.js'
import { type Pools, readPools } from './pools.js'
import type { View } from './reader.js'

type WaitingTask = { readonly task: TaskRow; readonly location_name: string; readonly pool_keys: readonly string[] }

/** In no order. Page by page: memory grows with their runs alone. */
export async function* readWaiting(
  view: View,
  pools: Pools,
  now: number,
  isWanted: (task: TaskRow) => boolean = () => true,
): AsyncGenerator<WaitingTask> {
  const { definitions } = await readAssetGraph(view)
  const cappedTags = cappedTagsIn(pools.rows)
  const tags = new Map<string, readonly string[]>()
  const where = [{ column: 'state', in: ['READY', 'RETRY_WAIT'] }] as const
  for await (const page of pagesOf(view, 'tasks', { where })) {
    const tasks = page.filter((task) => isDue(task, now) && isWanted(task))
    const unknown = [...new Set(tasks.map(({ run_id }) => run_id))].filter((run_id) => !tags.has(run_id))
    const runs = await view.rows(
      'runs',
      unknown.map((run_id) => [run_id]),
    )
    for (const run of runs) tags.set(run.run_id, cappedTags(run))
    for (const task of tasks) {
      const tagged = tags.get(task.run_id)
      const location_name = definitions.get(task.asset_key)?.location_name ?? task.location_name
      if (tagged !== undefined) yield { task, location_name, pool_keys: dispatchPoolKeys(task, location_name, tagged) }
    }
  }
}

/** By pool key, whichever pool they wait for. */
export async function countWaiting(view: View | undefined, now: number): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  if (view === undefined) return counts
  for await (const { pool_keys } of readWaiting(view, await readPools(view), now)) {
    for (const pool_key of pool_keys) counts.set(pool_key, (counts.get(pool_key) ?? 0) + 1)
  }
  return counts
}
