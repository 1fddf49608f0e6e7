// What workers say over the API, with tokens of their own; and what they log.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { LOG_BYTES_MAX, LOG_COUNTED_BYTES_MAX } from '../../src/core/limits.js'
import { makeToken } from '../../src/core/token.js'
import {
  API_TOKEN,
  type ApiWorld,
  type Asker,
  createApiWorld,
  createAsker,
  dispatched,
  MAIN,
  type Out,
  SECRETS,
} from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'

const AT = '2025-01-15T10:00:00.000Z'
let world: ApiWorld
let worker: Asker
let people: Asker

beforeAll(async () => {
  world = createApiWorld()
  const api = await world.start({ api_token: API_TOKEN })
  worker = createAsker(api)
  people = createAsker(api, { authorization: `Bearer ${API_TOKEN}` })
  await people.post('/code-locations/main/deploy', MAIN)
})
afterAll(() => world.close())

async function dispatch(): Promise<Out> {
  const { body } = await people.post('/runs?wait=true', { selection: 'a' })
  await world.turn.run()
  const out = (await dispatched(world)).find(({ claims }) => claims.run_id === body['run_id'])
  if (out === undefined) throw new Error('Nothing was dispatched.')
  return out
}

const start = (out: Out, execution_id = ulidOf('one')) =>
  worker.post(`${out.path}/started`, { ...out.said, execution_id, worker_id: 'w1' }, out.headers)

