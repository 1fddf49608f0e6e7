// The worker of the SDK in this process, where its limits can be short: what goes wrong on the way, and how it ends.

import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Dispatch, dispatchResponse } from '../../src/api/contract/worker.js'
import { systemClock, systemRandom } from '../../src/bin/clock.js'
import { asset } from '../../src/sdk/asset.js'
import { defineCodeLocation } from '../../src/sdk/code-location.js'
import type { RunContext } from '../../src/sdk/context.js'
import { startWorker, type Worker, type WorkerOptions } from '../../src/sdk/worker/worker.js'
import { type CallbackPath, type Receiver, startReceiver } from '../fixtures/callback-receiver.js'
import { livingDispatch, newAttempt } from './living.js'
import { readStory } from './stories.js'

type Code = (context: RunContext) => unknown

const random = systemRandom()
const template = readStory('skip').request.dispatches[0] as Dispatch

let receiver: Receiver
let worker: Worker | undefined
let said: string[] = []
beforeEach(async () => {
  receiver = await startReceiver({ heartbeat_interval_ms: 30 })
  said = []
})
afterEach(async () => {
  await worker?.close()
  worker = undefined
  await receiver.close()
  expect(receiver.faults).toEqual([])
})

async function serve(code: Code, options: Partial<WorkerOptions> = {}): Promise<void> {
  const one = asset({ key: 'one', deps: ['source'], run: code as () => void })
  worker = await startWorker({
    location: defineCodeLocation({ name: 'here', assets: [one] }),
    host: '127.0.0.1',
    port: 0,
    slots: 2,
    secrets: [],
    api_urls: [receiver.api_url],
    worker_id: 'worker-1',
    clock: systemClock,
    random,
    log: (message) => void said.push(message),
    stop_grace_ms: 50,
    ...options,
  })
}

const dispatchOf = (attempt_id: string) => ({ ...livingDispatch(receiver, template, attempt_id), asset_key: 'one', location_name: 'here' })

async function dispatch(attempt_id: string, members: Partial<Dispatch> = {}): Promise<string | undefined> {
  const dispatches = [{ ...dispatchOf(attempt_id), ...members }]
  const response = await fetch(`${worker?.url}/servo/v1/dispatch`, {
    method: 'POST',
    body: JSON.stringify({ protocol: 'servo-worker-v1', dispatches }),
  })
  return dispatchResponse.parse(await response.json()).answers[0]?.answer
}

/** Hands over one attempt, and answers what was reported of it. */
async function run(members: Partial<Dispatch> = {}) {
  const attempt_id = newAttempt()
  expect(await dispatch(attempt_id, members)).toBe('ACCEPTED')
  return { attempt_id, body: (await receiver.completed(attempt_id)).body }
}

const bodiesOf = (attempt_id: string, path: CallbackPath) =>
  receiver
    .of(attempt_id)
    .filter((callback) => callback.path === path)
    .map(({ body }) => body)
const came = (attempt_id: string, path: CallbackPath, count = 1) =>
  receiver.until(() => bodiesOf(attempt_id, path).length >= count, `${path}, ${count} times,`)
const health = async () => (await (await fetch(`${worker?.url}/healthz`)).json()) as Readonly<Record<string, unknown>>
const aborted = (signal: AbortSignal) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
const refuse = (path: CallbackPath, status: number, times = 1) => {
  receiver.answerBy((callback, earlier) =>
    callback.path === path && earlier.filter((each) => each.path === path).length < times
      ? { status, body: { detail: 'Not like this.' } }
      : undefined,
  )
}

