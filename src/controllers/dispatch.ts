// Dispatches tasks that are ready, or whose retry is due, as far as there is room for them now: first those that a slot is free
// for, then those that are prefetched. What does not fit stays as it is and is asked for again when something ends.

import { assert } from '../core/errors.js'
import { GLOBAL_POOL_KEY } from '../core/ids.js'
import { dispatchId, queueTaskName } from '../core/keys.js'
import type { Draft } from '../events/draft.js'
import type { CodeLocationRow } from '../projections/asset-table.js'
import { inDispatchOrder, isDue } from '../projections/dispatch-order.js'
import { capOf, cappedTagsIn, dispatchPoolKeys, type PoolSource, poolSourceOf } from '../projections/pool.js'
import type { TaskRow } from '../projections/run-table.js'
import { isOver } from '../projections/state-machine.js'
import type { WorkingSet } from '../projections/working-set.js'
import type { Decision, Identity, ReconcileState } from './decision.js'
import { prefetchCounts } from './prefetch.js'

type AttemptIdentity = Pick<Identity, 'secret_key_id' | 'attemptIdOf'>

/** It looks at every task in memory once and sorts those that could start; a draft and its two ids are made for what starts
 *  alone. Measured on two busy cores with 8 slots, free and then taken: of 1,000 ready tasks 2 ms and 0.2 ms, of 100,000
 *  48 ms and 11 ms. */
export function reconcileDispatch(
  { rows, now, publish_interval_ms }: Pick<ReconcileState, 'rows' | 'now' | 'publish_interval_ms'>,
  identity: AttemptIdentity,
): readonly Decision[] {
  const source = poolSourceOf(rows)
  const tasks = rows.hotRows('tasks')
  const room = createRoom(source, prefetchCounts({ source, tasks: () => tasks, now, publish_interval_ms }))
  if (!room.isThere(GLOBAL, 'free')) return []
  const locationOf = locationsOf(rows)
  const taggedOf = runsThatMayRun(rows, room)
  const waiting = tasks.filter((task) => {
    const tagged = isDue(task, now) ? taggedOf(task.run_id) : undefined
    const location = tagged === undefined ? undefined : locationOf(task)
    // A pool that is full already is so for all of them: they are not even sorted.
    return location !== undefined && room.isThere(dispatchPoolKeys(task, location.location_name, NO_TAGS), 'prefetched')
  })
  const decisions: Decision[] = []
  /** Answers those that there was no room for. */
  function dispatchInto(places: Places, inOrder: readonly TaskRow[]): readonly TaskRow[] {
    const left: TaskRow[] = []
    for (const task of inOrder) {
      if (!room.isThere(GLOBAL, places)) break
      const [tagged, location] = [taggedOf(task.run_id), locationOf(task)]
      assert(tagged !== undefined && location !== undefined, `The run or the location of ${task.task_key} went away during a round.`)
      const pool_keys = dispatchPoolKeys(task, location.location_name, tagged)
      if (!room.isThere(pool_keys, places)) left.push(task)
      else {
        room.take(pool_keys)
        decisions.push({
          said_by: 'dispatch',
          drafts: [dispatch(task, location, identity)],
          due: DUE[task.state === 'READY' ? 'READY' : 'RETRY_WAIT'],
        })
      }
    }
    return left
  }
  // A place in a pool goes to an attempt that can start now before one that would hold it while it waits for a slot.
  const left = dispatchInto('free', waiting.sort(inDispatchOrder))
  dispatchInto('prefetched', left)
  return decisions
}

/** free: below every cap. prefetched: below every cap but the slots of the location, which are exceeded by what it prefetches. */
type Places = 'free' | 'prefetched'

const GLOBAL = [GLOBAL_POOL_KEY]

const NO_TAGS: readonly never[] = []

const DUE = { READY: { by: 'rows', late_as: 'dispatch_late' }, RETRY_WAIT: { by: 'time', at: null } } as const

/** The pools of a run's tags; undefined: nothing of it may be dispatched, because it is over, being cancelled, or has a tag
 *  that is full already. Asked once a run: its tasks are many. */
function runsThatMayRun(rows: WorkingSet, room: Room): (run_id: string) => readonly string[] | undefined {
  const cappedTags = cappedTagsIn(rows.hotRows('pools'))
  const answers = new Map<string, readonly string[] | undefined>()
  return (run_id) => {
    if (answers.has(run_id)) return answers.get(run_id)
    const run = rows.get('runs', run_id)
    const mayRun = run !== undefined && run.state !== 'CANCELLING' && !isOver(run.state)
    const tagged = mayRun ? cappedTags(run) : undefined
    const answer = tagged === undefined || !room.isThere(tagged, 'free') ? undefined : tagged
    answers.set(run_id, answer)
    return answer
  }
}

/** Where the asset is served now: one that went to another location takes its tasks along. */
function locationsOf(rows: WorkingSet): (task: TaskRow) => CodeLocationRow | undefined {
  const locations = new Map(rows.hotRows('code_locations').map((location) => [location.location_name, location]))
  return ({ asset_key, location_name }) => locations.get(rows.currentDefinition(asset_key)?.location_name ?? location_name)
}

type Room = ReturnType<typeof createRoom>

/** What is left in the pools, less what this round has put in. */
function createRoom(source: PoolSource, prefetched: (pool_key: string) => number) {
  const left = new Map<string, number>()
  function leftIn(pool_key: string): number {
    const known = left.get(pool_key)
    if (known !== undefined) return known
    const free = (capOf(source, pool_key) ?? Number.POSITIVE_INFINITY) - (source.pool(pool_key)?.in_use ?? 0)
    left.set(pool_key, free)
    return free
  }
  return {
    isThere(pool_keys: readonly string[], places: Places): boolean {
      for (const pool_key of pool_keys) {
        const free = leftIn(pool_key)
        if (free <= 0 && (places === 'free' || free + prefetched(pool_key) <= 0)) return false
      }
      return true
    },
    take(pool_keys: readonly string[]): void {
      for (const pool_key of pool_keys) left.set(pool_key, leftIn(pool_key) - 1)
    },
  }
}

function dispatch(task: TaskRow, { location_name, worker_queue }: CodeLocationRow, { secret_key_id, attemptIdOf }: AttemptIdentity): Draft {
  const { run_id, task_key, definition_hash, attempt: previous_attempt } = task
  const name = { run_id, task_key, attempt: previous_attempt + 1 }
  const dispatch_id = dispatchId(name)
  return {
    event_type: 'DispatchRequested',
    idempotency_key: dispatch_id,
    correlation_id: run_id,
    basis: { task_state: task.state === 'READY' ? 'READY' : 'RETRY_WAIT', previous_attempt, definition_hash },
    payload: {
      ...name,
      attempt_id: attemptIdOf(name),
      secret_key_id,
      queue_task_name: queueTaskName(dispatch_id),
      location_name,
      worker_queue,
    },
  }
}