describe('an attempt', () => {
  test('starts once: the same execution again is answered, another is told to stop', async () => {
    const out = await dispatch()
    const first = await start(out)
    expect(first).toMatchObject({ status: 200, body: { attempt_id: out.claims.attempt_id, heartbeat_interval_ms: 20_000 } })
    expect((await start(out)).body).toEqual(first.body)
    const second = await start(out, ulidOf('two'))
    expect(second).toMatchObject({ status: 409, body: { type: 'urn:servo:problem:attempt-over' } })
    expect(second.body['detail']).toBe(`Another execution of this attempt of a runs already: ${ulidOf('one')}. Stop working on it.`)
  })

  test('is heard of in the ledger once a third of its timeout, and told to stop when its run is cancelled', async () => {
    const out = await dispatch()
    await start(out, ulidOf('execution'))
    const beat = (seq: number) => worker.post(`${out.path}/heartbeat`, { ...out.said, execution_id: ulidOf('execution'), seq }, out.headers)
    let appended = 0
    world.watchPuts((name) => {
      if (name.startsWith('ledger/')) appended += 1
    })
    for (let seq = 0; seq < 5; seq++) expect(await beat(seq)).toMatchObject({ status: 200, body: { cancel: false } })
    expect(appended).toBe(0)
    world.watchPuts(() => undefined)
    await people.post(`/runs/${out.claims.run_id}/cancel?wait=true`)
    await people.get('/runs?fresh=true')
    expect((await beat(9)).body).toEqual({ cancel: true })
  })

  test('is given back by a worker that ends, and tried again without a failure of its own', async () => {
    const out = await dispatch()
    await start(out)
    const said = { ...out.said, execution_id: ulidOf('one'), outcome: 'RELEASED', error: { code: 'WORKER_DRAINED', message: 'It ends.' } }
    // Nobody has folded the start yet: the answer waits for it, because the loss rests on it.
    expect(await worker.post(`${out.path}/completed`, said, out.headers)).toMatchObject({ status: 200 })
    await world.turn.run()
    const { body } = await people.get(`/runs/${out.claims.run_id}/tasks/a?fresh=true`)
    expect(body).toMatchObject({ state: 'DISPATCHED', attempt: 2, failures: 0, infra_losses: 0, error: { code: 'WORKER_DRAINED' } })
    await people.post(`/runs/${out.claims.run_id}/cancel?wait=true`)
  })

  test('that a worker had from a queue and can never run is lost, as a hand-over that was refused', async () => {
    const out = await dispatch()
    await start(out)
    const error = { code: 'UNKNOWN_ASSET', message: 'There is no asset a here.' }
    const said = { ...out.said, execution_id: ulidOf('one'), outcome: 'REFUSED', error }
    expect(await worker.post(`${out.path}/completed`, said, out.headers)).toMatchObject({ status: 200 })
    await world.turn.run()
    const { body } = await people.get(`/runs/${out.claims.run_id}/tasks/a?fresh=true`)
    expect(body).toMatchObject({ state: 'RETRY_WAIT', attempt: 1, failures: 0, infra_losses: 1, error })
    await people.post(`/runs/${out.claims.run_id}/cancel?wait=true`)
  })

  test('has one token, for one path', async () => {
    const [one, two] = [await dispatch(), await dispatch()]
    const body = { ...one.said, worker_id: 'w1' }
    const detail = `The token is not valid for attempt ${one.claims.attempt_id}. Send the task_token that its dispatch came with, as Authorization: Bearer.`
    const expired = makeToken(SECRETS, { ...one.claims, expires_at: 1 })
    const elsewhere = makeToken(SECRETS, { ...one.claims, tenant_id: 'other' })
    const wrong = [
      two.headers,
      {},
      { authorization: `Bearer ${API_TOKEN}` },
      ...[expired, elsewhere].map((token) => ({ authorization: `Bearer ${token}` })),
    ]
    for (const headers of wrong) {
      expect(await worker.post(`${one.path}/started`, body, headers)).toMatchObject({ status: 401, body: { detail } })
    }
    expect((await worker.get('/runs', one.headers)).status).toBe(401)
  })

  test.each([
    ['started', { worker_id: '' }, 'worker_id is "". Give it at least 1 characters.'],
    ['heartbeat', { seq: -1 }, 'seq is -1. Give it a whole number from 0 to 2147483647.'],
    [
      'completed',
      { outcome: 'SUCCEEDED' },
      'materialization_id is missing. Give it the ULID of what was materialized: outcome SUCCEEDED requires it.',
    ],
    ['completed', { outcome: 'FAILED' }, 'error is missing. Give it {"code", "message"}: outcome FAILED requires it.'],
  ])('is told what %s lacks: %j', async (verb, body, detail) => {
    const out = await dispatch()
    expect(await worker.post(`${out.path}/${verb}`, { ...out.said, ...body }, out.headers)).toMatchObject({ status: 400, body: { detail } })
  })

  test('may not put more into what it came to than tables hold', async () => {
    const out = await dispatch()
    const completed = { ...out.said, outcome: 'SKIPPED' }
    const metadata = await worker.post(`${out.path}/completed`, { ...completed, metadata: { much: 'x'.repeat(20_000) } }, out.headers)
    expect(metadata).toMatchObject({ status: 413, body: { errors: [{ path: 'metadata' }] } })
    const reason = await worker.post(`${out.path}/completed`, { ...completed, skip_reason: 'x'.repeat(300_000) }, out.headers)
    expect(reason).toMatchObject({ status: 413, body: { type: 'urn:servo:problem:too-large' } })
  })
})

describe('an execution that was not told to start', () => {
  test.each([
    ['heartbeat', { seq: 0 }],
    ['completed', { outcome: 'SKIPPED' }],
    ['completed', { outcome: 'RELEASED' }],
    ['logs', { chunk: 0, lines: [{ at: AT, level: 'INFO', message: 'x' }] }],
  ])('is not heard: %s %j', async (verb, body) => {
    const out = await dispatch()
    const say = async () => (await worker.post(`${out.path}/${verb}`, { ...out.said, ...body }, out.headers)).body['detail']
    const nobody = 'This attempt of a has not been started: code runs only after started was answered. Stop working on it.'
    expect(await say()).toBe(nobody)
    await start(out)
    const other = `Another execution of this attempt of a runs already: ${ulidOf('one')}. Stop working on it.`
    expect(await say()).toBe(other)
    // Nor by a process that knows nothing, whether the start is folded or not.
    const fresh = createAsker(await world.start({ api_token: API_TOKEN }))
    const sayThere = async () => (await fresh.post(`${out.path}/${verb}`, { ...out.said, ...body }, out.headers)).body['detail']
    expect(await sayThere()).toBe(other)
    await world.turn.run()
    expect(await sayThere()).toBe(other)
  })
})