describe('slots', () => {
  test('that are all taken make it busy, and each that ends is free again', async () => {
    const ends = new Set<() => void>()
    await serve(() => new Promise<void>((resolve) => ends.add(resolve)))
    const [first, second, third] = [newAttempt(), newAttempt(), newAttempt()]
    expect([await dispatch(first), await dispatch(second), await dispatch(third)]).toEqual(['ACCEPTED', 'ACCEPTED', 'BUSY'])
    expect(await dispatch(first)).toBe('ACCEPTED')
    expect(await health()).toEqual({ status: 'ok', location_name: 'here', running: 2, waiting: 0, slots: 2, prefetch: 64 })
    await Promise.all([came(first, 'heartbeat'), came(second, 'heartbeat')])
    for (const end of ends) end()
    await Promise.all([receiver.completed(first), receiver.completed(second)])
    expect(await dispatch(third)).toBe('ACCEPTED')
    expect(receiver.of(third).length).toBeLessThanOrEqual(1)
  })

  test('are free while the API does not take the report', async () => {
    await serve(() => undefined, { slots: 1 })
    const first = newAttempt()
    refuse('completed', 503, 1_000)
    await dispatch(first)
    await came(first, 'completed', 2)
    expect(await dispatch(first)).toBe('ACCEPTED')
    expect(await health()).toMatchObject({ running: 0 })
    expect(await dispatch(newAttempt())).toBe('ACCEPTED')
    expect(bodiesOf(first, 'started')).toHaveLength(1)
  })
})

describe('code', () => {
  test.each<[string, Code, object]>([
    [
      'that throws at once',
      () => {
        throw new Error('at once')
      },
      { code: 'Error', message: 'at once' },
    ],
    ['that rejects with no Error', () => Promise.reject(undefined), { code: 'THROWN' }],
    ['that returns what is no JSON', () => new Date(0), { code: 'BAD_RESULT' }],
  ])('%s fails, and the worker goes on', async (_, code, error) => {
    await serve(code)
    expect((await run()).body).toMatchObject({ outcome: 'FAILED', error })
    expect((await run()).body).toMatchObject({ outcome: 'FAILED', error })
  })

  test('that logs and beats after its end is not heard', async () => {
    let kept: RunContext | undefined
    await serve((context) => {
      kept = context
    })
    const { attempt_id } = await run()
    kept?.logger.info('too late')
    kept?.heartbeat({ done: 1 })
    await run()
    expect(bodiesOf(attempt_id, 'logs')).toEqual([])
    expect(bodiesOf(attempt_id, 'completed')).toHaveLength(1)
  })

  test('has a list for each dependency, and stops with a reason when its time is up', async () => {
    let context: RunContext | undefined
    await serve(async (given) => {
      context = given
      await aborted(given.signal)
      given.signal.throwIfAborted()
    })
    const { body } = await run({ timeout_ms: 80, upstream: {} })
    expect(body).toMatchObject({ outcome: 'FAILED', error: { code: 'TIMEOUT' } })
    expect(context?.upstream).toEqual({ source: [] })
    expect(context?.partitions).toBeNull()
    expect(String(context?.signal.reason)).toBe('StoppedError: The code has run for longer than its timeout.')
  })

  test('does not run before started was answered, nor after its deadline', async () => {
    let runs = 0
    await serve(() => void runs++)
    refuse('started', 503, 1_000)
    const attempt_id = newAttempt()
    await dispatch(attempt_id, { start_deadline_at: new Date(Date.now() + 300).toISOString() })
    await came(attempt_id, 'started', 2)
    await worker?.drain()
    expect({ runs, said }).toEqual({ runs: 0, said: [expect.stringContaining('it is dropped, because started was answered with 503')] })
  })

  test('does not run when what says yes is not the API', async () => {
    await serve(() => undefined)
    receiver.answerBy(({ path }, earlier) =>
      path === 'started' && earlier.length === 0 ? { status: 200, body: { login: 'first' } } : undefined,
    )
    const { attempt_id } = await run()
    const started = bodiesOf(attempt_id, 'started')
    expect(started).toHaveLength(2)
    expect(started[1]).toEqual(started[0])
  })
})

describe('reports', () => {
  test('that are refused as they are become a failure that says why', async () => {
    await serve(() => ({ rows: 3 }))
    refuse('completed', 413)
    const { body } = await run()
    expect(body).toMatchObject({
      outcome: 'FAILED',
      error: { code: 'REPORT_REFUSED', message: expect.stringContaining('413: Not like this.') },
    })
  })

  test.each([401, 404, 409])('that are answered with %d are not repeated', async (status) => {
    await serve(() => undefined)
    refuse('completed', status, 1_000)
    const attempt_id = newAttempt()
    await dispatch(attempt_id)
    await came(attempt_id, 'completed')
    await worker?.drain()
    expect(bodiesOf(attempt_id, 'completed')).toHaveLength(1)
    expect(said).toEqual([expect.stringContaining(`completed (SUCCEEDED) was answered with ${status}`)])
  })

  test('are given up after their time', async () => {
    await serve(() => undefined, { completed_within_ms: 200 })
    refuse('completed', 500, 1_000)
    const attempt_id = newAttempt()
    await dispatch(attempt_id)
    await came(attempt_id, 'completed', 2)
    await worker?.drain()
    expect(said).toEqual([expect.stringContaining('was answered with 500')])
  })
})

