// Attempts that were dispatched ahead: a worker keeps them until a slot is free, and nobody hears of them before.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
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
const LONG_MS = 60_000

let receiver: Receiver
let worker: Worker
/** Attempts whose code began, in that order, and what ends each. */
let ran: string[] = []
let ends = new Map<string, () => void>()

beforeEach(async () => {
  receiver = await startReceiver({ heartbeat_interval_ms: 10_000 })
  ;[ran, ends] = [[], new Map()]
})
afterEach(async () => {
  await worker.close()
  await receiver.close()
  expect(receiver.faults).toEqual([])
})

async function serve(options: Partial<WorkerOptions> = {}): Promise<void> {
  const held = asset({
    key: 'held',
    deps: ['source'],
    run: ({ attempt_id }) => {
      ran.push(attempt_id)
      return new Promise<void>((resolve) => ends.set(attempt_id, resolve))
    },
  })
  worker = await startWorker({
    location: defineCodeLocation({ name: 'here', assets: [held] }),
    host: '127.0.0.1',
    port: 0,
    slots: 1,
    secrets: [],
    api_urls: [receiver.api_url],
    worker_id: 'worker-1',
    clock: systemClock,
    random: systemRandom(),
    log: () => undefined,
    stop_grace_ms: 50,
    ...options,
  })
}

const now = (): Dispatch => ({ ...livingDispatch(receiver, template, newAttempt()), asset_key: 'held', location_name: 'here' })
const ahead = (place = 0, ms_max = LONG_MS): Dispatch => ({ ...now(), wait_for_slot: { place, ms_max } })

