// Pools count the tasks that are with a worker or on their way to one, and cap them. Every pool that an asset names is
// counted from its first use, so defining one later sets its cap and has nothing to count.

import { assert } from '../core/errors.js'
import { GLOBAL_POOL_KEY, poolKeyOfLocation, poolKeyOfName } from '../core/ids.js'
import { GLOBAL_RUNNING_DEFAULT } from '../core/limits.js'
import { compareText } from '../core/order.js'
import type { EventOf } from '../events/event.js'
import type { CodeLocationRow, PoolRow } from './asset-table.js'
import { type Moment, type Refusal, refusal } from './outcome.js'
import type { TaskRow } from './run-table.js'
import type { WorkingSet } from './working-set.js'

const LOCATION_PREFIX = poolKeyOfLocation('')

/** All that a task counts in while it is active. */
export const poolKeysOf = (pool_names: readonly string[], location_name: string): readonly string[] => [
  ...new Set([GLOBAL_POOL_KEY, ...pool_names.map(poolKeyOfName), poolKeyOfLocation(location_name)]),
]

/** An asset that went to another location takes its tasks along: they count where they are dispatched to. */
export function movedPoolKeys({ pool_keys, location_name }: TaskRow, to_location_name: string): readonly string[] {
  if (location_name === to_location_name) return pool_keys
  const [from, to] = [poolKeyOfLocation(location_name), poolKeyOfLocation(to_location_name)]
  return pool_keys.map((pool_key) => (pool_key === from ? to : pool_key))
}

/** How many tasks of the pool may be active; null: as many as there are. A pool's own cap goes before its location's slots. */
export function capOf(rows: WorkingSet, pool_key: string): number | null {
  const location_name = locationOfPool(pool_key)
  return capFrom(pool_key, rows.get('pools', pool_key), location_name === undefined ? undefined : rows.get('code_locations', location_name))
}

/** undefined: it is no location's. */
export const locationOfPool = (pool_key: string): string | undefined =>
  pool_key.startsWith(LOCATION_PREFIX) ? pool_key.slice(LOCATION_PREFIX.length) : undefined

/** The same from the rows themselves: the pool's, and that of the location whose pool it is. */
export function capFrom(
  pool_key: string,
  pool: Pick<PoolRow, 'max_running'> | undefined,
  location: Pick<CodeLocationRow, 'slots'> | undefined,
): number | null {
  const own = pool?.max_running ?? null
  if (own !== null) return own
  return pool_key === GLOBAL_POOL_KEY ? GLOBAL_RUNNING_DEFAULT : (location?.slots ?? null)
}

/** Who goes first where there is not room for all. */
export const inDispatchOrder = (left: TaskPlace, right: TaskPlace): number =>
  right.priority - left.priority ||
  (left.ready_at ?? 0) - (right.ready_at ?? 0) ||
  compareText(left.run_id, right.run_id) ||
  left.task_index - right.task_index

type TaskPlace = Pick<TaskRow, 'priority' | 'ready_at' | 'run_id' | 'task_index'>

/** Its turn has come, if there is room. */
export const isDue = ({ state, retry_at }: Pick<TaskRow, 'state' | 'retry_at'>, now: number): boolean =>
  state === 'READY' || (state === 'RETRY_WAIT' && retry_at !== null && retry_at <= now)

/** The first of these pools that has no place left. */
export function fullPool(rows: WorkingSet, pool_keys: readonly string[]): Refusal | undefined {
  for (const pool_key of pool_keys) {
    const max_running = capOf(rows, pool_key)
    const in_use = rows.get('pools', pool_key)?.in_use ?? 0
    if (max_running !== null && in_use >= max_running) return refusal('CAP_REACHED', { pool_key, max_running, in_use })
  }
  return undefined
}

export const enterPools = (rows: WorkingSet, { pool_keys }: TaskRow, moment: Moment): void => move(rows, pool_keys, 1, moment)
export const leavePools = (rows: WorkingSet, { pool_keys }: TaskRow, moment: Moment): void => move(rows, pool_keys, -1, moment)

function move(rows: WorkingSet, pool_keys: readonly string[], step: 1 | -1, moment: Moment): void {
  for (const pool_key of pool_keys) {
    const pool = rows.get('pools', pool_key) ?? newPool(pool_key, moment)
    const in_use = pool.in_use + step
    assert(in_use >= 0, `The pool ${pool_key} counts ${in_use} tasks.`)
    rows.put('pools', { ...pool, in_use, last_event_id: moment.event_id })
  }
}

const newPool = (pool_key: string, { at, event_id }: Moment): PoolRow => ({
  pool_key,
  max_running: pool_key === GLOBAL_POOL_KEY ? GLOBAL_RUNNING_DEFAULT : null,
  in_use: 0,
  updated_by: null,
  updated_at: at,
  removed_at: null,
  row_version: 0,
  last_event_id: event_id,
})

/** A location's pool is there from its first deploy, so that a page of pools shows it before anything runs. */
export function ensureLocationPool(rows: WorkingSet, location_name: string, moment: Moment): void {
  const pool_key = poolKeyOfLocation(location_name)
  if (rows.get('pools', pool_key) === undefined) rows.put('pools', newPool(pool_key, moment))
}

export function foldPoolDefined(rows: WorkingSet, { payload }: EventOf<'PoolDefined'>, moment: Moment): Refusal | undefined {
  const pool = rows.get('pools', payload.pool_key) ?? newPool(payload.pool_key, moment)
  rows.put('pools', {
    ...pool,
    max_running: payload.max_running,
    updated_by: payload.requested_by ?? null,
    updated_at: moment.at,
    removed_at: null,
    last_event_id: moment.event_id,
  })
  return undefined
}

export function foldPoolRemoved(rows: WorkingSet, { payload }: EventOf<'PoolRemoved'>, moment: Moment): Refusal | undefined {
  const { pool_key } = payload
  if (pool_key === GLOBAL_POOL_KEY)
    return refusal('ILLEGAL_TRANSITION', { message: 'The global pool has always a cap: define another one.' })
  const pool = rows.get('pools', pool_key)
  if (pool === undefined || pool.max_running === null)
    return refusal('UNKNOWN_ENTITY', { message: `The pool ${pool_key} has no cap of its own.` })
  rows.put('pools', {
    ...pool,
    max_running: null,
    updated_by: payload.requested_by ?? null,
    updated_at: moment.at,
    removed_at: moment.at,
    last_event_id: moment.event_id,
  })
  return undefined
}