describe('logs', () => {
  test('come while the code runs, a second after the first line', async () => {
    let end: () => void = () => undefined
    await serve(({ logger }) => {
      logger.debug('first', { at: new Date(0) as never })
      return new Promise<void>((resolve) => {
        end = resolve
      })
    })
    const attempt_id = newAttempt()
    await dispatch(attempt_id)
    await came(attempt_id, 'logs')
    expect(bodiesOf(attempt_id, 'completed')).toEqual([])
    end()
    await receiver.completed(attempt_id)
    expect(bodiesOf(attempt_id, 'logs')).toMatchObject([
      { chunk: 0, lines: [{ level: 'DEBUG', fields: { at: '1970-01-01T00:00:00.000Z' } }] },
    ])
  })

  test('that are many go in chunks of 256 KiB, in order, and a chunk whose answer is lost is sent again', async () => {
    await serve(({ logger }) => {
      for (let i = 0; i < 60; i++) logger.info(String(i).padEnd(10_000, 'x'))
    })
    receiver.answerBy(({ path, body }, earlier) =>
      path === 'logs' && body['chunk'] === 1 && !earlier.some((each) => each.body['chunk'] === 1) ? 'lost' : undefined,
    )
    const { attempt_id } = await run()
    const chunks = bodiesOf(attempt_id, 'logs') as unknown as readonly { chunk: number; lines: { message: string }[] }[]
    expect(chunks.map(({ chunk }) => chunk)).toEqual([0, 1, 1, 2])
    expect(chunks[2]).toEqual(chunks[1])
    const once = chunks.filter((_, i) => i !== 2)
    expect(once.flatMap(({ lines }) => lines.map(({ message }) => Number.parseInt(message, 10)))).toEqual(
      Array.from({ length: 60 }, (_, i) => i),
    )
    for (const chunk of chunks) expect(JSON.stringify(chunk).length).toBeLessThan(270_000)
  })

  test.each([
    ['has no room left', { status: 200, body: { bytes_left: 0 } }],
    ['finds them too large', { status: 413 }],
  ])('end when the API %s, and the attempt does not', async (_, reply) => {
    await serve(({ logger }) => {
      for (let i = 0; i < 60; i++) logger.info('x'.repeat(10_000))
    })
    receiver.answerBy(({ path }) => (path === 'logs' ? reply : undefined))
    const { attempt_id, body } = await run()
    expect(body).toMatchObject({ outcome: 'SUCCEEDED' })
    expect(bodiesOf(attempt_id, 'logs')).toHaveLength(1)
  })

  test('that are not taken fail nothing', async () => {
    await serve(({ logger }) => logger.info('x'))
    refuse('logs', 400, 1_000)
    expect((await run()).body).toMatchObject({ outcome: 'SUCCEEDED' })
    expect(said).toEqual([expect.stringContaining('Chunk 0 of the log was answered with 400')])
  })
})

describe('a conflict', () => {
  test('stops the code, and nothing more is said, logs included', async () => {
    let reason: unknown
    await serve(async ({ signal, logger }) => {
      await aborted(signal)
      reason = signal.reason
      logger.info('for nobody')
    })
    refuse('heartbeat', 409)
    const attempt_id = newAttempt()
    await dispatch(attempt_id)
    await came(attempt_id, 'heartbeat')
    await worker?.drain()
    expect(String(reason)).toContain('nothing that the code does now is recorded')
    expect(receiver.of(attempt_id).map(({ path }) => path)).toEqual(['started', 'heartbeat'])
  })
})

