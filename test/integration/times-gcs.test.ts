// Runs on a bucket whose processes have clocks of their own, minutes apart: two APIs, an automation and a worker, each with its
// own way to a real fake-gcs-server, near or far, by a front end whose clock is a little off, and which tells whole seconds.

import { Agent } from 'node:http'
// The latencies of the ways to the store.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { DispatchPort } from '../../src/activities/dispatch.js'
import { createHandOver } from '../../src/activities/hand-over.js'
import { createApi } from '../../src/api/app.js'
import type { Dispatch } from '../../src/api/contract/worker.js'
import type { Api } from '../../src/api/http/deps.js'
import { openAppender } from '../../src/bin/appender.js'
import { systemClock, systemRandom } from '../../src/bin/clock.js'
import { LISTING_WINDOW_MS } from '../../src/core/limits.js'
import { type Clock, MINUTE_MS } from '../../src/core/time.js'
import { RETENTION } from '../../src/projections/retention.js'
import { type LooseRow, TABLE_NAMES, type TableName } from '../../src/projections/tables.js'
import { createCurrent } from '../../src/readers/current.js'
import { createReader } from '../../src/readers/reader.js'
import { createGcsStore } from '../../src/storage/gcs.js'
import { scopedStore } from '../../src/storage/scoped.js'
import { createApiMetrics } from '../../src/telemetry/api-metrics.js'
import { createReconcile } from '../../src/turn/controllers.js'
import { createTurn } from '../../src/turn/turn.js'
import { type Relay, send, startRelay } from '../faults/relay.js'
import { createAsker, MAIN, SECRETS } from '../fixtures/api-world.js'
import { type FakeGcs, startFakeGcs } from '../fixtures/fake-gcs.js'
import { createPlainFiles } from '../fixtures/plain-files.js'
import { createRandom } from '../fixtures/random.js'
import { TENANT_ID, ulidOf, WORKSPACE_ID } from '../fixtures/say.js'
import { until } from '../fixtures/until.js'
import { checkTimes } from '../invariants/time-checks.js'

const SEED = Number(process.env['SERVO_TEST_SEED'] ?? 26_016)
const TIMEOUT_MS = 180_000
/** The server may have to be built first. */
const SET_UP_TIMEOUT_MS = 600_000
const RUNS = 16
const WORK_MS = 60
const scope = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
const random = createRandom(`times-gcs ${SEED}`)

let server: FakeGcs
const apis: Api[] = []
const relays: Relay[] = []
beforeAll(async () => {
  server = await startFakeGcs()
}, SET_UP_TIMEOUT_MS)
afterAll(async () => {
  await Promise.all(apis.map((api) => api.close()))
  await Promise.all(relays.map((relay) => relay.close()))
  await server.stop()
})

/** How a process stands to the others: its clock is minutes off and drifts, its way to the store takes so long each way, and
 *  the front end that answers it is off by some milliseconds. */
type Place = { readonly off_ms: number; readonly drift: number; readonly way_ms: readonly [number, number]; readonly front_end_ms: number }

async function startFrontEnd({ way_ms, front_end_ms }: Place): Promise<Relay> {
  const agent = new Agent({ keepAlive: true })
  const port = Number(new URL(server.endpoint).port)
  const relay = await startRelay(async (received) => {
    await sleep(random.between(...way_ms))
    const answer = await send(port, received, { agent })
    const headers = { ...answer.headers, date: new Date(Date.now() + front_end_ms).toUTCString() }
    await sleep(random.between(...way_ms))
    return { kind: 'answer', answer: { ...answer, headers } }
  })
  relays.push(relay)
  return relay
}

/** It counts from anywhere. */
function clockOf({ off_ms, drift }: Place): Clock {
  const began = random.between(0, 1e9)
  return {
    now: () => systemClock.now() + off_ms,
    elapsed: () => began + systemClock.elapsed() * (1 + drift),
    sleep: systemClock.sleep,
  }
}

async function startProcess(place: Place) {
  const clock = clockOf(place)
  const { url } = await startFrontEnd(place)
  const bucket = await createGcsStore({ bucket: server.bucket, api_endpoint: url, clock })
  const store = scopedStore(bucket, `tenant=${TENANT_ID}/workspace=${WORKSPACE_ID}/`)
  const files = createPlainFiles({ store })
  const own = { store, files, clock, random: systemRandom(), scope, listing_window_ms: LISTING_WINDOW_MS }
  return { ...own, appender: await openAppender(own), reader: createReader({ store, files }) }
}

async function startApi(place: Place, poke: () => void) {
  const own = await startProcess(place)
  const api = await createApi({
    ...own,
    version: '0.1.0',
    poke,
    executions: new Map(),
    start_logs: new Map(),
    current: createCurrent(own),
    secrets: SECRETS,
    api_tokens: [],
    allowed_hosts: [],
    rate_limit_per_minute: 100_000,
    log: false,
    readiness: async () => [],
    metrics: createApiMetrics(async () => ({ sequence: 0, lag_ms: 0, unfolded_segments: 0, unfolded_events: 0, turn_overdue_ms: 0 })),
  })
  await api.listen({ host: '127.0.0.1', port: 0 })
  apis.push(api)
  return createAsker(api)
}

/** What a process says of the store's time is earlier than it is by no more than an answer of the store takes to come back, once
 *  it has written; by a second more before. */
