// Loads what says why a task is not running, at one revision; only what its state asks for.

import { instantMs } from '../../core/time.js'
import type { CodeLocationRow } from '../../projections/asset-table.js'
import { inDispatchOrder, isDue } from '../../projections/dispatch-order.js'
import { cappedTagsOf, dispatchPoolKeys, effectiveCap } from '../../projections/pool.js'
import type { DispatchOutboxRow, TaskRow } from '../../projections/run-table.js'
import { isOver } from '../../projections/state-machine.js'
import type { RowKey } from '../../projections/tables.js'
import { readAssetGraph } from '../assets.js'
import { findRun, noTask } from '../found.js'
import { type NotFound } from '../not-found.js'
import { readAll } from '../pages.js'
import { type Pools, readPools } from '../pools.js'
import type { View } from '../reader.js'
import { readWaiting } from '../waiting.js'
import { isFull, type Room } from './no-room.js'
import type { UpstreamTask, WhyRows } from './why.js'

export async function loadWhy(given: View | undefined, run_id: string, task_key: string, now: number): Promise<WhyRows | NotFound> {
  const found_run = await findRun(given, run_id)
  if ('problem' in found_run) return found_run
  const { view, run } = found_run
  const task = await view.row('tasks', [run_id, task_key])
  const nothing = { ...NOTHING, hold_until: holdOf(view), run, task }
  if (task === undefined) return run.tasks_total === 0 ? nothing : noTask(run_id, task_key)
  if (task.state === 'BLOCKED' || isOver(task.state)) {
    const outbox = task.outcome_reason === 'START_DEADLINE' ? await readOutbox(view, task) : undefined
    return { ...nothing, outbox, upstream: await readMissing(view, task) }
  }
  const { definitions } = await readAssetGraph(view)
  const location_name = definitions.get(task.asset_key)?.location_name ?? task.location_name
  const [location, outbox] = await Promise.all([
    view.row('code_locations', [task.state === 'DISPATCHED' ? task.location_name : location_name]) as Promise<CodeLocationRow | undefined>,
    readOutbox(view, task),
  ])
  const found = { ...nothing, outbox, location_name, location }
  if (!isDue(task, now)) return found
  const pools = await readPools(view)
  const rooms = dispatchPoolKeys(task, location_name, cappedTagsOf(pools, run)).map((pool_key) => roomOf(pools, pool_key))
  const full = new Set(rooms.filter(isFull).map(({ pool_key }) => pool_key))
  return { ...found, pools: rooms, waiting_before: full.size === 0 ? 0 : await countBefore(view, pools, task, full, now) }
}

const NOTHING = { upstream: [], outbox: undefined, location_name: '', location: undefined, pools: [], waiting_before: 0 } as const

/** Of the newest attempt. */
const readOutbox = (view: View, { run_id, task_key, attempt }: TaskRow): Promise<DispatchOutboxRow | undefined> =>
  view.row('dispatch_outbox', [run_id, task_key, attempt]) as Promise<DispatchOutboxRow | undefined>

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
  const edges = await readAll(view, 'dep_satisfaction', { where })
  const keys = edges.filter(({ satisfied }) => !satisfied).map(({ upstream_task_key }): RowKey => [run_id, upstream_task_key])
  const tasks = await view.rows('tasks', keys)
  return tasks.toSorted((left, right) => left.task_index - right.task_index).map(({ task_key: key, state }) => ({ task_key: key, state }))
}

/** Those that take a place which this one needs, and that nobody has to do something for before they can. */
async function countBefore(view: View, pools: Pools, task: TaskRow, full: ReadonlySet<string>, now: number): Promise<number> {
  const isOpen = (pool_key: string): boolean => full.has(pool_key) || effectiveCap(pools, pool_key)?.max_running !== 0
  let count = 0
  for await (const { location_name, pool_keys } of readWaiting(view, pools, now, (other) => inDispatchOrder(other, task) < 0)) {
    const canGo = pools.location(location_name) !== undefined && pool_keys.every(isOpen)
    if (canGo && pool_keys.some((pool_key) => full.has(pool_key))) count += 1
  }
  return count
}
