// What a worker answers a queue, which reads the status alone: 2xx is the last it hears of an attempt.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createLocalJWKSet } from 'jose'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { systemClock, systemRandom } from '../../src/bin/clock.js'
import { type Secrets, signBody, signQueuedBody } from '../../src/core/token.js'
import { KeySetError } from '../../src/oidc/key-set.js'
import { createOidcVerifier } from '../../src/oidc/verifier.js'
import { asset } from '../../src/sdk/asset.js'
import { defineCodeLocation } from '../../src/sdk/code-location.js'
import { startWorker, type Worker, type WorkerOptions } from '../../src/sdk/worker/worker.js'
import { ACCOUNT, createSigner, ISSUER } from '../faults/cloud-tasks/signer.js'
import { type Receiver, startReceiver } from '../fixtures/callback-receiver.js'
import { until } from '../fixtures/until.js'
import { livingDispatch, newAttempt } from './living.js'
import { readStory } from './stories.js'

const SECRETS: Secrets = [{ secret_key_id: 'w1', secret: 'a secret of the tests' }]
const AUDIENCE = 'https://worker.example.com'
const template = readStory('skip').request.dispatches[0] as Dispatch

let receiver: Receiver
let worker: Worker
let ran: string[] = []
let stopped: string[] = []
let said: string[] = []
let ends: (() => void)[] = []

beforeEach(async () => {
  receiver = await startReceiver({ heartbeat_interval_ms: 10_000 })
  ;[ran, stopped, said, ends] = [[], [], [], []]
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
    run: ({ attempt_id, signal }) => {
      ran.push(attempt_id)
      signal.addEventListener('abort', () => stopped.push(attempt_id))
      return new Promise<void>((resolve) => ends.push(resolve))
    },
  })
  const quick = asset({ key: 'quick', deps: ['source'], run: ({ attempt_id }) => void ran.push(attempt_id) })
  worker = await startWorker({
    location: defineCodeLocation({ name: 'here', assets: [held, quick] }),
    host: '127.0.0.1',
    port: 0,
    slots: 1,
    secrets: SECRETS,
    api_urls: [receiver.api_url],
    worker_id: 'worker-1',
    clock: systemClock,
    random: systemRandom(),
    log: (message) => void said.push(message),
    stop_grace_ms: 50,
    ...options,
  })
}

const dispatchOf = (asset_key: string, more: Partial<Dispatch> = {}): Dispatch => ({
  ...livingDispatch(receiver, template, newAttempt()),
  asset_key,
  location_name: 'here',
  ...more,
})

async function deliver(dispatches: readonly Dispatch[], headers: Readonly<Record<string, string>> = {}) {
  const body = JSON.stringify({ protocol: 'servo-worker-v1', dispatches })
  const response = await fetch(`${worker.url}/servo/v1/dispatch`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'servo-delivery': 'queue',
      'servo-signature': signQueuedBody(SECRETS, body, Date.now(), Date.now() + 60_000),
      ...headers,
    },
    body,
  })
  return { status: response.status, retry_after: response.headers.get('retry-after'), body: (await response.json()) as { detail?: string } }
}
/** As the automation sends it: straight, and signed where it has a secret. */
async function cancel(
  dispatches: readonly Dispatch[],
  headers: Readonly<Record<string, string>>,
  secrets: Secrets | undefined = undefined,
) {
  const body = JSON.stringify({ protocol: 'servo-worker-v1', attempt_ids: dispatches.map(({ attempt_id }) => attempt_id) })
  const signature = secrets === undefined ? {} : { 'servo-signature': signBody(secrets, body, Date.now()) }
  const response = await fetch(`${worker.url}/servo/v1/cancel`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signature, ...headers },
    body,
  })
  return { status: response.status, body: (await response.json()) as { detail?: string; attempt_ids?: readonly string[] } }
}
const pathsOf = ({ attempt_id }: Dispatch) => receiver.of(attempt_id).map(({ path }) => path)

