// Pools count the tasks that are with a worker or on their way to one, and cap them. Every pool that an asset names is
// counted from its first use, so defining one later sets its cap and has nothing to count.

import { assert } from '../core/errors.js'
import { GLOBAL_POOL_KEY, poolKeyOfLocation, poolKeyOfName } from '../core/ids.js'
import { GLOBAL_RUNNING_DEFAULT, PRIORITY_POINT_MS } from '../core/limits.js'
import { compareText } from '../core/order.js'
import type { EventOf } from '../events/event.js'
import type { CodeLocationRow, PoolRow } from './asset-table.js'
import { type Moment, type Refusal, refusal } from './outcome.js'
import type { RunRow, TaskRow } from './run-table.js'
import { isActive } from './state-machine.js'
import { allValuesOf, isTagPool, isTagValue, poolKeysOfTags } from './tag-pool.js'
import type { WorkingSet } from './working-set.js'

const LOCATION_PREFIX = poolKeyOfLocation('')

/** What a planned task counts in while it is active, whatever the caps are by then. */
export const poolKeysOf = (pool_names: readonly string[], location_name: string): readonly string[] => [
  ...new Set([GLOBAL_POOL_KEY, ...pool_names.map(poolKeyOfName), poolKeyOfLocation(location_name)]),
]

/** Pools and locations, as the fold has them or as a revision shows them. */
export type PoolSource = {
  readonly pool: (pool_key: string) => Pick<PoolRow, 'max_running' | 'in_use'> | undefined
  readonly location: (location_name: string) => Pick<CodeLocationRow, 'slots'> | undefined
}

export const poolSourceOf = (rows: WorkingSet): PoolSource => ({
  pool: (pool_key) => rows.get('pools', pool_key),
  location: (location_name) => rows.get('code_locations', location_name),
})

/** All that a task would count in if it were dispatched to this location now. An asset that went to another location takes
 *  its tasks along; of the run's tags those count that have a cap. */
export function dispatchPoolKeys(
  source: PoolSource,
  { pool_keys, location_name }: Pick<TaskRow, 'pool_keys' | 'location_name'>,
  { tags }: Pick<RunRow, 'tags'>,
  to_location_name: string,
): readonly string[] {
  const tagged = poolKeysOfTags(tags, (pool_key) => hasCap(source, pool_key))
  if (location_name === to_location_name && tagged.length === 0 && !pool_keys.some(isTagPool)) return pool_keys
  const [from, to] = [poolKeyOfLocation(location_name), poolKeyOfLocation(to_location_name)]
  const planned = pool_keys.filter((pool_key) => !isTagPool(pool_key)).map((pool_key) => (pool_key === from ? to : pool_key))
  return [...planned, ...tagged]
}

const hasCap = (source: PoolSource, pool_key: string): boolean => (source.pool(pool_key)?.max_running ?? null) !== null

/** How many tasks of the pool may be active; null: as many as there are. A pool's own cap goes before its location's slots,
 *  and a tag value's before that of all values. */
export function capOf(source: PoolSource, pool_key: string): number | null {
  const own = source.pool(pool_key)?.max_running ?? null
  if (own !== null) return own
  if (pool_key === GLOBAL_POOL_KEY) return GLOBAL_RUNNING_DEFAULT
  if (isTagValue(pool_key)) return source.pool(allValuesOf(pool_key))?.max_running ?? null
  const location_name = locationOfPool(pool_key)
  return location_name === undefined ? null : (source.location(location_name)?.slots ?? null)
}

/** undefined: it is no location's. */
export const locationOfPool = (pool_key: string): string | undefined =>
  pool_key.startsWith(LOCATION_PREFIX) ? pool_key.slice(LOCATION_PREFIX.length) : undefined

/** Who goes first where there is not room for all: priority, then age, and a point of priority is worth a minute of it. So
 *  whatever comes later, a task waits no longer than its priority is lower. */
export const inDispatchOrder = (left: TaskPlace, right: TaskPlace): number =>
  placeInTime(left) - placeInTime(right) ||
  right.priority - left.priority ||
  compareText(left.run_id, right.run_id) ||
  left.task_index - right.task_index

const placeInTime = ({ ready_at, priority }: TaskPlace): number => (ready_at ?? 0) - priority * PRIORITY_POINT_MS

type TaskPlace = Pick<TaskRow, 'priority' | 'ready_at' | 'run_id' | 'task_index'>

/** Its turn has come, if there is room. */
export const isDue = ({ state, retry_at }: Pick<TaskRow, 'state' | 'retry_at'>, now: number): boolean =>
  state === 'READY' || (state === 'RETRY_WAIT' && retry_at !== null && retry_at <= now)