describe('callbacks of several attempts', () => {
  const together = (...callbacks: object[]) => worker.post('/attempts/callbacks', { protocol: 'servo-worker-v1', callbacks })
  const part = (out: Out, callback: string, body: object) => ({
    attempt_id: out.claims.attempt_id,
    task_token: String(out.headers['authorization']).slice('Bearer '.length),
    callback,
    body: { ...out.said, ...body },
  })

  test('are answered each by itself, in their order, and what is wrong with one holds up no other', async () => {
    const [one, two, three] = [await dispatch(), await dispatch(), await dispatch()]
    const first = await together(
      part(one, 'started', { worker_id: 'w1' }),
      part(two, 'started', { worker_id: '' }),
      { ...part(three, 'started', { worker_id: 'w1' }), task_token: 'servo1.of.somebody.else' },
      part(one, 'heartbeat', { seq: 0, sequence: 1_000_000 }),
    )
    expect(first.status).toBe(200)
    expect(first.body['answers']).toMatchObject([
      { attempt_id: one.claims.attempt_id, status: 200, body: { attempt_id: one.claims.attempt_id, heartbeat_interval_ms: 20_000 } },
      { attempt_id: two.claims.attempt_id, status: 400, body: { detail: 'worker_id is "". Give it at least 1 characters.' } },
      { attempt_id: three.claims.attempt_id, status: 401, body: { type: 'urn:servo:problem:unauthorized' } },
      { attempt_id: one.claims.attempt_id, status: 503, retry_after_seconds: 1, body: { type: 'urn:servo:problem:not-ready' } },
    ])
    const second = await together(
      part(one, 'completed', { outcome: 'SKIPPED', skip_reason: 'nothing to do' }),
      part(two, 'completed', { outcome: 'SKIPPED' }),
      part(three, 'completed', { outcome: 'SKIPPED', skip_reason: 'x'.repeat(300_000) }),
    )
    const statuses = (second.body['answers'] as readonly { readonly status: number }[]).map(({ status }) => status)
    expect(statuses).toEqual([200, 409, 413])
    await world.turn.run()
    const { body } = await people.get(`/runs/${one.claims.run_id}/tasks/a?fresh=true`)
    expect(body).toMatchObject({ state: 'SKIPPED', skip_reason: 'nothing to do' })
  })

  test('that make no sense are refused as a whole', async () => {
    expect(await together()).toMatchObject({ status: 400, body: { errors: [{ path: 'callbacks' }] } })
    expect(await together({ callback: 'logs' })).toMatchObject({ status: 400 })
  })
})

