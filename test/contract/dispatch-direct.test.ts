// By requests straight to the worker: the contract of every way, and what each status of a whole request means.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createDirectPort } from '../../src/activities/direct.js'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { systemClock } from '../../src/bin/clock.js'
import type { Secrets } from '../../src/core/token.js'
import { until } from '../fixtures/until.js'
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
    says: /^http:.* answered 401: .* Give the worker the SERVO_WORKER_SECRETS of the automation/,
  },
  deliver: async () => undefined,
  workerOptions: {},
  close: async () => undefined,
}))

const dispatch = readStory('skip').request.dispatches[0] as Dispatch
/** What answers at `url`, whatever is asked of it. */
let answers: { status: number; body: string }
let server: Server
let url: string
let asked: number
let elapsed_ms: number
/** Held back until it is let go; undefined: nothing is. */
let held: Promise<void> | undefined

beforeAll(async () => {
  server = createServer((_request, response) => {
    asked += 1
    const { status, body } = answers
    void Promise.resolve(held).then(() => response.writeHead(status).end(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  answers = { status: 200, body: 'Not so.' }
  ;[asked, elapsed_ms, held] = [0, 0, undefined]
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
