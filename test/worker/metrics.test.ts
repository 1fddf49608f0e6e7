// What Prometheus reads from a worker. Without it no rule could see that a worker is gone.

import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { systemClock, systemRandom } from '../../src/bin/clock.js'
import { asset } from '../../src/sdk/asset.js'
import { defineCodeLocation } from '../../src/sdk/code-location.js'
import { startWorker, type Worker, type WorkerOptions } from '../../src/sdk/worker/worker.js'
import { type Receiver, startReceiver } from '../fixtures/callback-receiver.js'
import { until } from '../fixtures/until.js'
import { livingDispatch, newAttempt } from './living.js'
import { readStory } from './stories.js'

const template = readStory('skip').request.dispatches[0] as Dispatch

let receiver: Receiver
let worker: Worker
let ends: Set<() => void>
beforeEach(async () => {
  receiver = await startReceiver({ heartbeat_interval_ms: 30 })
  ends = new Set()
  worker = await serve()
})
afterEach(async () => {
  await worker.close()
  await receiver.close()
  expect(receiver.faults).toEqual([])
})

function serve(options: Partial<WorkerOptions> = {}): Promise<Worker> {
  const one = asset({ key: 'one', deps: ['source'], run: () => new Promise<void>((resolve) => ends.add(resolve)) })
  return startWorker({
    location: defineCodeLocation({ name: 'here', assets: [one] }),
    host: '127.0.0.1',
    port: 0,
    slots: 2,
    secrets: [],
    api_urls: [receiver.api_url],
    worker_id: 'worker-1',
    version: '1.2.3-"x"',
    clock: systemClock,
    random: systemRandom(),
    log: () => undefined,
    stop_grace_ms: 50,
    ...options,
  })
}

const scrape = () => fetch(`${worker.url}/metrics`)
const values = async (): Promise<Readonly<Record<string, number>>> =>
  Object.fromEntries([...(await (await scrape()).text()).matchAll(/^(servo_\S+) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)]))

async function dispatch(members: Partial<Dispatch> = {}): Promise<string> {
  const attempt_id = newAttempt()
  const one = { ...livingDispatch(receiver, template, attempt_id), asset_key: 'one', location_name: 'here', ...members }
  const body = JSON.stringify({ protocol: 'servo-worker-v1', dispatches: [one] })
  expect(await (await fetch(`${worker.url}/servo/v1/dispatch`, { method: 'POST', body })).json()).toMatchObject({
    answers: [{ answer: 'ACCEPTED' }],
  })
  return attempt_id
}

test('are there before anything has run, as text of Prometheus, with the version', async () => {
  const response = await scrape()
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  const text = await response.text()
  expect(text).toContain('\nservo_worker_build_info{version="1.2.3-\\"x\\""} 1\n')
  expect(text.endsWith('\n')).toBe(true)
  expect(await values()).toMatchObject({
    servo_worker_slots: 2,
    servo_worker_running: 0,
    servo_worker_waiting: 0,
    'servo_worker_heartbeats_total{outcome="taken"}': 0,
    'servo_worker_heartbeats_total{outcome="refused"}': 0,
    'servo_worker_heartbeats_total{outcome="unanswered"}': 0,
  })
})

test('are served without a signature by a worker that has a secret, and nothing else is', async () => {
  await worker.close()
  worker = await serve({ secrets: [{ secret_key_id: 'w1', secret: 'a-secret-for-tests-only' }] })
  expect((await scrape()).status).toBe(200)
  const statusOf = async (method: string, path: string) => (await fetch(`${worker.url}${path}`, { method })).status
  expect([await statusOf('POST', '/metrics'), await statusOf('GET', '/metrics/x'), await statusOf('POST', '/servo/v1/dispatch')]).toEqual([
    404, 404, 401,
  ])
})

test('say how many attempts run and wait for a slot, and go back to none', async () => {
  await dispatch()
  await dispatch()
  await dispatch({ wait_for_slot: { place: 1, ms_max: 60_000 } })
  expect(await values()).toMatchObject({ servo_worker_running: 2, servo_worker_waiting: 1 })
  await until('all three have run', async () => {
    for (const end of ends) end()
    const { servo_worker_running, servo_worker_waiting } = await values()
    return ends.size === 3 && servo_worker_running === 0 && servo_worker_waiting === 0
  })
})

test('count heartbeats by what became of them', async () => {
  const status = { heartbeat: 200 }
  receiver.answerBy(({ path }) => (path === 'heartbeat' && status.heartbeat !== 200 ? { status: status.heartbeat, body: {} } : undefined))
  await dispatch()
  const count = async (outcome: string) => (await values())[`servo_worker_heartbeats_total{outcome="${outcome}"}`] ?? 0
  await until('beats are taken', async () => (await count('taken')) > 1)
  expect(await count('refused')).toBe(0)
  status.heartbeat = 503
  await until('a beat is refused', async () => (await count('refused')) > 0)
  status.heartbeat = 200
  for (const end of ends) end()
})