describe('a delivery by a queue', () => {
  test('is done once the API has said that the attempt may start', async () => {
    await serve()
    const one = dispatchOf('quick')
    receiver.answerBy(({ path }, earlier) => (path === 'started' && earlier.length < 2 ? { status: 503 } : undefined))
    expect((await deliver([one])).status).toBe(200)
    expect(pathsOf(one).filter((path) => path === 'started')).toHaveLength(3)
    await receiver.completed(one.attempt_id)
  })

  test('is done too once the API has said that it may not, and nothing runs', async () => {
    await serve()
    const one = dispatchOf('quick')
    receiver.answerBy(({ path }) => (path === 'started' ? { status: 409 } : undefined))
    expect((await deliver([one])).status).toBe(200)
    expect((await deliver([dispatchOf('quick')])).status).toBe(200)
    expect(ran).toEqual([])
  })

  test('is done too when it comes again after its report was taken, and starts nothing', async () => {
    await serve()
    const one = dispatchOf('quick')
    expect((await deliver([one])).status).toBe(200)
    await receiver.completed(one.attempt_id)
    // The answer to the report may still be on its way, and until then the attempt is one that runs.
    for (let deliveries = 0; deliveries < 20; deliveries++) expect((await deliver([one])).status).toBe(200)
    expect(pathsOf(one)).toEqual(['started', 'completed'])
    expect(ran).toEqual([one.attempt_id])
  })

  test('comes again while the worker has no room, with word of when, and is no second start', async () => {
    await serve()
    const [one, two] = [dispatchOf('held'), dispatchOf('held')]
    expect((await deliver([one])).status).toBe(200)
    expect(await deliver([two])).toMatchObject({ status: 429, retry_after: '2' })
    expect((await deliver([one])).status).toBe(200)
    // Of several the one without room brings all of them again.
    expect((await deliver([one, two])).status).toBe(429)
    expect(ran).toEqual([one.attempt_id])
    expect(pathsOf(one)).toEqual(['started'])
    ends[0]?.()
    await receiver.completed(one.attempt_id)
    expect((await deliver([two])).status).toBe(200)
    await until('the second one runs', () => ran.length === 2)
    ends[1]?.()
    await receiver.completed(two.attempt_id)
  })

  test('comes again where the worker ends before the API has answered', async () => {
    await serve({ grace_ms: 30 })
    const one = dispatchOf('quick')
    receiver.answerBy(({ path }) => (path === 'started' ? { status: 503 } : undefined))
    const delivered = deliver([one]).then(
      ({ status }) => status,
      () => 0,
    )
    await receiver.until(() => pathsOf(one).length > 0, 'started')
    await worker.drain()
    // The connection may be closed before its answer is sent: to a queue both are the same.
    expect([0, 503]).toContain(await delivered)
    expect(ran).toEqual([])
  })

  test('that the worker can never run is said to the API, and is done when that has heard it', async () => {
    await serve()
    const strange = dispatchOf('strange')
    receiver.answerBy((_, earlier) => (earlier.length === 0 || earlier.length === 2 ? { status: 503 } : undefined))
    expect((await deliver([strange])).status).toBe(200)
    expect(pathsOf(strange)).toEqual(['started', 'started', 'completed', 'completed'])
    expect((await receiver.completed(strange.attempt_id)).body).toMatchObject({
      outcome: 'REFUSED',
      error: { code: 'UNKNOWN_ASSET', message: expect.stringMatching(/has no asset strange/) },
    })
  })

  test('that somebody else has, or that is over, is done without another word', async () => {
    await serve()
    const strange = dispatchOf('strange')
    receiver.answerBy(() => ({ status: 409 }))
    expect((await deliver([strange])).status).toBe(200)
    expect(pathsOf(strange)).toEqual(['started'])
  })

  test('that nobody may start any more, and of which the API is not heard, comes again', async () => {
    await serve()
    receiver.answerBy(() => ({ status: 503 }))
    const start_deadline_at = new Date(Date.now() - 1_000).toISOString()
    expect((await deliver([dispatchOf('quick', { start_deadline_at })])).status).toBe(503)
    expect((await deliver([dispatchOf('strange', { start_deadline_at })])).status).toBe(503)
  })

  test('is signed for as long as it says, and straight requests for five minutes', async () => {
    const later = { ...systemClock, now: () => Date.now() + 400_000 }
    await serve({ clock: later })
    const one = dispatchOf('quick', { start_deadline_at: new Date(Date.now() + 500_000).toISOString() })
    const body = JSON.stringify({ protocol: 'servo-worker-v1', dispatches: [one] })
    const now = Date.now()
    expect(await deliver([one], { 'servo-signature': signBody(SECRETS, body, now) })).toMatchObject({
      status: 401,
      body: { detail: 'The signature of the request is older than five minutes.' },
    })
    expect(await deliver([one], { 'servo-signature': signQueuedBody(SECRETS, body, now, now + 399_000) })).toMatchObject({
      status: 401,
      body: { detail: 'The signature of the request has expired.' },
    })
    expect((await deliver([one], { 'servo-signature': signQueuedBody(SECRETS, body, now, now + 401_000) })).status).toBe(200)
    await receiver.completed(one.attempt_id)
  })
})

