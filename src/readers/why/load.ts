// Loads what says why a task is not running, at one revision; only what its state asks for.

import { GLOBAL_POOL_KEY } from '../../core/ids.js'
import type { CodeLocationRow, PoolRow } from '../../projections/asset-table.js'
import { capOf, dispatchPoolKeys, inDispatchOrder, isDue, type PoolSource } from '../../projections/pool.js'
import type { DepSatisfactionRow, DispatchOutboxRow, RunRow, TaskRow } from '../../projections/run-table.js'
import { isOver } from '../../projections/state-machine.js'
import type { RowKey } from '../../projections/tables.js'
import { readAssetGraph } from '../assets.js'
import type { View } from '../reader.js'
import { readRows } from '../rows.js'
import { isFull, type Room, type UpstreamTask, type WhyRows } from './why.js'

/** `no_run`, `no_task`: there is none of this name, and none will come. */
export async function loadWhy(
  view: View | undefined,
  run_id: string,
  task_key: string,
  now: number,
): Promise<WhyRows | 'no_run' | 'no_task'> {
  const run = (await view?.row('runs', [run_id])) as RunRow | undefined
  if (view === undefined || run === undefined) return 'no_run'
  const task = (await view.row('tasks', [run_id, task_key])) as TaskRow | undefined
  const nothing = { run, task, upstream: [], outbox: undefined, location_name: '', location: undefined, pools: [], waiting_before: 0 }
  if (task === undefined) return run.tasks_total === 0 ? nothing : 'no_task'
  if (task.state === 'BLOCKED' || isOver(task.state)) return { ...nothing, upstream: await readMissing(view, task) }
  const { definitions } = await readAssetGraph(view)
  const location_name = definitions.get(task.asset_key)?.location_name ?? task.location_name
  const [location, outbox] = (await Promise.all([
    view.row('code_locations', [task.state === 'DISPATCHED' ? task.location_name : location_name]),
    view.row('dispatch_outbox', [run_id, task_key, task.attempt]),
  ])) as unknown as readonly [CodeLocationRow | undefined, DispatchOutboxRow | undefined]
  const found = { ...nothing, outbox, location_name, location }
  if (!isDue(task, now)) return found
  const source = await readPools(view)
  const pools = dispatchPoolKeys(source, task, run, location_name).map((pool_key) => roomOf(source, pool_key))
  const full = new Set(pools.filter(isFull).map(({ pool_key }) => pool_key))
  return { ...found, pools, waiting_before: full.size === 0 ? 0 : await countBefore(view, source, task, full, now) }
}

/** All of them: those that a task counts in are named by the caps of others, too. */
async function readPools(view: View): Promise<PoolSource> {
  const [pools, locations] = (await Promise.all([
    readRows(view, 'pools', [], Number.MAX_SAFE_INTEGER),
    readRows(view, 'code_locations', [], Number.MAX_SAFE_INTEGER),
  ])) as unknown as readonly [readonly PoolRow[], readonly CodeLocationRow[]]
  const byKey = new Map(pools.map((pool) => [pool.pool_key, pool]))
  const byName = new Map(locations.map((location) => [location.location_name, location]))
  return { pool: (pool_key) => byKey.get(pool_key), location: (location_name) => byName.get(location_name) }
}

const roomOf = (source: PoolSource, pool_key: string): Room => ({
  pool_key,
  in_use: source.pool(pool_key)?.in_use ?? 0,
  max_running: capOf(source, pool_key),
})

/** The upstream tasks whose success is missing. */
async function readMissing(view: View, { run_id, task_key, deps_total }: TaskRow): Promise<readonly UpstreamTask[]> {
  if (deps_total === 0) return []
  const where = [
    { column: 'run_id', is: '=', value: run_id },
    { column: 'downstream_task_key', is: '=', value: task_key },
  ] as const
  const edges = (await readRows(view, 'dep_satisfaction', where, Number.MAX_SAFE_INTEGER)) as unknown as readonly DepSatisfactionRow[]
  const keys = edges.filter(({ satisfied }) => !satisfied).map(({ upstream_task_key }): RowKey => [run_id, upstream_task_key])
  const tasks = (await view.rows('tasks', keys)) as unknown as readonly TaskRow[]
  return tasks.toSorted((left, right) => left.task_index - right.task_index).map(({ task_key: key, state }) => ({ task_key: key, state }))
}

const PAGE_ROWS = 5_000

/** Page by page: the time grows with the tasks that wait, the memory with their runs alone. */
async function countBefore(view: View, source: PoolSource, task: TaskRow, full: ReadonlySet<string>, now: number): Promise<number> {
  const { definitions } = await readAssetGraph(view)
  const runs = new Map<string, RunRow>()
  function needsFull(other: TaskRow): boolean {
    const run = runs.get(other.run_id)
    if (run === undefined) return false
    const location_name = definitions.get(other.asset_key)?.location_name ?? other.location_name
    return full.has(GLOBAL_POOL_KEY) || dispatchPoolKeys(source, other, run, location_name).some((pool_key) => full.has(pool_key))
  }
  let count = 0
  for (let after: RowKey | undefined; ; ) {
    const where = [{ column: 'state', in: ['READY', 'RETRY_WAIT'] }] as const
    const page = await view.page('tasks', { where, limit: PAGE_ROWS, ...(after === undefined ? {} : { after }) })
    const others = (page.rows as unknown as readonly TaskRow[]).filter((other) => isDue(other, now) && inDispatchOrder(other, task) < 0)
    const unknown = [...new Set(others.map(({ run_id }) => run_id))].filter((run_id) => !runs.has(run_id))
    const found = await view.rows(
      'runs',
      unknown.map((run_id) => [run_id]),
    )
    for (const run of found as unknown as readonly RunRow[]) runs.set(run.run_id, run)
    count += others.filter(needsFull).length
    if (page.is_last || page.last_key === undefined) return count
    after = page.last_key
  }
}
