// Loads what says why a task is not running, at one revision; only what its state asks for.

import { instantMs } from '../../core/time.js'
import type { CodeLocationRow } from '../../projections/asset-table.js'
import { inDispatchOrder, isDue } from '../../projections/dispatch-order.js'
import { cappedTagsIn, cappedTagsOf, dispatchPoolKeys, effectiveCap } from '../../projections/pool.js'
import type { DepSatisfactionRow, DispatchOutboxRow, RunRow, TaskRow } from '../../projections/run-table.js'
import { isOver } from '../../projections/state-machine.js'
import type { RowKey } from '../../projections/tables.js'
import { readAssetGraph } from '../assets.js'
import { type Pools, readPools } from '../pools.js'
import type { View } from '../reader.js'
import { readRows } from '../rows.js'
import { isFull, type Room } from './no-room.js'
import type { UpstreamTask, WhyRows } from './why.js'

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
  const nothing = { ...NOTHING, hold_until: holdOf(view), run, task }
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
  const pools = await readPools(view)
  const rooms = dispatchPoolKeys(task, location_name, cappedTagsOf(pools, run)).map((pool_key) => roomOf(pools, pool_key))
  const full = new Set(rooms.filter(isFull).map(({ pool_key }) => pool_key))
  return { ...found, pools: rooms, waiting_before: full.size === 0 ? 0 : await countBefore(view, pools, task, full, now) }
}

const NOTHING = { upstream: [], outbox: undefined, location_name: '', location: undefined, pools: [], waiting_before: 0 } as const

function holdOf({ snapshot }: View): number | null {
  const { hold_until } = snapshot.revision.watermarks
  return hold_until === null ? null : instantMs(hold_until)
}

const roomOf = (pools: Pools, pool_key: string): Room => {
  const cap = effectiveCap(pools, pool_key)
  return { pool_key, in_use: pools.pool(pool_key)?.in_use ?? 0, max_running: cap?.max_running ?? null, cap_source: cap?.source ?? null }
}

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
async function countBefore(view: View, pools: Pools, task: TaskRow, full: ReadonlySet<string>, now: number): Promise<number> {
  const { definitions } = await readAssetGraph(view)
  const cappedTags = cappedTagsIn(pools.rows)
  const tags = new Map<string, readonly string[]>()
  /** It takes a place that this one needs, and nobody has to do something before it can. */
  function goesBefore(other: TaskRow): boolean {
    const tagged = tags.get(other.run_id)
    const location_name = definitions.get(other.asset_key)?.location_name ?? other.location_name
    if (tagged === undefined || pools.location(location_name) === undefined) return false
    const pool_keys = dispatchPoolKeys(other, location_name, tagged)
    const isClosed = pool_keys.some((pool_key) => !full.has(pool_key) && effectiveCap(pools, pool_key)?.max_running === 0)
    return !isClosed && pool_keys.some((pool_key) => full.has(pool_key))
  }
  let count = 0
  for (let after: RowKey | undefined; ; ) {
    const where = [{ column: 'state', in: ['READY', 'RETRY_WAIT'] }] as const
    const page = await view.page('tasks', { where, limit: PAGE_ROWS, ...(after === undefined ? {} : { after }) })
    const others = (page.rows as unknown as readonly TaskRow[]).filter((other) => isDue(other, now) && inDispatchOrder(other, task) < 0)
    const unknown = [...new Set(others.map(({ run_id }) => run_id))].filter((run_id) => !tags.has(run_id))
    const runs = (await view.rows(
      'runs',
      unknown.map((run_id) => [run_id]),
    )) as unknown as readonly RunRow[]
    for (const run of runs) tags.set(run.run_id, cappedTags(run))
    count += others.filter(goesBefore).length
    if (page.is_last || page.last_key === undefined) return count
    after = page.last_key
  }
}
