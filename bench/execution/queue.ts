// Work that waits and work that goes on: runs of many tasks that wait for nothing but room, and runs of tasks that were
// started and are alive. It is said as workers and a turn would say it.

import { sha256 } from '../../src/core/hash.js'
import { ulidAt } from '../../src/core/ulid.js'
import type { LedgerEvent } from '../../src/events/event.js'
import { createSpeaker, type Said, type Speaker, ulidOf } from '../../test/fixtures/say.js'

/** A run's tasks are assets of their own, so that no two look alike. */
export const TASKS_PER_RUN = 100
const LOCATION = 'queue'
/** Nothing of it is due while it is measured. */
const HEARTBEAT_SECONDS = 86_400
/** Every third asset is in a pool that is full as well. */
const POOL_EVERY = 3
const POOL = 'db'
const TAGS = { team: 'core', source: 'bench' }

export type QueueSize = { readonly queued: number; readonly active: number }

const assetKey = (index: number): string => `queue.asset_${String(index).padStart(3, '0')}`

/** The location has as many slots as tasks are active, so that nothing else may start, and the pool is full as well. The cap of
 *  the tag has room: a full one would spare the turn a look at each task. */
export function* queueStory({ queued, active }: QueueSize, now: () => number): Generator<LedgerEvent> {
  const speaker = createSpeaker()
  const said = (name: string, more: Said = {}): Said => ({ at: now(), event_id: ulidAt(now(), sha256(`queue/${name}`)), ...more })
  const location = speaker.locationDeployed(LOCATION, 0, { slots: active, asset_count: TASKS_PER_RUN }, said('location'))
  const defined = Array.from({ length: TASKS_PER_RUN }, (_, index) =>
    speaker.assetDefined(
      assetKey(index),
      {
        heartbeat_timeout_seconds: HEARTBEAT_SECONDS,
        retry: { max_attempts: 3, backoff_seconds: 30 },
        ...(index % POOL_EVERY === 0 ? { pools: [POOL] } : {}),
      },
      LOCATION,
      said(`asset/${index}`, { causation_id: location.event_id }),
    ),
  )
  yield location
  yield* defined
  const inPool = Math.ceil(TASKS_PER_RUN / POOL_EVERY) * Math.ceil(active / TASKS_PER_RUN)
  yield speaker.poolDefined(`pool:${POOL}`, inPool, said('pool'))
  yield speaker.poolDefined('tag:team=core', active + queued, said('tag'))
  const hashes = defined.map(({ payload }) => payload.definition_hash)
  for (let run = 0; run * TASKS_PER_RUN < active; run++) yield* activeRun(speaker, `active/${run}`, hashes, said)
  for (let run = 0; run * TASKS_PER_RUN < queued; run++) yield* queuedRun(speaker, `queued/${run}`, hashes, said)
}

type SaidNow = (name: string) => Said

function* queuedRun(speaker: Speaker, name: string, hashes: readonly string[], said: SaidNow): Generator<LedgerEvent, string> {
  const keys = hashes.map((_, index) => assetKey(index))
  const requested = speaker.runRequested(`user:${name}`, { assets: { keys }, tags: TAGS }, said(name))
  const { run_id } = requested.payload
  yield requested
  yield speaker.planPage(
    {
      run_id,
      page: 0,
      pages: 1,
      task_offset: 0,
      task_count: keys.length,
      definitions: keys.map((asset_key, index) => ({ asset_key, definition_hash: hashes[index] as string })),
      tasks: keys.map((k, d) => ({ k, d, p: null, n: 1 })),
    },
    requested.event_id,
    said(`${name}/plan`),
  )
  return run_id
}

function* activeRun(speaker: Speaker, name: string, hashes: readonly string[], said: SaidNow): Generator<LedgerEvent> {
  const run_id = yield* queuedRun(speaker, name, hashes, said)
  for (const [index, definition_hash] of hashes.entries()) {
    const attempt = { run_id, task_key: assetKey(index), attempt: 1 }
    const basis = { task_state: 'READY', previous_attempt: 0, definition_hash } as const
    yield speaker.dispatchRequested(attempt, basis, { location_name: LOCATION }, said(`${name}/${index}/dispatch`))
    yield speaker.taskStarted(attempt, { execution_id: ulidOf(`${name}/${index}`) }, said(`${name}/${index}/start`))
  }
}
