// By requests straight to the worker: the contract of every way, and what each status of a whole request means.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createDirectPort } from '../../src/activities/direct.js'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { systemClock } from '../../src/bin/clock.js'
import { DISPATCH_REQUEST_BYTES_MAX, DISPATCHES_PER_REQUEST_MAX, TASK_PARTITIONS_MAX } from '../../src/core/limits.js'
import { DAY_MS, instantText } from '../../src/core/time.js'
import type { Secrets } from '../../src/core/token.js'
import { BODY_BYTES_MAX } from '../../src/sdk/worker/server.js'
import { until } from '../fixtures/until.js'
import { newAttempt } from '../worker/living.js'
import { readStory } from '../worker/stories.js'
import { dispatchSuite, WORKER_SECRETS } from './dispatch.js'

const port = createDirectPort({ clock: systemClock, worker_secrets: WORKER_SECRETS })
/** The worker has not heard of it. */
const ROTATED: Secrets = [{ secret_key_id: 'w2', secret: 'another secret of the tests' }]

dispatchSuite('direct requests', async () => ({
  port,
  kind: 'straight',
  setUpWrongly: {
    port: createDirectPort({ clock: systemClock, worker_secrets: ROTATED }),
    says: /^http:.* answered 401: .* Look at the worker's SERVO_WORKER_SECRETS \(`servo worker secret` prints/,
  },
  deliver: async () => undefined,
  workerOptions: {},
  close: async () => undefined,
}))

/** As many days as a task may have, and of an upstream asset as much. */
const DAYS = Array.from({ length: TASK_PARTITIONS_MAX }, (_, day) => instantText(day * DAY_MS).slice(0, 10))
const largest = (attempt_id: string): Dispatch => ({
  ...dispatch,
  attempt_id,
  partition_keys: DAYS,
  upstream: {
    source: DAYS.map((partition_key) => ({
      partition_key,
      materialization_id: attempt_id,
      materialized_at: '2025-01-15T10:00:00.000Z',
      code_version: 'v1',
      data_version: null,
      metadata: null,
    })),
  },
})

const dispatch = readStory('skip').request.dispatches[0] as Dispatch
/** What answers at `url`, whatever is asked of it, or by what is. */
let answers: { status: number; body: string }
let answerTo: (request: string) => { status: number; body: string }
let server: Server
let url: string
let asked: number
let elapsed_ms: number
/** So many requests are cut off before they are answered, as one on a connection that was just closed. */
let cut_off: number
/** Held back until it is let go; undefined: nothing is. */
let held: Promise<void> | undefined