/** The first of these pools that has no place left. */
export function fullPool(source: PoolSource, pool_keys: readonly string[]): Refusal | undefined {
  for (const pool_key of pool_keys) {
    const max_running = capOf(source, pool_key)
    const in_use = source.pool(pool_key)?.in_use ?? 0
    if (max_running !== null && in_use >= max_running) return refusal('CAP_REACHED', { pool_key, max_running, in_use })
  }
  return undefined
}

export const enterPools = (rows: WorkingSet, { pool_keys }: TaskRow, moment: Moment): void => move(rows, pool_keys, 1, moment)
export const leavePools = (rows: WorkingSet, { pool_keys }: TaskRow, moment: Moment): void => move(rows, pool_keys, -1, moment)

function move(rows: WorkingSet, pool_keys: readonly string[], step: 1 | -1, moment: Moment): void {
  for (const pool_key of pool_keys) {
    const pool = poolOf(rows, pool_key, moment)
    const in_use = pool.in_use + step
    assert(in_use >= 0, `The pool ${pool_key} counts ${in_use} tasks.`)
    put(rows, { ...pool, in_use }, moment)
  }
}

/** The values of a tag are as many as people invent: one that counts nothing and has no cap of its own is forgotten. */
function put(rows: WorkingSet, pool: PoolRow, moment: Moment): void {
  const isIdle = isTagValue(pool.pool_key) && pool.in_use === 0 && pool.max_running === null
  rows.put('pools', { ...pool, expires_at: isIdle ? moment.context.fold_time : null, last_event_id: moment.event_id })
}

/** What was forgotten begins anew, also where its row is still at hand: that depends on where a revision ended. */
function poolOf(rows: WorkingSet, pool_key: string, moment: Moment): PoolRow {
  const known = rows.get('pools', pool_key)
  return known === undefined || known.expires_at !== null ? newPool(pool_key, moment) : known
}

const newPool = (pool_key: string, { at, event_id }: Moment): PoolRow => ({
  pool_key,
  max_running: pool_key === GLOBAL_POOL_KEY ? GLOBAL_RUNNING_DEFAULT : null,
  in_use: 0,
  updated_by: null,
  updated_at: at,
  removed_at: null,
  expires_at: null,
  row_version: 0,
  last_event_id: event_id,
})

/** A location's pool is there from its first deploy, so that a page of pools shows it before anything runs. */
export function ensureLocationPool(rows: WorkingSet, location_name: string, moment: Moment): void {
  const pool_key = poolKeyOfLocation(location_name)
  if (rows.get('pools', pool_key) === undefined) rows.put('pools', newPool(pool_key, moment))
}

export function foldPoolDefined(rows: WorkingSet, { payload }: EventOf<'PoolDefined'>, moment: Moment): Refusal | undefined {
  const { pool_key, max_running } = payload
  const pool = poolOf(rows, pool_key, moment)
  put(rows, { ...pool, max_running, updated_by: payload.requested_by ?? null, updated_at: moment.at, removed_at: null }, moment)
  if (isTagPool(pool_key)) countTagged(rows, moment)
  return undefined
}

/** Tags are counted where they have a cap: with the first one, those tasks that are active already. */
function countTagged(rows: WorkingSet, moment: Moment): void {
  const source = poolSourceOf(rows)
  for (const task of rows.hotRows('tasks')) {
    if (!isActive(task.state)) continue
    const run = rows.get('runs', task.run_id)
    assert(run, `The active task ${task.task_key} has no run.`)
    const added = poolKeysOfTags(run.tags, (pool_key) => hasCap(source, pool_key)).filter((key) => !task.pool_keys.includes(key))
    if (added.length === 0) continue
    move(rows, added, 1, moment)
    rows.put('tasks', { ...task, pool_keys: [...task.pool_keys, ...added], last_event_id: moment.event_id })
  }
}

export function foldPoolRemoved(rows: WorkingSet, { payload }: EventOf<'PoolRemoved'>, moment: Moment): Refusal | undefined {
  const { pool_key } = payload
  if (pool_key === GLOBAL_POOL_KEY)
    return refusal('ILLEGAL_TRANSITION', { message: 'The global pool has always a cap: define another one.' })
  const pool = rows.get('pools', pool_key)
  if (pool === undefined || pool.max_running === null)
    return refusal('UNKNOWN_ENTITY', { message: `The pool ${pool_key} has no cap of its own.` })
  put(rows, { ...pool, max_running: null, updated_by: payload.requested_by ?? null, updated_at: moment.at, removed_at: moment.at }, moment)
  return undefined
}