const WRITTEN_LATE_MS = 400
const FIRST_LATE_MS = 1_400
const FRESH_MAX = 8
const NEAR: Place = { off_ms: 7 * MINUTE_MS, drift: 0.000_2, way_ms: [0, 4], front_end_ms: 20 }
const FAR: Place = { off_ms: -3 * MINUTE_MS, drift: 0.000_1, way_ms: [80, 160], front_end_ms: -20 }

type Answered = { readonly status: number; readonly body: unknown }
function expectOk({ status, body }: Answered): void {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
}

test(
  'I33 has no row whose times go back, and tells how long things took, whatever the clocks of the processes say',
  async () => {
    const askers: ReturnType<typeof createAsker>[] = []
    const anyApi = () => random.pick(askers)
    const works: Promise<void>[] = []

    const took = new Map<string, { readonly least_ms: number; readonly most_ms: number; readonly late_ms: number }>()
    let fresh = 0

    /** What a worker does, each callback with another API, now and then with one that has just been started. */
    async function work({ attempt_id, task_token, sequence }: Dispatch): Promise<void> {
      const said = { execution_id: ulidOf(`execution ${attempt_id}`), sequence }
      const headers = { authorization: `Bearer ${task_token}` }
      const began = systemClock.elapsed()
      expectOk(await anyApi().post(`/attempts/${attempt_id}/started`, { ...said, worker_id: 'w' }, headers))
      const started = systemClock.elapsed()
      const isFresh = fresh < FRESH_MAX && random.isTrue(0.5)
      if (isFresh) fresh += 1
      const finishing = isFresh ? await startApi(NEAR, poke) : anyApi()
      await systemClock.sleep(WORK_MS)
      const finished = systemClock.elapsed()
      const success = { outcome: 'SUCCEEDED', materialization_id: ulidOf(`materialization ${attempt_id}`) }
      expectOk(await finishing.post(`/attempts/${attempt_id}/completed`, { ...said, ...success }, headers))
      const late_ms = isFresh ? FIRST_LATE_MS : WRITTEN_LATE_MS
      took.set(attempt_id, { least_ms: finished - started, most_ms: systemClock.elapsed() - began, late_ms })
    }
    const taken = new Set<string>()
    const port: DispatchPort = {
      port: 'DIRECT',
      async send(_url, dispatches) {
        for (const dispatch of dispatches.filter(({ attempt_id }) => !taken.has(attempt_id))) {
          taken.add(dispatch.attempt_id)
          works.push(work(dispatch))
        }
        return dispatches.map(() => ({ answer: 'ACCEPTED' }))
      },
    }

    const automation = await startProcess({ off_ms: 40_000, drift: -0.000_2, way_ms: [1, 8], front_end_ms: 0 })
    let wanted = 0
    const poke = () => void (wanted += 1)
    const submit = { scope, appender: automation.appender, random: automation.random, poke }
    const hand_over = createHandOver({
      ...automation,
      current: createCurrent(automation),
      port,
      submit,
      secrets: SECRETS,
      callback_url: 'http://127.0.0.1:1',
      log: () => undefined,
    })
    const turn = createTurn({
      ...automation,
      retention: RETENTION,
      reconcile: createReconcile({ secret: SECRETS[0] }),
      onPublish: (workspace) => hand_over.onPublish(workspace),
    })
    let isOver = false
    const turning = (async () => {
      for (let done = 0; !isOver; ) {
        if (wanted === done) await systemClock.sleep(5)
        done = wanted
        while ((await turn.run()).more) continue
      }
    })()

    const rowsOf = async (table: TableName): Promise<readonly LooseRow[]> =>
      (await (await automation.reader.latest())?.page(table, { limit: 10_000 }))?.rows ?? []
    try {
      askers.push(await startApi(NEAR, poke), await startApi(FAR, poke))
      expectOk(await anyApi().post('/code-locations/main/deploy', MAIN))
      // What an API says first it says after one answer of the store; by its first write it knows the time well.
      for (const asker of askers) expectOk(await asker.put('/pools/pool:warm', { max_running: 100 + askers.indexOf(asker) }))
      for (let run = 0; run < RUNS; run++) {
        expectOk(await anyApi().post('/runs', { selection: ['a', 'b'] }))
        await systemClock.sleep(random.below(300))
      }
      await until(
        'all runs are over',
        async () => (await rowsOf('runs')).filter(({ state }) => state === 'SUCCEEDED').length === RUNS,
        TIMEOUT_MS,
      )
      await Promise.all(works)
    } finally {
      isOver = true
    }
    await turning

    const tables = new Map<TableName, readonly LooseRow[]>()
    for (const table of TABLE_NAMES) tables.set(table, await rowsOf(table))
    expect({ seed: SEED, problems: checkTimes(tables, 'In the end') }).toEqual({ seed: SEED, problems: [] })
    const tasks = tables.get('tasks') ?? []
    expect(tasks).toHaveLength(2 * RUNS)
    const wrong = tasks.flatMap(({ attempt_id, started_at, finished_at }) => {
      const known = took.get(String(attempt_id))
      const row_ms = Number(finished_at) - Number(started_at)
      const isRight = known !== undefined && row_ms >= known.least_ms - known.late_ms && row_ms <= known.most_ms + known.late_ms
      return isRight ? [] : [{ attempt_id, row_ms, ...known }]
    })
    expect({ seed: SEED, wrong }).toEqual({ seed: SEED, wrong: [] })
    // Of times to the second all would be.
    const whole = tasks.filter(({ dispatched_at }) => Number(dispatched_at) % 1_000 === 0)
    expect(whole.length).toBeLessThan(RUNS)
  },
  TIMEOUT_MS,
)
