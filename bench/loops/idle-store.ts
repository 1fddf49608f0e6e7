// The requests that a workspace which has nothing to do makes to a bucket in a day: what its processes ask for all the time is
// counted over a stretch, and what a turn and a look of maintenance cost is counted by itself and multiplied by how often they come.

import { asyncLocalStorage, type Context } from '@temporalio/activity'
import { createMaintenance } from '../../src/activities/maintenance.js'
import { systemRandom } from '../../src/bin/clock.js'
import { type Deps, openDeps } from '../../src/bin/deps.js'
import { openClient } from '../../src/bin/temporal.js'
import { mergeBase } from '../../src/compactor/merge.js'
import { BACKSTOP_IDLE_MS_MAX } from '../../src/core/limits.js'
import { NAMESPACE_DEFAULT, workflowId } from '../../src/core/names.js'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { createAppender } from '../../src/ledger/append.js'
import { RETENTION } from '../../src/projections/retention.js'
import { createReconcile } from '../../src/turn/controllers.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createTurn } from '../../src/turn/turn.js'
import { startFakeGcs } from '../../test/fixtures/fake-gcs.js'
import { TENANT_ID, WORKSPACE_ID } from '../../test/fixtures/say.js'
import { steadyDeploy, steadyRuns } from '../../test/fixtures/steady-runs.js'
import { type System, startSystem } from '../../test/fixtures/system.js'
import type { Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'
import { countActions, readRuns } from './actions.js'
import { type CountingProxy, countsSince, countsText, startCountingProxy, totalOf } from './counting-proxy.js'
import { maintenanceLooksADay } from './maintenance-looks.js'

/** That of the events below. */
const SCOPE = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
const REVISIONS = 505
const QUICK_REVISIONS = 40
const SCRAPE_EVERY_MS = 15 * SECOND_MS
/** What processes do when they start. */
const SETTLE_MS = 75 * SECOND_MS
const STRETCH_MS = 4 * MINUTE_MS
const QUICK_STRETCH_MS = MINUTE_MS
const SECRET = { secret_key_id: 's1', secret: 'a-secret-of-the-benchmark' }

const sleep = (duration_ms: number) => new Promise((resolve) => setTimeout(resolve, duration_ms))

export async function measureIdleStore(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const [revisions, stretch_ms] = is_quick ? [QUICK_REVISIONS, QUICK_STRETCH_MS] : [REVISIONS, STRETCH_MS]
  const gcs = await startFakeGcs()
  const proxy = await startCountingProxy(gcs.endpoint)
  try {
    await build(gcs.endpoint, gcs.bucket, revisions)
    const { turn, look } = await measureCalls(proxy, gcs.bucket)
    const running = await measureRunning(proxy, gcs.bucket, stretch_ms)
    const background = totalOf(running.counts) - running.turns * totalOf(turn)
    const parts = {
      background: (background * DAY_MS) / running.duration_ms,
      turns: totalOf(turn) * (DAY_MS / BACKSTOP_IDLE_MS_MAX),
      maintenance: totalOf(look) * maintenanceLooksADay(),
    }
    const setup =
      `${revisions} revisions on fake-gcs-server, an automation and an API scraped every 15 s; ` +
      `${Math.round(running.duration_ms / SECOND_MS)} s multiplied up to ${Math.round(parts.background)} a day; turns every 10 minutes, ` +
      `${totalOf(turn)} requests each; ${maintenanceLooksADay()} looks of maintenance, ${totalOf(look)} each`
    const value = parts.background + parts.turns + parts.maintenance
    report.add({ name: 'store_requests_idle_day', value, unit: 'requests', target: '<= 10000', setup })
    report.add({ name: 'store_requests_a_look', value: totalOf(look), unit: 'requests', target: '-', setup: countsText(look) })
    report.add({
      name: 'store_requests_stretch',
      value: totalOf(running.counts),
      unit: 'requests',
      target: '-',
      setup: countsText(running.counts),
    })
  } finally {
    await proxy.close()
    await gcs.stop()
  }
}

const placeOf = (gcs_endpoint: string, bucket: string) => ({ ...SCOPE, store: `gs://${bucket}`, gcs_endpoint })

/** An emulator takes the pointer more often than once a second, so that it is written in seconds. */
async function build(endpoint: string, bucket: string, revisions: number): Promise<void> {
  const deps = await openDeps(placeOf(endpoint, bucket))
  const store = { ...deps.store, same_name_interval_ms: 0 }
  const parts = { ...deps, store, retention: RETENTION }
  const appender = createAppender({ ...parts, server_time: Date.now(), closedThrough: () => 0 })
  const turn = createTurn({ ...parts, appender, reconcile: foldOnly })
  await appender.append([...steadyDeploy(() => Date.now(), 'day')])
  // Whole runs: of one that is open, the automation would look after its attempts.
  const events = [...steadyRuns({ runs: Math.ceil(revisions / 4), open_runs: 7, unit: 'day', now: () => Date.now() })]
  const size = Math.ceil(events.length / (revisions - 2))
  for (let start = 0; start < events.length; start += size) {
    await appender.appendTogether(events.slice(start, start + size).map((event) => [event]))
    const { merge_due } = await turn.run()
    if (merge_due) await mergeBase(parts)
  }
  await deps.close()
}

/** What a turn and a look of maintenance ask for that find nothing, in a process that has made one before. */
async function measureCalls(proxy: CountingProxy, bucket: string) {
  const deps = await openDeps(placeOf(proxy.endpoint, bucket))
  const parts = { ...deps, retention: RETENTION, random: systemRandom() }
  const appender = createAppender({ ...parts, server_time: Date.now(), closedThrough: () => 0 })
  const turn = createTurn({ ...parts, appender, reconcile: createReconcile({ secret: SECRET }) })
  const look = lookOf(parts)
  const second = async (work: () => Promise<unknown>) => {
    await work()
    const before = proxy.counts()
    await work()
    return countsSince(before, proxy.counts())
  }
  const measured = { turn: await second(() => turn.run()), look: await second(look) }
  await deps.close()
  return measured
}

/** As the maintenance loop calls it by the clock. */
function lookOf(parts: Deps & { readonly retention: typeof RETENTION }): () => Promise<unknown> {
  const { maintain } = createMaintenance({ ...parts, stopping: new AbortController().signal })
  const cancellationSignal = new AbortController().signal
  const context = { heartbeat: () => undefined, cancellationSignal, cancelled: new Promise(() => undefined) } as unknown as Context
  return () => asyncLocalStorage.run(context, () => maintain({ ...SCOPE, merge: true, collect: true }))
}

async function measureRunning(proxy: CountingProxy, bucket: string, duration_ms: number) {
  const environment = {
    SERVO_STORE: `gs://${bucket}`,
    STORAGE_EMULATOR_HOST: proxy.endpoint,
    SERVO_TENANT: TENANT_ID,
    SERVO_WORKSPACE: WORKSPACE_ID,
  }
  const system = await startSystem({ environment })
  const temporal = openClient({ address: system.environment['TEMPORAL_ADDRESS'] ?? '', namespace: NAMESPACE_DEFAULT })
  const turnsSoFar = async () => {
    const runs = await readRuns(temporal.client, `WorkflowId = "${workflowId(SCOPE, 'workspace')}"`)
    return countActions(runs).activity
  }
  const scraping = scrape(system)
  try {
    await sleep(SETTLE_MS)
    const [turns_before, before, began] = [await turnsSoFar(), proxy.counts(), performance.now()]
    await sleep(duration_ms)
    const counts = countsSince(before, proxy.counts())
    return { counts, duration_ms: performance.now() - began, turns: (await turnsSoFar()) - turns_before }
  } finally {
    scraping.stop()
    await temporal.close()
    await system.stop()
  }
}

function scrape({ environment }: System) {
  const timer = setInterval(() => void fetch(`${environment['SERVO_API_URL']}/metrics`).then((answer) => answer.text()), SCRAPE_EVERY_MS)
  return { stop: () => clearInterval(timer) }
}
