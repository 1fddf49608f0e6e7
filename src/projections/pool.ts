// Pools count the tasks that are with a worker or on their way to one, and cap them. Every pool that an asset names is
// counted from its first use, so defining one later sets its cap and has nothing to count.

import { assert } from '../core/errors.js'
import { GLOBAL_POOL_KEY, poolKeyOfLocation, poolKeyOfName } from '../core/ids.js'
import { ATTEMPT_MS_SHARE, GLOBAL_RUNNING_DEFAULT } from '../core/limits.js'
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
  readonly pool: (pool_key: string) => Pick<PoolRow, 'max_running' | 'in_use' | 'attempt_ms_mean' | 'updated_by'> | undefined
  readonly location: (location_name: string) => Pick<CodeLocationRow, 'slots' | 'prefetch'> | undefined
}

export const poolSourceOf = (rows: WorkingSet): PoolSource => ({
  pool: (pool_key) => rows.get('pools', pool_key),
  location: (location_name) => rows.get('code_locations', location_name),
})

/** All that a task counts in if it is dispatched to this location now. An asset that went to another location takes its
 *  tasks along; `tagged` are those of its run's tags that have a cap now. */
export function dispatchPoolKeys(
  { pool_keys, location_name }: Pick<TaskRow, 'pool_keys' | 'location_name'>,
  to_location_name: string,
  tagged: readonly string[],
): readonly string[] {
  if (location_name === to_location_name && tagged.length === 0 && !pool_keys.some(isTagPool)) return pool_keys
  const [from, to] = [poolKeyOfLocation(location_name), poolKeyOfLocation(to_location_name)]
  const planned = pool_keys.filter((pool_key) => !isTagPool(pool_key)).map((pool_key) => (pool_key === from ? to : pool_key))
  return [...planned, ...tagged]
}

/** Of a run's tags, those that are counted now. Where there are many runs, `cappedTagsIn` asks for all caps once. */
export const cappedTagsOf = (source: PoolSource, { tags }: Pick<RunRow, 'tags'>): readonly string[] =>
  poolKeysOfTags(tags, (pool_key) => (source.pool(pool_key)?.max_running ?? null) !== null)

export function cappedTagsIn(
  pools: readonly Pick<PoolRow, 'pool_key' | 'max_running'>[],
): (run: Pick<RunRow, 'tags'>) => readonly string[] {
  const capped = new Set<string>()
  for (const { pool_key, max_running } of pools) if (max_running !== null && isTagPool(pool_key)) capped.add(pool_key)
  return ({ tags }) => (capped.size === 0 ? NONE : poolKeysOfTags(tags, (pool_key) => capped.has(pool_key)))
}

const NONE: readonly never[] = []

/** Where the number comes from that a pool is capped at: OWN, somebody set it; DEFAULT, of the workspace, where nobody did;
 *  SLOTS, of the location; TAG, set for each value of the tag. */
export type Cap = { readonly max_running: number; readonly source: 'OWN' | 'DEFAULT' | 'SLOTS' | 'TAG' }

/** undefined: as many tasks of the pool may be active as there are. A pool's own cap goes before its location's slots, and a
 *  tag value's before that of all values. Whoever says or shows what the cap is asks here. */
export function effectiveCap(source: PoolSource, pool_key: string): Cap | undefined {
  const pool = source.pool(pool_key)
  const own = pool?.max_running ?? null
  if (pool_key === GLOBAL_POOL_KEY) return globalCap(own, pool?.updated_by ?? null)
  if (own !== null) return { max_running: own, source: 'OWN' }
  const location_name = locationOfPool(pool_key)
  if (location_name !== undefined) return capFrom('SLOTS', source.location(location_name)?.slots)
  return isTagValue(pool_key) ? capFrom('TAG', source.pool(allValuesOf(pool_key))?.max_running) : undefined
}

/** Its row is made with the default by the first task that counts. */
const globalCap = (own: number | null, updated_by: string | null): Cap =>
  own === null || (own === GLOBAL_RUNNING_DEFAULT && updated_by === null)
    ? { max_running: GLOBAL_RUNNING_DEFAULT, source: 'DEFAULT' }
    : { max_running: own, source: 'OWN' }

const capFrom = (source: Cap['source'], max_running: number | null | undefined): Cap | undefined =>
  max_running === null || max_running === undefined ? undefined : { max_running, source }

/** null: no cap. */
export const capOf = (source: PoolSource, pool_key: string): number | null => effectiveCap(source, pool_key)?.max_running ?? null

/** Attempts that may be dispatched beyond the cap of a pool. Only the slots of a location are exceeded: its workers say how many
 *  attempts they keep until a slot is free. A cap that somebody set is one on load, and holds for those too. */
export function prefetchOf(source: PoolSource, pool_key: string): number {
  const location_name = locationOfPool(pool_key)
  if (location_name === undefined || effectiveCap(source, pool_key)?.source !== 'SLOTS') return 0
  const { slots, prefetch } = source.location(location_name) as Pick<CodeLocationRow, 'slots' | 'prefetch'>
  return slots === 0 ? 0 : (prefetch ?? 0)
}