describe('a drain', () => {
  test('takes nothing new, and lets what runs finish', async () => {
    let end: () => void = () => undefined
    await serve(
      () =>
        new Promise<void>((resolve) => {
          end = resolve
        }),
    )
    const attempt_id = newAttempt()
    await dispatch(attempt_id)
    await came(attempt_id, 'heartbeat')
    const drained = worker?.drain()
    expect(await dispatch(newAttempt())).toBe('BUSY')
    expect(await dispatch(newAttempt(), { asset_key: 'of-the-next-deploy' })).toBe('BUSY')
    expect(await health()).toMatchObject({ status: 'draining', running: 1 })
    end()
    await drained
    expect(bodiesOf(attempt_id, 'completed')).toMatchObject([{ outcome: 'SUCCEEDED' }])
    await expect(health()).rejects.toThrow()
  })

  test.each<[string, Code]>([
    ['heeds its signal', ({ signal }) => aborted(signal)],
    ['does not', () => new Promise(() => undefined)],
  ])('reports as cancelled what takes longer than the grace, when the code %s', async (_, code) => {
    await serve(code, { grace_ms: 50 })
    const attempt_id = newAttempt()
    await dispatch(attempt_id)
    await came(attempt_id, 'heartbeat')
    await worker?.drain()
    expect(bodiesOf(attempt_id, 'completed')).toMatchObject([{ outcome: 'RELEASED', error: { code: 'WORKER_DRAINED' } }])
  })

  test('is not needed to close: then nothing is said any more', async () => {
    await serve(() => new Promise(() => undefined))
    const attempt_id = newAttempt()
    await dispatch(attempt_id)
    await came(attempt_id, 'heartbeat')
    await worker?.close()
    expect(bodiesOf(attempt_id, 'completed')).toEqual([])
  })
})

test('a body that is too large is refused before it is read', async () => {
  await serve(() => undefined)
  const status = await new Promise((resolve, reject) => {
    const sent = request(`${worker?.url}/servo/v1/dispatch`, { method: 'POST', headers: { 'content-length': String(33 * 1_024 * 1_024) } })
    sent.on('response', (response) => resolve(response.statusCode)).on('error', reject)
    sent.flushHeaders()
  })
  expect(status).toBe(413)
})

test("without a secret, what is sent to another name than this machine's is refused, and runs nothing", async () => {
  const ran: string[] = []
  await serve(({ attempt_id }) => void ran.push(attempt_id))
  const { hostname, port } = new URL(worker?.url as string)
  const body = JSON.stringify({ protocol: 'servo-worker-v1', dispatches: [dispatchOf(newAttempt())] })
  const statusFor = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request({ hostname, port, method: 'POST', path: '/servo/v1/dispatch', headers: { host } }, (response) =>
        resolve(response.resume().statusCode),
      )
      sent.on('error', reject).end(body)
    })
  expect(await statusFor('evil.example:7801')).toBe(403)
  expect(ran).toEqual([])
  expect(await statusFor('localhost:7801')).toBe(200)
  await receiver.completed((JSON.parse(body) as { dispatches: Dispatch[] }).dispatches[0]?.attempt_id as string)
  expect(ran).toHaveLength(1)
})

describe('callbacks of several attempts', () => {
  /** Hands over so many at once, to a worker with a slot for each. */
  async function dispatchMany(count: number, members: Partial<Dispatch>): Promise<readonly string[]> {
    await serve(() => undefined, { slots: count })
    const ids = Array.from({ length: count }, newAttempt)
    const dispatches = ids.map((attempt_id) => ({ ...dispatchOf(attempt_id), ...members }))
    await fetch(`${worker?.url}/servo/v1/dispatch`, { method: 'POST', body: JSON.stringify({ protocol: 'servo-worker-v1', dispatches }) })
    return ids
  }

  test('go together where the API takes them so', async () => {
    await receiver.close()
    receiver = await startReceiver({ takes_together: true })
    const ids = await dispatchMany(30, { callbacks_url: receiver.callbacks_url as string })
    for (const attempt_id of ids) await receiver.completed(attempt_id)
    expect(receiver.request_sizes.reduce((sum, size) => sum + size, 0)).toBe(60)
    expect(receiver.request_sizes.length).toBeLessThan(20)
    expect(receiver.request_sizes[0]).toBe(30)
  })

  test('go one by one where it turns out not to', async () => {
    const ids = await dispatchMany(3, { callbacks_url: receiver.callbackUrl('together') })
    for (const attempt_id of ids) await receiver.completed(attempt_id)
    expect(receiver.request_sizes).toEqual([1, 1, 1, 1, 1, 1])
  })
})
