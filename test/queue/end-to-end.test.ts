// From a turn to a worker and back, by a queue that delivers twice, in any order, and after its answer was lost: the
// product's own hand-over, client, worker and API, over real gRPC and HTTP.

import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLocalJWKSet } from 'jose'
import { openTasksClient, type TasksClient } from '../../src/activities/cloud-tasks/client.js'
import { createCloudTasksPort } from '../../src/activities/cloud-tasks/port.js'
import { systemClock, systemRandom } from '../../src/bin/clock.js'
import { locationSecret } from '../../src/core/location-secret.js'
import type { Secrets } from '../../src/core/token.js'
import { createOidcVerifier } from '../../src/oidc/verifier.js'
import { TALLIED } from '../../src/turn/watch.js'
import { asset } from '../../src/sdk/asset.js'
import { defineCodeLocation } from '../../src/sdk/code-location.js'
import { staticPartitions } from '../../src/sdk/partitions.js'
import { startWorker, type Worker } from '../../src/sdk/worker/worker.js'
import { createAutomationMetrics } from '../../src/telemetry/automation-metrics.js'
import { type FakeCloudTasks, PARENT, QUEUE, startFakeCloudTasks } from '../faults/cloud-tasks/fake.js'
import { ACCOUNT, createSigner, ISSUER } from '../faults/cloud-tasks/signer.js'
import { API_TOKEN, type ApiWorld, type Asker, createApiWorld, createAsker, MAIN } from '../fixtures/api-world.js'
import { freePort } from '../fixtures/free-port.js'
import { createRandom } from '../fixtures/random.js'
import { TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { until } from '../fixtures/until.js'

const SEED = Number(process.env['SERVO_TEST_SEED'] ?? 20_250_115)
const REPLAY = `SERVO_TEST_SEED=${SEED} NODE_OPTIONS=--experimental-vm-modules npx jest test/queue/end-to-end.test.ts`
const WORKER_SECRETS: Secrets = [{ secret_key_id: 'w1', secret: 'a secret of the tests' }]
const AUDIENCES = { worker: 'https://worker.example.com', api: 'https://servo.example.com' }
const RUNS = 6

let fake: FakeCloudTasks
let client: TasksClient
let worker: Worker
let world: ApiWorld
let people: Asker
/** Outside of the system: what the code of the assets did, by its own word. */
const effects: { readonly asset_key: string; readonly attempt_id: string; readonly run_id: string }[] = []

const random = createRandom(SEED)
const metrics = createAutomationMetrics(TALLIED)

beforeAll(async () => {
  const signer = await createSigner()
  const keys = createLocalJWKSet(signer.key_set)
  const proofFor = (audience: string) => createOidcVerifier({ audience, issuer: ISSUER, email: ACCOUNT }, keys, Date.now)
  fake = await startFakeCloudTasks({
    now: Date.now,
    signer,
    trouble: { random: random.fork('deliveries'), repeats: 0.4, lost: 0.2, shuffles: true },
  })
  const { retryConfig, ...rest } = fake.queue.settings()
  fake.queue.change({
    ...rest,
    retryConfig: { ...retryConfig, minBackoff: { seconds: 0, nanos: 50_000_000 }, maxBackoff: { seconds: 0, nanos: 200_000_000 } },
  })
  const faults = random.fork('calls')
  fake.faults((method) => {
    if (method !== 'CreateTask' || !faults.isTrue(0.3)) return undefined
    return { code: faults.pick([status.UNAVAILABLE, status.INTERNAL, status.ABORTED]), when: faults.pick(['before', 'after'] as const) }
  })
  client = openTasksClient({ project: PARENT.project, endpoint: fake.endpoint })
  const run = ({ asset_key, attempt_id, run_id }: (typeof effects)[number]) => void effects.push({ asset_key, attempt_id, run_id })
  const a = asset({ key: 'a', deps: [], run })
  const b = asset({ key: 'b', deps: ['a'], run })
  const c = asset({ key: 'c', deps: [], partitions: staticPartitions(['x', 'y', 'z']), run })
  const api_port = await freePort()
  worker = await startWorker({
    location: defineCodeLocation({ name: 'main', assets: [a, b, c] }),
    host: '127.0.0.1',
    port: 0,
    slots: 4,
    secrets: [locationSecret(WORKER_SECRETS[0], { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID, location_name: 'main' })],
    api_urls: [`http://127.0.0.1:${api_port}`],
    proof: proofFor(AUDIENCES.worker),
    identity: () => signer.sign({ aud: AUDIENCES.api }, Date.now()),
    worker_id: 'worker-1',
    clock: systemClock,
    random: systemRandom(),
    log: () => undefined,
  })
  const settings = {
    queue: QUEUE,
    service_account: ACCOUNT,
    audience: AUDIENCES.worker,
    deadline_seconds: 15,
    worker_secrets: WORKER_SECRETS,
  }
  const port = createCloudTasksPort({ ...settings, clock: systemClock, client })
  world = createApiWorld({ port, api_port, onAnswers: metrics.answers })
  const api = await world.start({ api_token: API_TOKEN, callback_proof: proofFor(AUDIENCES.api) })
  people = createAsker(api, { authorization: `Bearer ${API_TOKEN}` })
  expect(await people.post('/code-locations/main/deploy', { ...MAIN, worker_url: worker.url })).toMatchObject({ status: 202 })
  fake.goOn()
})
afterAll(async () => {
  await worker?.close()
  await client?.close()
  await fake?.stop()
  await world?.close()
})

test(`INV-4 side effect idempotency: attempts that a queue is given twice and delivers twice take effect once (${REPLAY})`, async () => {
  const asked = await Promise.all(
    Array.from({ length: RUNS }, () => people.post('/runs?wait=true', { selection: ['a', 'b', 'c'], partitions: { keys: ['x', 'y'] } })),
  )
  const run_ids = asked.map(({ body }) => String(body['run_id']))
  expect(new Set(run_ids).size).toBe(RUNS)
  const states = await until(`${RUNS} runs have ended`, async () => {
    await world.hand_over?.sweep()
    await world.turn.run()
    const runs = (await world.look('runs')).rows
    const ended = runs.filter((row) => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(String(row['state'])))
    return ended.length === RUNS && ended.map((row) => row['state'])
  })
  expect(states).toEqual(Array.from({ length: RUNS }, () => 'SUCCEEDED'))
  const tasks = (await world.look('tasks')).rows
  expect(tasks.every((row) => row['state'] === 'SUCCEEDED' && row['attempt'] === 1)).toBe(true)
  // What the code did, against what the tables say: one effect for each attempt, and nothing besides.
  expect(effects.map(({ attempt_id }) => attempt_id).sort()).toEqual(tasks.map((row) => String(row['attempt_id'])).sort())
  const names = (await world.look('dispatch_outbox')).rows.map((row) => `${QUEUE}/tasks/${String(row['queue_task_name'])}`)
  expect([...new Set(fake.deliveries.map(({ name }) => name))].sort()).toEqual([...names].sort())
  // The queue was as bad as it was asked to be, or nothing is proved.
  await until('the queue has nothing left', () => fake.queue.names().length === 0)
  expect(fake.deliveries.length).toBeGreaterThan(tasks.length)
  expect(fake.deliveries.every(({ status: answered }) => answered === 200 || answered === 429)).toBe(true)
  expect(fake.calls.filter(({ method }) => method === 'CreateTask').length).toBeGreaterThan(tasks.length)
})

test('what the queue is known to have is not given to it again, and a worker that is away is its affair', async () => {
  fake.faults(() => undefined)
  fake.setTrouble(undefined)
  const { rateLimits, retryConfig, ...rest } = fake.queue.settings()
  fake.queue.change({ ...rest, rateLimits, retryConfig, state: 'PAUSED' })
  const before = fake.calls.length
  const repairs = async () => /^servo_repairs_total\{kind="attempt_sent_again"\} (\d+)$/m.exec(await metrics.text())?.[1]
  const repairs_before = await repairs()
  expect(repairs_before).toBeDefined()
  await people.post('/runs?wait=true', { selection: 'a' })
  await world.turn.run()
  await world.hand_over?.settled()
  expect(fake.calls.length - before).toBe(1)
  const row = async () => (await world.look('dispatch_outbox')).rows.find(({ closed_at }) => closed_at === null)
  expect(await row()).toMatchObject({ status: 'PENDING' })
  // The sweep asks once more, hears that it is there, and says so.
  world.passSeconds(10)
  await world.hand_over?.sweep()
  await world.turn.run()
  expect(fake.calls.length - before).toBe(2)
  expect(await row()).toMatchObject({ status: 'ACKED', port: 'CLOUD_TASKS' })
  // Which mends nothing.
  expect(await repairs()).toBe(repairs_before)
  for (let round = 0; round < 3; round++) {
    world.passSeconds(10)
    await world.hand_over?.sweep()
    await world.turn.run()
  }
  expect(fake.calls.length - before).toBe(2)
  fake.queue.change({ ...rest, rateLimits, retryConfig, state: 'RUNNING' })
  await until('the task has succeeded', async () => {
    await world.turn.run()
    return (await world.look('tasks')).rows.every(({ state }) => state === 'SUCCEEDED')
  })
  expect(fake.calls.length - before).toBe(2)
})