/** Whether all slots of the location are taken, so that an attempt that is dispatched to it now has to wait for one there. */
export function isWithoutSlot(source: PoolSource, location_name: string): boolean {
  const pool_key = poolKeyOfLocation(location_name)
  const cap = effectiveCap(source, pool_key)
  return cap?.source === 'SLOTS' && (source.pool(pool_key)?.in_use ?? 0) >= cap.max_running
}

/** undefined: it is no location's. */
export const locationOfPool = (pool_key: string): string | undefined =>
  pool_key.startsWith(LOCATION_PREFIX) ? pool_key.slice(LOCATION_PREFIX.length) : undefined

/** The first of these pools that has no place left. */
export function fullPool(source: PoolSource, pool_keys: readonly string[]): Refusal | undefined {
  for (const pool_key of pool_keys) {
    const cap = capOf(source, pool_key)
    if (cap === null) continue
    const max_running = cap + prefetchOf(source, pool_key)
    const in_use = source.pool(pool_key)?.in_use ?? 0
    if (in_use >= max_running) return refusal('CAP_REACHED', { pool_key, max_running, in_use })
  }
  return undefined
}

export const enterPools = (rows: WorkingSet, { pool_keys }: TaskRow, moment: Moment): void => move(rows, pool_keys, 1, moment)

/** `attempt_ms`: how long the attempt had a slot, or waited for one in vain; null: it says nothing about that. */
export function leavePools(rows: WorkingSet, { pool_keys, location_name }: TaskRow, attempt_ms: number | null, moment: Moment): void {
  move(rows, pool_keys, -1, moment)
  const pool = rows.get('pools', poolKeyOfLocation(location_name))
  if (attempt_ms !== null && pool !== undefined) rows.put('pools', { ...pool, attempt_ms_mean: averaged(pool.attempt_ms_mean, attempt_ms) })
}

/** A moving average, in whole milliseconds: the first attempt is all that is known at first. */
const averaged = (mean: number | null, value: number): number =>
  mean === null ? value : Math.round(mean + (value - mean) * ATTEMPT_MS_SHARE)

function move(rows: WorkingSet, pool_keys: readonly string[], step: 1 | -1, moment: Moment): void {
  for (const pool_key of pool_keys) {
    const pool = poolOf(rows, pool_key, moment)
    const in_use = pool.in_use + step
    assert(in_use >= 0, `The pool ${pool_key} counts ${in_use} tasks.`)
    put(rows, { ...pool, in_use }, moment)
  }
}

/** The row of an idle value leaves memory with a publish: until then it is as good as gone, or what becomes of it would
 *  depend on where the history was cut into revisions. */
function poolOf(rows: WorkingSet, pool_key: string, moment: Moment): PoolRow {
  const pool = rows.get('pools', pool_key)
  return pool === undefined || pool.expires_at !== null ? newPool(pool_key, moment) : pool
}

/** The values of a tag are as many as people invent: one that counts nothing and has no cap of its own is forgotten. */
function put(rows: WorkingSet, pool: PoolRow, moment: Moment): void {
  const isIdle = isTagValue(pool.pool_key) && pool.in_use === 0 && pool.max_running === null
  rows.put('pools', { ...pool, expires_at: isIdle ? moment.context.fold_time : null, last_event_id: moment.event_id })
}

const newPool = (pool_key: string, { at, event_id }: Moment): PoolRow => ({
  pool_key,
  max_running: pool_key === GLOBAL_POOL_KEY ? GLOBAL_RUNNING_DEFAULT : null,
  in_use: 0,
  attempt_ms_mean: null,
  updated_by: null,
  reason: null,
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
  put(rows, { ...pool, max_running, ...by(payload), updated_at: moment.at, removed_at: null }, moment)
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
    const added = cappedTagsOf(source, run).filter((pool_key) => !task.pool_keys.includes(pool_key))
    if (added.length === 0) continue
    move(rows, added, 1, moment)
    rows.put('tasks', { ...task, pool_keys: [...task.pool_keys, ...added], last_event_id: moment.event_id })
  }
}

const by = ({ requested_by, reason }: { readonly requested_by?: string; readonly reason?: string }) => ({
  updated_by: requested_by ?? null,
  reason: reason ?? null,
})

export function foldPoolRemoved(rows: WorkingSet, { payload }: EventOf<'PoolRemoved'>, moment: Moment): Refusal | undefined {
  const { pool_key } = payload
  if (pool_key === GLOBAL_POOL_KEY)
    return refusal('ILLEGAL_TRANSITION', { message: 'The global pool has always a cap: define another one.' })
  const pool = rows.get('pools', pool_key)
  if (pool === undefined || pool.max_running === null)
    return refusal('UNKNOWN_ENTITY', { message: `The pool ${pool_key} has no cap of its own.` })
  put(rows, { ...pool, max_running: null, ...by(payload), updated_at: moment.at, removed_at: moment.at }, moment)
  return undefined
}
