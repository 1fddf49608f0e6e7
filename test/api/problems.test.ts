// Everything that goes wrong is a problem document with a sentence that says what to do; and what the API says of itself.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { unavailable } from '../../src/core/errors.js'
import { API_TOKEN, type ApiWorld, type Asker, createApiWorld, createAsker, dispatched, MAIN, SECRETS } from '../fixtures/api-world.js'

let world: ApiWorld
let ask: Asker
let anybody: Asker
const logged: string[] = []

beforeAll(async () => {
  world = createApiWorld()
  const api = await world.start({
    api_token: API_TOKEN,
    log: { level: 'debug', stream: { write: (line: string) => void logged.push(line) } },
  })
  ask = createAsker(api, { authorization: `Bearer ${API_TOKEN}` })
  anybody = createAsker(api)
  await ask.post('/code-locations/main/deploy', MAIN)
})
afterAll(() => world.close())

const PROBLEM_JSON = 'application/problem+json; charset=utf-8'
const NO_RUN =
  'There is no run run_x. `servo run list` shows all. If it was made just now, ask again in a moment, or the API with fresh=true.'
const CURSOR = 'The cursor is damaged, or of another list. Send next_cursor of the page before as it is, or begin without one.'
const OTHER_LIST = Buffer.from(JSON.stringify({ v: 1, of: 'tasks', at: ['x', 'y'] })).toString('base64url')

describe('a fault', () => {
  test.each([
    [400, 'bad-input', 'GET', '/runs?limit=0', undefined, 'limit is "0". Give it a whole number from 1 to 100.'],
    [400, 'bad-input', 'GET', '/runs?fresh=maybe', undefined, 'fresh is "maybe". Give it one of true, false.'],
    [
      400,
      'bad-input',
      'GET',
      '/runs?order=up',
      undefined,
      'It has a member that nobody knows here: order. Correct the spelling, or leave it out.',
    ],
    [400, 'bad-input', 'GET', '/runs?cursor=nonsense', undefined, CURSOR],
    [400, 'bad-input', 'GET', `/runs?cursor=${OTHER_LIST}`, undefined, CURSOR],
    [400, 'bad-input', 'GET', '/runs?tag=team', undefined, 'tag is "team". Give it NAME=VALUE.'],
    [400, 'bad-input', 'GET', '/outcomes', undefined, 'idempotency_key is missing. Give it the key of the event, or event_id with its id.'],
    [400, 'bad-input', 'POST', '/runs', undefined, 'The request has no body. Send JSON, with content-type: application/json.'],
    [400, 'bad-input', 'POST', '/runs', '{"selection": ', 'The body is not JSON. Send one JSON object.'],
    [400, 'bad-input', 'POST', '/runs', {}, 'selection is missing. Give it one selector, or a list of 1 to 100.'],
    [
      400,
      'bad-input',
      'POST',
      '/runs',
      { selection: 'a', wait: true },
      'It has a member that nobody knows here: wait. Correct the spelling, or leave it out.',
    ],
    [400, 'bad-input', 'POST', '/runs', { selection: 'aa' }, 'aa is not defined.'],
    [400, 'bad-input', 'POST', '/runs', { selection: 'a', priority: 1_000 }, 'priority is 1000. Give it a whole number from -100 to 100.'],
    [
      400,
      'bad-input',
      'POST',
      '/runs',
      { selection: 'a', partitions: { all: true } },
      'None of the selected assets has partitions. Leave them out.',
    ],
    [
      400,
      'bad-input',
      'POST',
      '/runs/cancel',
      { filter: {} },
      'filter is an object with no members. Give it at least one condition, such as {"state": "PENDING"}.',
    ],
    [404, 'not-found', 'GET', '/nowhere', undefined, 'There is no GET /api/v1/orchestration/nowhere. /openapi.json lists what there is.'],
    [404, 'not-found', 'GET', '/runs/run_x', undefined, NO_RUN],
    [404, 'not-found', 'GET', '/runs/run_x/tasks', undefined, NO_RUN],
    [404, 'not-found', 'GET', '/runs/run_x/events', undefined, NO_RUN],
    [404, 'not-found', 'GET', '/runs/run_x/tasks/a', undefined, 'There is no task a in run run_x. A run has its tasks once it is planned.'],
    [404, 'not-found', 'GET', '/code-locations/x', undefined, 'There is no code location x. `servo deploy` makes one.'],
    [404, 'not-found', 'POST', '/runs/run_x/cancel', {}, NO_RUN],
    [
      413,
      'too-large',
      'POST',
      '/runs',
      { selection: 'x'.repeat(1_100_000) },
      'The body is larger than this route takes. Send it in several requests.',
    ],
  ] as const)('is %i %s for %s %s %#', async (status, code, method, path, body, detail) => {
    const answer = method === 'GET' ? await ask.get(path) : await ask.post(path, body)
    expect(answer).toMatchObject({
      status,
      body: { type: `urn:servo:problem:${code}`, status, request_id: answer.headers['x-request-id'] },
    })
    expect(String(answer.body['detail']).slice(0, detail.length)).toBe(detail)
    expect(answer.headers['content-type']).toBe(PROBLEM_JSON)
    expect(answer.body).not.toHaveProperty('stack')
  })

  test('is 415 where the body is no JSON', async () => {
    const answer = await ask.post('/runs', 'selection=a', { 'content-type': 'application/x-www-form-urlencoded' })
    expect(answer).toMatchObject({ status: 415, body: { detail: 'The body is not JSON. Send it with content-type: application/json.' } })
  })

  test('is 401 without the token, with another one, and for reads too', async () => {
    const none = await anybody.get('/runs')
    expect(none).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer', 'content-type': PROBLEM_JSON } })
    expect(none.body['detail']).toBe(
      'The request has no token. Send Authorization: Bearer and the API token that this server was started with.',
    )
    const wrong = await anybody.post('/runs', { selection: 'a' }, { authorization: `Bearer ${API_TOKEN}x` })
    expect(wrong.body['detail']).toBe(
      'The token is not the one of this API. Send Authorization: Bearer and the API token that this server was started with.',
    )
    expect((await anybody.get('~/metrics')).status).toBe(401)
  })

  test('is 503 with retry-after where the store does not answer, and for a revision that does not come', async () => {
    world.watchPuts((name) => {
      if (name.startsWith('claims/')) throw unavailable('Gone.')
    })
    const answer = await ask.post('/runs', { selection: 'a' }, { 'idempotency-key': 'gone' })
    world.watchPuts(() => undefined)
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: { type: 'urn:servo:problem:unavailable' } })
    expect(await ask.get('/runs?min_sequence=1')).toMatchObject({ status: 200 })
    expect((await ask.get('/runs?min_sequence=999999')).body['detail']).toBe(
      'Revision 999999 is not to be seen here yet. Ask again in a moment.',
    )
  })

  test('is 429 for one principal, and not for probes and callbacks', async () => {
    const few = createAsker(await world.start({ rate_limit_per_minute: 2 }))
    for (let i = 0; i < 2; i++) expect((await few.get('/runs')).status).toBe(200)
    const over = await few.get('/runs')
    expect(over).toMatchObject({ status: 429, headers: { 'content-type': PROBLEM_JSON } })
    expect(over.body['detail']).toBe('More than 2 requests within a minute. Ask again in 1 minute.')
    for (const probe of ['~/healthz', '~/readyz', '~/metrics']) {
      for (let i = 0; i < 5; i++) expect((await few.get(probe)).status).toBe(200)
    }
    expect((await few.post('/attempts/01JHMPFN9C4W8R2T6Y0B3D5F7H/started', {})).status).toBe(400)
  })
})