describe('logs', () => {
  const lines = (...messages: string[]) => messages.map((message) => ({ at: AT, level: 'INFO', message }))
  const log = (out: Out, chunk: number, content: readonly unknown[], at = worker) =>
    at.post(`${out.path}/logs`, { ...out.said, chunk, lines: content }, out.headers)

  test('are kept by chunks, each once, and read by a client that follows', async () => {
    const out = await dispatch()
    await start(out, out.said.execution_id)
    const first = await log(out, 0, lines('one', 'two'))
    expect(first.status).toBe(200)
    expect(await log(out, 0, lines('another'))).toMatchObject({ status: 200, body: first.body })
    await log(out, 1, lines('three'))
    const path = `/runs/${out.claims.run_id}/tasks/a/logs?limit=2`
    const page = await people.get(path)
    expect(messagesOf(page.body)).toEqual(['one', 'two'])
    const next = await people.get(`${path}&after=${String(page.body['next_after'])}`)
    expect(next.body).toMatchObject({ lines: [{ message: 'three', level: 'INFO', at: AT }], is_last: true })
    const nothing = await people.get(`${path}&after=${String(next.body['next_after'])}`)
    expect(nothing.body).toMatchObject({ lines: [], is_last: true })
    await log(out, 2, lines('four'))
    expect(messagesOf((await people.get(`${path}&after=${String(nothing.body['next_after'])}`)).body)).toEqual(['four'])
    expect((await people.get(`${path}&attempt=7`)).body['detail']).toBe('a has no attempt 7; the newest is 1.')
  })

  test('end at the limit, whatever numbers a worker gives its chunks, also where another process takes over', async () => {
    const out = await dispatch()
    await start(out, out.said.execution_id)
    const other = createAsker(await world.start())
    const mega = lines(...Array.from({ length: 15 }, () => 'x'.repeat(60_000)))
    let kept = 0
    for (let i = 0; i < 14; i++) {
      const answer = await log(out, 999_999 - 7 * i, mega, i < 6 ? worker : createAsker(await world.start()))
      if (answer.status === 200) kept += 1
      else expect(answer).toMatchObject({ status: 413, body: { type: 'urn:servo:problem:too-large' } })
    }
    expect(kept * 15 * 60_000).toBeLessThanOrEqual(LOG_BYTES_MAX)
    expect(kept).toBeGreaterThan(9)
    const refused = await log(out, 0, mega, other)
    expect(refused.body['detail']).toMatch(
      new RegExp(
        `^This attempt has logged \\d+ of ${LOG_BYTES_MAX} bytes, and the chunk does not fit. Send no more, and write less or elsewhere.$`,
      ),
    )
    expect((await log(out, 1_000_000, lines('x'))).body['detail']).toBe(
      'chunk is 1000000. Number the chunks of an attempt 0, 1, 2 and so on.',
    )
  })

  test('end at the limit also where several processes serve the attempt in turn', async () => {
    const out = await dispatch()
    await start(out, out.said.execution_id)
    const apis = await Promise.all(['one', 'two', 'three'].map(async () => createAsker(await world.start())))
    const mega = lines(...Array.from({ length: 15 }, () => 'x'.repeat(60_000)))
    // In order, from whoever is next; then each process with numbers of its own, which follow one another.
    const inTurn = async (chunk: number) => (await log(out, chunk, mega, apis[chunk % 3])).status
    const statuses: number[] = []
    for (let chunk = 0; chunk < 14; chunk++) statuses.push(await inTurn(chunk))
    expect(statuses.filter((status) => status === 200)).toHaveLength(Math.floor(LOG_BYTES_MAX / (15 * 60_080)))

    const another = await dispatch()
    await start(another, another.said.execution_id)
    let kept = 0
    for (let i = 0; i < 36; i++) {
      const answer = await log(another, 1_000 * (i % 3) + Math.floor(i / 3), mega, apis[i % 3])
      kept += answer.status === 200 ? 1 : 0
    }
    // Each process may be a listing behind.
    expect(kept * 15 * 60_000).toBeLessThanOrEqual(LOG_BYTES_MAX + 3 * LOG_COUNTED_BYTES_MAX)
    expect(kept).toBeGreaterThan(10)
  })

  test('of one chunk fit one object', async () => {
    const out = await dispatch()
    await start(out, out.said.execution_id)
    const answer = await log(out, 0, lines(...Array.from({ length: 20 }, () => 'x'.repeat(60_000))))
    expect(answer).toMatchObject({ status: 413 })
    expect(answer.body['detail']).toMatch(/^The chunk has \d+ bytes, and 1048576 is the most. Send its lines in several.$/)
  })
})

const messagesOf = (body: object) => (body as { lines: readonly { message: string }[] }).lines.map(({ message }) => message)