const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${worker.url}${path}`, { method: 'POST', headers, body: JSON.stringify({ protocol: 'servo-worker-v1', ...body }) })

async function dispatch(...dispatches: readonly Dispatch[]): Promise<readonly string[]> {
  const response = await post('/servo/v1/dispatch', { dispatches })
  return ((await response.json()) as { answers: { answer: string }[] }).answers.map(({ answer }) => answer)
}

const health = async () => (await (await fetch(`${worker.url}/healthz`)).json()) as Readonly<Record<string, unknown>>
const hasRun = (...dispatches: readonly Dispatch[]) =>
  until('they run', () => dispatches.every(({ attempt_id }) => ran.includes(attempt_id)))
async function end({ attempt_id }: Dispatch): Promise<void> {
  await until('it runs', () => ends.has(attempt_id))
  ends.get(attempt_id)?.()
  await receiver.completed(attempt_id)
}
const saidOf = (...dispatches: readonly Dispatch[]) => dispatches.flatMap(({ attempt_id }) => receiver.of(attempt_id))

describe('an attempt that was dispatched ahead', () => {
  test('waits for a slot, and nothing is said of it before: those with the lowest place first, then those that came first', async () => {
    await serve()
    const [running, third, first, second] = [now(), ahead(7), ahead(-1), ahead(7)]
    expect(await dispatch(running, third, first, second)).toEqual(['ACCEPTED', 'ACCEPTED', 'ACCEPTED', 'ACCEPTED'])
    await hasRun(running)
    expect(await health()).toMatchObject({ running: 1, waiting: 3, slots: 1, prefetch: 32 })
    expect(saidOf(third, first, second)).toEqual([])
    for (let count = 1; count <= 4; count++) {
      await until('the next one runs', () => ran.length === count)
      ends.get(ran[count - 1] as string)?.()
    }
    expect(ran).toEqual([running, first, third, second].map(({ attempt_id }) => attempt_id))
  })

  test('begins at once where a slot is free', async () => {
    await serve()
    const one = ahead()
    expect(await dispatch(one)).toEqual(['ACCEPTED'])
    await end(one)
  })

  test('is kept once, however often it is sent', async () => {
    await serve()
    const [running, one] = [now(), ahead()]
    expect(await dispatch(running, one, one)).toEqual(['ACCEPTED', 'ACCEPTED', 'ACCEPTED'])
    expect(await dispatch(one)).toEqual(['ACCEPTED'])
    expect(await health()).toMatchObject({ waiting: 1 })
    await end(running)
    expect(await dispatch(one)).toEqual(['ACCEPTED'])
    await end(one)
    expect(ran).toHaveLength(2)
  })

  test('waits for nothing once its report was taken, and for another try where it was not started', async () => {
    await serve()
    const [done, dropped, running] = [now(), ahead(), now()]
    await dispatch(done)
    await end(done)
    let refusals = 0
    receiver.answerBy(({ path, attempt_id }) =>
      path === 'started' && attempt_id === dropped.attempt_id && refusals++ === 0 ? { status: 401 } : undefined,
    )
    await dispatch(dropped)
    await until('it is dropped', async () => refusals === 1 && (await health())['running'] === 0)
    expect(await dispatch(running, { ...done, wait_for_slot: { place: 0, ms_max: LONG_MS } }, dropped)).toEqual(
      Array.from({ length: 3 }, () => 'ACCEPTED'),
    )
    expect(await health()).toMatchObject({ running: 1, waiting: 1 })
    await end(running)
    await end(dropped)
    expect(ran).toEqual([done, running, dropped].map(({ attempt_id }) => attempt_id))
  })

  test('has no room beyond what the worker says that it keeps, and one that was not has none at all', async () => {
    await serve({ prefetch: 1 })
    const [running, one, two, three] = [now(), ahead(), ahead(), now()]
    expect(await dispatch(running, one, two, three)).toEqual(['ACCEPTED', 'ACCEPTED', 'BUSY', 'BUSY'])
    await end(running)
    await hasRun(one)
    expect(saidOf(two, three)).toEqual([])
    await end(one)
  })

  test('does not begin where the API says that somebody else has it, and the next one does', async () => {
    await serve()
    const [running, taken, next] = [now(), ahead(1), ahead(2)]
    receiver.answerBy(({ path, attempt_id }) => (path === 'started' && attempt_id === taken.attempt_id ? { status: 409 } : undefined))
    await dispatch(running, taken, next)
    await end(running)
    await end(next)
    expect(ran).toEqual([running.attempt_id, next.attempt_id])
  })

  test('is forgotten after as long as it may wait', async () => {
    await serve()
    const [running, one, other] = [now(), ahead(0, 30), ahead()]
    await dispatch(running, one, other)
    await until('it is forgotten', async () => (await health())['waiting'] === 1)
    await end(running)
    await end(other)
    expect(saidOf(one)).toEqual([])
    // Whoever sends it again finds a worker that never had it.
    expect(await dispatch(one)).toEqual(['ACCEPTED'])
    await end(one)
  })

  test('is forgotten when it is told to stop', async () => {
    await serve()
    const [running, one] = [now(), ahead()]
    await dispatch(running, one)
    const answer = await post('/servo/v1/cancel', { attempt_ids: [one.attempt_id, newAttempt()] })
    expect(await answer.json()).toEqual({ attempt_ids: [one.attempt_id] })
    await end(running)
    expect([await health(), ran]).toMatchObject([{ running: 0, waiting: 0 }, [running.attempt_id]])
  })

  test('is given back as soon as the worker is to end, while what runs goes on', async () => {
    await serve({ grace_ms: 5_000 })
    const [running, one] = [now(), ahead()]
    await dispatch(running, one)
    await hasRun(running)
    const drained = worker.drain()
    expect(await health()).toMatchObject({ status: 'draining', running: 1, waiting: 0 })
    expect(await dispatch(one)).toEqual(['BUSY'])
    await end(running)
    await drained
    expect(saidOf(one)).toEqual([])
    expect(ran).toEqual([running.attempt_id])
  })
})

describe('delivered by a queue', () => {
  const deliver = (one: Dispatch): Promise<number> =>
    post('/servo/v1/dispatch', { dispatches: [one] }, { 'servo-delivery': 'queue' }).then(({ status }) => status)

  test('it is answered once it has begun', async () => {
    await serve()
    const [running, one] = [now(), ahead()]
    await dispatch(running)
    let status = 0
    const delivered = deliver(one).then((answer) => (status = answer))
    await until('it waits', async () => (await health())['waiting'] === 1)
    expect(status).toBe(0)
    await end(running)
    expect(await delivered).toBe(200)
    await end(one)
  })

  test.each([
    ['it has waited for as long as it may', 30, async () => undefined],
    ['the worker ends', LONG_MS, () => worker.drain()],
  ])('it comes again where %s', async (_, ms_max, happens) => {
    await serve({ grace_ms: 10 })
    const [running, one] = [now(), ahead(0, ms_max)]
    await dispatch(running)
    const delivered = deliver(one)
    await until('it waits, or has waited', async () => (await health())['waiting'] === 1 || ms_max < LONG_MS)
    const happened = happens()
    expect(await delivered).toBe(503)
    await happened
  })
})