describe('a worker that asks who delivers', () => {
  const serveWithProof = async (options: Partial<WorkerOptions> = {}) => {
    const signer = await createSigner()
    let are_keys_away = false
    const keys = createLocalJWKSet(signer.key_set)
    const proof = createOidcVerifier(
      { audience: AUDIENCE, issuer: ISSUER, email: ACCOUNT },
      (header, token) => (are_keys_away ? Promise.reject(new KeySetError('The keys are away.')) : keys(header, token)),
      Date.now,
    )
    await serve({ proof, ...options })
    const by = async (claims: object = {}) => ({ authorization: `Bearer ${await signer.sign({ aud: AUDIENCE, ...claims }, Date.now())}` })
    return { by, loseKeys: () => (are_keys_away = true) }
  }

  test('takes what has a token for it, and nothing else, queue or not', async () => {
    const { by } = await serveWithProof()
    const one = dispatchOf('quick')
    for (const [headers, problem] of [
      [{}, 'It has no OIDC token.'],
      [{ authorization: 'Basic abc' }, 'It has no OIDC token.'],
      [await by({ aud: 'https://other.example.com' }), 'Its OIDC token is for another audience: "https://other.example.com".'],
      [await by({ exp: 1 }), 'Its OIDC token has expired.'],
    ] as const) {
      expect(await deliver([one], headers)).toMatchObject({ status: 401, body: { detail: problem } })
      expect(await deliver([one], { ...headers, 'servo-delivery': 'straight' })).toMatchObject({ status: 401 })
      expect(said.at(-1)).toBe(`A dispatch was not taken. ${problem}`)
    }
    expect(receiver.of(one.attempt_id)).toEqual([])
    // The signature is asked for all the same.
    expect((await deliver([one], { ...(await by()), 'servo-signature': 'none' })).status).toBe(401)
    expect((await deliver([one], await by())).status).toBe(200)
    await receiver.completed(one.attempt_id)
  })

  test('without a secret takes no cancel but by that token, and stops nothing', async () => {
    const { by, loseKeys } = await serveWithProof({ secrets: [] })
    const one = dispatchOf('held')
    expect((await deliver([one], await by())).status).toBe(200)
    await until('it runs', () => ran.length === 1)
    for (const [headers, secrets, problem] of [
      [{}, undefined, 'It has no OIDC token.'],
      [{}, SECRETS, 'It has no OIDC token.'],
      [await by({ aud: 'https://other.example.com' }), undefined, 'Its OIDC token is for another audience: "https://other.example.com".'],
    ] as const) {
      expect(await cancel([one], headers, secrets)).toMatchObject({ status: 401, body: { detail: problem } })
      expect(said.at(-1)).toBe(`A cancel was not taken. ${problem}`)
    }
    const proved = await by()
    loseKeys()
    expect(await cancel([one], proved)).toMatchObject({ status: 503, body: { detail: 'The keys are away.' } })
    expect([pathsOf(one), stopped]).toEqual([['started'], []])
  })

  test('is told by it what to stop', async () => {
    const { by } = await serveWithProof({ secrets: [] })
    const one = dispatchOf('held')
    expect((await deliver([one], await by())).status).toBe(200)
    await until('it runs', () => ran.length === 1)
    expect(await cancel([one], await by())).toEqual({ status: 200, body: { attempt_ids: [one.attempt_id] } })
    expect(stopped).toEqual([one.attempt_id])
    ends[0]?.()
    expect((await receiver.completed(one.attempt_id)).body).toMatchObject({ outcome: 'CANCELLED' })
  })

  test('and has a secret takes a cancel by its signature, which is what the automation has', async () => {
    const { by } = await serveWithProof()
    const one = dispatchOf('held')
    expect((await deliver([one], await by())).status).toBe(200)
    await until('it runs', () => ran.length === 1)
    expect((await cancel([one], await by())).status).toBe(401)
    expect(stopped).toEqual([])
    expect(await cancel([one], {}, SECRETS)).toEqual({ status: 200, body: { attempt_ids: [one.attempt_id] } })
    expect(stopped).toEqual([one.attempt_id])
    ends[0]?.()
    await receiver.completed(one.attempt_id)
  })

  test('has it delivered again while it cannot know', async () => {
    const { by, loseKeys } = await serveWithProof()
    loseKeys()
    expect(await deliver([dispatchOf('quick')], await by())).toMatchObject({ status: 503, body: { detail: 'The keys are away.' } })
  })
})

test('callbacks carry the token of the worker, and wait while there is none', async () => {
  let asked = 0
  await serve({
    identity: async () => {
      if ((asked += 1) === 1) throw new Error('There is none yet.')
      return `token ${asked}`
    },
  })
  const one = dispatchOf('quick')
  expect((await deliver([one])).status).toBe(200)
  await receiver.completed(one.attempt_id)
  expect(receiver.identities).toEqual(['token 2', 'token 3'])
})