describe('the API', () => {
  test('says what it is and whether it is ready', async () => {
    expect((await anybody.get('~/healthz')).body).toEqual({ ok: true, version: '0.1.0' })
    expect((await anybody.get('~/readyz')).body).toMatchObject({ ready: true, degraded: false })
    const { text } = (await ask.get('~/metrics')).body as { readonly text: string }
    expect(text).toContain('\nservo_compaction_lag_seconds 1.5\n')
    expect(text).toMatch(/servo_http_request_duration_seconds_count\{route="[^"]+",method="GET",status="2xx"\} \d/)
  })

  test('says what is missing: of what it needs with 503, of the rest as degraded', async () => {
    const store = { name: 'store', ok: true, needed: true, detail: 'revision 3' }
    const temporal = { name: 'temporal', ok: false, needed: false, detail: 'It does not answer. Start it.' }
    const degraded = createAsker(await world.start({ readiness: async () => [store, temporal] }))
    expect(await degraded.get('~/readyz')).toMatchObject({ status: 200, body: { ready: true, degraded: true, checks: [store, temporal] } })
    const gone = { ...store, ok: false, detail: 'gs://b does not answer.' }
    const unready = createAsker(await world.start({ readiness: async () => [gone, temporal] }))
    const answer = await unready.get('~/readyz')
    expect(answer).toMatchObject({
      status: 503,
      body: { detail: 'Not ready: store: gs://b does not answer.', checks: [gone, temporal] },
    })
  })

  test('tells details of what is missing to callers with its token alone, and counts those who try one', async () => {
    const readiness = async () => [{ name: 'store', ok: false, needed: true, detail: 'gs://b does not answer.' }]
    const api = await world.start({ api_token: API_TOKEN, readiness, rate_limit_per_minute: 2 })
    const stranger = await createAsker(api).get('~/readyz')
    expect(stranger).toMatchObject({ status: 503, body: { checks: [{ name: 'store', ok: false, needed: true }] } })
    expect(stranger.body['detail']).toBe('Not ready: store. Ask with the API token for what is wrong.')
    expect(JSON.stringify(stranger.body)).not.toContain('gs://b')
    const guesser = createAsker(api, { authorization: 'Bearer another' })
    expect(JSON.stringify((await guesser.get('~/readyz')).body)).not.toContain('gs://b')
    const owner = createAsker(api, { authorization: `Bearer ${API_TOKEN}` })
    expect((await owner.get('~/readyz')).body['detail']).toBe('Not ready: store: gs://b does not answer.')
    await guesser.get('~/readyz')
    expect((await guesser.get('~/readyz')).status).toBe(429)
    for (let i = 0; i < 5; i++) expect((await createAsker(api).get('~/readyz')).status).toBe(503)
    for (let i = 0; i < 5; i++) expect((await owner.get('~/metrics')).status).toBe(200)
    for (let i = 0; i < 5; i++) expect((await createAsker(api).get('~/metrics')).status).toBe(401)
    for (const status of [401, 401, 429]) expect((await guesser.get('~/metrics')).status).toBe(status)
  })

  test('takes each of several tokens, and no other', async () => {
    const api = await world.start({ api_tokens: [API_TOKEN, 'the-token-that-comes-next'] })
    const statusOf = async (token: string) => (await createAsker(api, { authorization: `Bearer ${token}` }).get('/runs')).status
    expect([await statusOf(API_TOKEN), await statusOf('the-token-that-comes-next'), await statusOf('the-token-before')]).toEqual([
      200, 200, 401,
    ])
  })

  test('keeps a well-formed request id, and makes one otherwise', async () => {
    expect((await ask.get('/runs', { 'x-request-id': 'mine-1' })).headers['x-request-id']).toBe('mine-1')
    expect((await ask.get('/runs', { 'x-request-id': 'not mine' })).headers['x-request-id']).toMatch(/^req_[0-9A-Z]{26}$/)
  })

  test('logs a line a request, with what it is about, and no token and no secret', async () => {
    const { body } = await ask.post('/runs?wait=true', { selection: 'a' })
    await world.turn.run()
    for (const { path, headers, said } of await dispatched(world))
      await anybody.post(`${path}/started`, { ...said, worker_id: 'w' }, headers)
    await anybody.get('/runs', { authorization: 'Bearer guess-of-a-stranger' })
    await ask.get(`/runs/${String(body['run_id'])}/tasks/a`)
    const whole = logged.join('')
    expect(whole).toContain(`"run_id":"${String(body['run_id'])}","task_key":"a"`)
    expect(whole).toContain('"tenant_id":"acme","workspace_id":"prod"')
    for (const secret of [API_TOKEN, String(SECRETS[0].secret), 'servo1.', 'guess-of-a-stranger']) expect(whole).not.toContain(secret)
  })
})

type Schema = { readonly [member: string]: unknown }
type Operation = {
  readonly operationId?: string
  readonly parameters?: readonly Schema[]
  readonly responses: Readonly<Record<string, Schema>>
}

describe('the OpenAPI document', () => {
  let document: Schema

  beforeAll(async () => {
    document = (await anybody.get('~/openapi.json')).body
  })

  const operations = () =>
    Object.entries(document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => ({ path, operation })),
    )

  test('is of version 3.1, and every reference in it leads somewhere', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Servo', version: '0.1.0' } })
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference)
    expect(references.length).toBeGreaterThan(50)
    const lost = references.filter((reference) => {
      const found = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((at, step) => (at as Schema | undefined)?.[step], document)
      return !reference.startsWith('#/') || found === undefined
    })
    expect(lost).toEqual([])
    expect(JSON.stringify(document)).not.toContain('"nullable"')
  })

  test('names every route once, with its parameters, an answer and its problems', () => {
    const names = operations().map(({ operation }) => operation.operationId)
    expect(names.length).toBe(49)
    expect(new Set(names).size).toBe(names.length)
    for (const { path, operation } of operations()) {
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter['in'] === 'path').map((parameter) => parameter['name'])
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
      const { responses } = operation
      expect(Object.keys(responses).some((status) => status.startsWith('2'))).toBe(true)
      for (const status of ['400', '401', '429', '500', '503']) {
        expect(responses[status]).toMatchObject({
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        })
      }
    }
  })

  test('has the protocol of workers in it', () => {
    const { schemas } = document['components'] as { readonly schemas: Schema }
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(['Dispatch', 'DispatchRequest', 'StartedRequestInput', 'CompletedRequestInput', 'LogLine']),
    )
  })
})