beforeAll(async () => {
  server = createServer((request, response) => {
    asked += 1
    if (asked <= cut_off) return void request.socket.destroy()
    void Promise.all([text(request), held]).then(([said]) => {
      const { status, body } = answerTo(said)
      response.writeHead(status).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  answers = { status: 200, body: 'Not so.' }
  answerTo = () => answers
  ;[asked, elapsed_ms, held, cut_off] = [0, 0, undefined, 0]
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const openPort = () => createDirectPort({ clock: { now: systemClock.now, elapsed: () => elapsed_ms }, worker_secrets: WORKER_SECRETS })
const taken = () => ({
  status: 200,
  body: JSON.stringify({ answers: [{ attempt_id: dispatch.attempt_id, answer: 'ACCEPTED' }] }),
})

describe('a request that is answered as a whole', () => {
  const send = (count = 1) =>
    openPort().send(
      url,
      Array.from({ length: count }, () => dispatch),
      [],
      1,
    )
  const answered = (status: number, body = 'Not so.') => void (answers = { status, body })

  test.each([401, 403, 404, 405])('with %i loses no attempt, and is told with what to look at', async (wrong) => {
    answered(wrong)
    const problem = expect.stringMatching(new RegExp(`^${url} answered ${wrong}: Not so\\. (Give|Look) .*\\.$`))
    const blocked = { answer: 'BLOCKED', code: `HTTP_${wrong}`, problem }
    expect(await send(2)).toEqual([blocked, blocked])
  })

  test.each(['<html>Who are you?</html>', '', '{"answers":"all"}'])(
    'by what is no worker, as with %j, loses no attempt either',
    async (body) => {
      answered(200, body)
      const problem = `${url} answered something that is no answer of the worker protocol. Look whether the worker is what answers there, and not something before it or in its place; deploy with its right URL if it is another.`
      expect(await send()).toEqual([{ answer: 'BLOCKED', code: 'NOT_THE_PROTOCOL', problem }])
    },
  )

  test('by a worker that forgets one says nothing of that one', async () => {
    answered(200, '{"answers":[]}')
    const problem = `${url} answered, and said nothing of ${dispatch.attempt_id}.`
    expect(await send()).toEqual([{ answer: 'UNREACHABLE', problem }])
  })

  test.each([400, 413, 422])('with %i is wrong itself, and refused', async (wrong) => {
    answered(wrong)
    const error = { code: `HTTP_${wrong}`, message: `The worker answered ${wrong}: Not so.` }
    expect(await send()).toEqual([{ answer: 'REFUSED', error }])
  })

  test.each([408, 425, 429])('with %i is to come later', async (later) => {
    answered(later)
    expect(await send()).toEqual([{ answer: 'BUSY' }])
  })

  test.each([500, 503])('with %i says nothing of its attempts', async (broken) => {
    answered(broken)
    expect(await send()).toEqual([{ answer: 'UNREACHABLE', problem: `The worker answered ${broken}: Not so.` }])
  })
})

/** As a worker answers a request that it takes. */
const accepting = (request: string) => {
  const { dispatches } = JSON.parse(request) as { dispatches: readonly Dispatch[] }
  return { status: 200, body: JSON.stringify({ answers: dispatches.map(({ attempt_id }) => ({ attempt_id, answer: 'ACCEPTED' })) }) }
}

test.each([
  [1, 2, 'ACCEPTED'],
  [2, 2, 'UNREACHABLE'],
])('a request that is cut off is made once more: %i times cut off', async (times, expected, answer) => {
  cut_off = times
  answerTo = accepting
  expect(await openPort().send(url, [dispatch], [], 1)).toMatchObject([{ answer }])
  expect(asked).toBe(expected)
})

describe('attempts that are too much for one request', () => {
  test('go in several, each of which a worker takes', async () => {
    const dispatches = Array.from({ length: DISPATCHES_PER_REQUEST_MAX }, () => largest(newAttempt()))
    expect(Buffer.byteLength(JSON.stringify(dispatches))).toBeGreaterThan(BODY_BYTES_MAX)
    const sizes: number[] = []
    answerTo = (request) => {
      sizes.push(Buffer.byteLength(request))
      return request.length > BODY_BYTES_MAX ? { status: 413, body: 'Too much.' } : accepting(request)
    }
    expect(await openPort().send(url, dispatches, [], 1)).toEqual(dispatches.map(() => ({ answer: 'ACCEPTED' })))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(DISPATCH_REQUEST_BYTES_MAX)
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(DISPATCH_REQUEST_BYTES_MAX / 2)
  })

  test('go alone where one of them is', async () => {
    const over = { ...dispatch, attempt_id: newAttempt(), task_key: 'x'.repeat(DISPATCH_REQUEST_BYTES_MAX) }
    const counts: number[] = []
    answerTo = (request) => {
      counts.push((JSON.parse(request) as { dispatches: readonly unknown[] }).dispatches.length)
      return accepting(request)
    }
    const [before, after] = [newAttempt(), newAttempt()].map((attempt_id) => ({ ...dispatch, attempt_id })) as [Dispatch, Dispatch]
    expect(await openPort().send(url, [before, over, after], [], 1)).toHaveLength(3)
    expect(counts).toEqual([1, 1, 1])
  })
})

describe('a request that is refused as a whole because of one of its attempts', () => {
  const dispatches = ['a', 'bad', 'b', 'c'].map((task_key) => ({ ...dispatch, task_key, attempt_id: newAttempt() }))

  test.each([400, 413, 422])('with %i is sent again attempt by attempt, and only that one is refused', async (status) => {
    answerTo = (request) => (request.includes('"bad"') ? { status, body: 'Not so.' } : accepting(request))
    const refused = { answer: 'REFUSED', error: { code: `HTTP_${status}`, message: `The worker answered ${status}: Not so.` } }
    const accepted = { answer: 'ACCEPTED' }
    expect(await openPort().send(url, dispatches, [], 1)).toEqual([accepted, refused, accepted, accepted])
    expect(asked).toBe(5)
  })

  test('is left to the sweep where the worker falls silent meanwhile, and nobody waits for it attempt by attempt', async () => {
    answerTo = () => ({ status: asked === 1 ? 400 : 503, body: 'Not so.' })
    const gone = { answer: 'UNREACHABLE', problem: 'The worker answered 503: Not so.' }
    expect(await openPort().send(url, dispatches, [], 1)).toEqual([gone, gone, gone, gone])
    expect(asked).toBe(2)
  })

  test('is paused where the way turns out to be set up wrongly', async () => {
    answerTo = () => ({ status: asked === 1 ? 400 : 401, body: 'Not so.' })
    const kinds = (await openPort().send(url, dispatches, [], 1)).map(({ answer }) => answer)
    expect([kinds, asked]).toEqual([dispatches.map(() => 'BLOCKED'), 2])
  })
})

describe('a location whose worker is set up wrongly', () => {
  type Port = ReturnType<typeof openPort>
  const send = async (port: Port, location_version = 1, more: Partial<Dispatch> = {}) =>
    (await port.send(url, [{ ...dispatch, ...more }], [], location_version)).map(({ answer }) => answer)
  /** As the sweep does, until so much time has passed; answers when the worker was really asked. */
  async function sweep(port: Port, until_ms: number): Promise<number[]> {
    const at: number[] = []
    for (; elapsed_ms <= until_ms; elapsed_ms += 1_000) {
      const before = asked
      expect(await send(port)).toEqual(['BLOCKED'])
      if (asked > before) at.push(elapsed_ms / 1_000)
    }
    return at
  }

  test('is asked less and less often, once a minute at last', async () => {
    answers = { status: 401, body: 'Not so.' }
    expect(await sweep(openPort(), 250_000)).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
  })

  test('holds up no other location, and nobody else who asks', async () => {
    const port = openPort()
    answers = { status: 404, body: 'Not so.' }
    await sweep(port, 10_000)
    answers = taken()
    expect(await send(port, 1, { location_name: 'other' })).toEqual(['ACCEPTED'])
    expect(await send(port)).toEqual(['BLOCKED'])
    expect(await send(openPort())).toEqual(['ACCEPTED'])
  })

  test('is asked at once after a deploy, and by what is of the deploy before no sooner', async () => {
    const port = openPort()
    answers = { status: 401, body: 'Not so.' }
    await sweep(port, 10_000)
    const before = asked
    expect(await send(port, 2)).toEqual(['BLOCKED'])
    expect(asked).toBe(before + 1)
    // The deploy has mended nothing: it begins with a short pause again, for everything.
    expect([await send(port, 1), await send(port, 2), asked]).toEqual([['BLOCKED'], ['BLOCKED'], before + 1])
    elapsed_ms += 1_000
    answers = taken()
    expect([await send(port, 1), asked]).toEqual([['ACCEPTED'], before + 2])
  })

  test('is forgiven with the first attempt that it takes, and begins anew', async () => {
    const port = openPort()
    answers = { status: 401, body: 'Not so.' }
    await sweep(port, 10_000)
    answers = taken()
    elapsed_ms = 15_000
    expect([await send(port), await send(port)]).toEqual([['ACCEPTED'], ['ACCEPTED']])
    answers = { status: 401, body: 'Not so.' }
    expect([await send(port), await send(port)]).toEqual([['BLOCKED'], ['BLOCKED']])
    elapsed_ms = 16_000
    const before = asked
    expect([await send(port), asked]).toEqual([['BLOCKED'], before + 1])
  })

  test.each([
    ['is mended', taken, 'ACCEPTED', 8],
    ['is not mended', () => ({ status: 401, body: 'Still not so.' }), 'BLOCKED', 1],
    ['falls over', () => ({ status: 503, body: 'Gone.' }), 'UNREACHABLE', 8],
  ])('is asked by one of many after the pause, and the others go on with what he hears: it %s', async (_, then, answer, requests) => {
    const port = openPort()
    answers = { status: 401, body: 'Not so.' }
    await send(port)
    elapsed_ms = 1_000
    answers = then()
    const before = asked
    let letGo: () => void = () => undefined
    held = new Promise((resolve) => (letGo = resolve))
    const all = Promise.all(Array.from({ length: 8 }, () => send(port)))
    await until('one of them asks', () => asked > before)
    letGo()
    expect((await all).flat()).toEqual(Array.from({ length: 8 }, () => answer))
    expect(asked - before).toBe(requests)
  })

  test('that is away meanwhile is neither forgiven nor paused for longer', async () => {
    const port = openPort()
    answers = { status: 401, body: 'Not so.' }
    await sweep(port, 10_000)
    answers = { status: 503, body: 'Gone.' }
    elapsed_ms = 15_000
    const before = asked
    expect([await send(port), await send(port), asked]).toEqual([['UNREACHABLE'], ['UNREACHABLE'], before + 2])
    answers = { status: 401, body: 'Not so.' }
    // What it was before is doubled.
    expect(await sweep(port, 50_000)).toEqual([15, 31])
  })
})
