// What a page in a browser of this machine's user may do to an API that asks for no token: nothing. A name that such a page was
// loaded by can lead to this machine, too, and then the browser takes both for one (DNS rebinding).

import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Api } from '../../src/api/http/deps.js'
import { API_TOKEN, type ApiWorld, BASE, createApiWorld, createAsker, MAIN } from '../fixtures/api-world.js'

let world: ApiWorld
let open: Api
let named: Api
let closed: Api

beforeAll(async () => {
  world = createApiWorld()
  open = await world.start()
  named = await world.start({ allowed_hosts: ['servo.example.com'] })
  closed = await world.start({ api_token: API_TOKEN })
  await createAsker(open).post('/code-locations/main/deploy', MAIN)
})
afterAll(() => world.close())

type Sent = { readonly method?: string; readonly path?: string; readonly headers?: Readonly<Record<string, string>> }

/** fetch does not let its caller choose the header Host. */
const send = (api: Api, { method = 'GET', path = `${BASE}/runs`, headers = {} }: Sent) =>
  new Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>((resolve, reject) => {
    const { hostname, port } = new URL(api.listeningOrigin)
    const sent = request({ hostname, port, method, path, headers, agent: false }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(parts).toString('utf8')) }))
    })
    sent.on('error', reject)
    sent.end(method === 'POST' ? JSON.stringify({ selection: 'a' }) : undefined)
  })

const RUN = { method: 'POST', path: `${BASE}/runs` }
const JSON_BODY = { 'content-type': 'application/json' }
const FORBIDDEN = { status: 403, body: { type: expect.stringMatching(/forbidden$/) } }
const WITH_TOKEN = { authorization: `Bearer ${API_TOKEN}` }
const runCount = async () => (await createAsker(open).get('/runs')).body['runs'] as readonly unknown[]

describe('without a token', () => {
  test('a page whose name leads to this machine starts no run', async () => {
    const headers = { ...JSON_BODY, host: 'evil.example:8800', origin: 'http://evil.example:8800' }
    expect(await send(open, { ...RUN, headers })).toMatchObject({
      ...FORBIDDEN,
      body: { detail: expect.stringMatching(/^This API has no token.* this one is for "evil\.example:8800"\. Call it by 127\.0\.0\.1/) },
    })
    expect(await runCount()).toEqual([])
  })

  test.each(['/api/v1/orchestration/runs', '/api/v1/orchestration/runs?fresh=true', '/metrics', '/openapi.json', '/nowhere'])(
    'nor reads %s',
    async (path) => {
      expect(await send(open, { path, headers: { host: 'evil.example:8800' } })).toMatchObject(FORBIDDEN)
    },
  )

  test.each(['127.0.0.1', 'localhost:9', '[::1]:8800'])('a request for %s is answered', async (host) => {
    expect((await send(open, { headers: { host } })).status).toBe(200)
  })

  test('a name that is configured is answered, and no other', async () => {
    expect((await send(named, { headers: { host: 'servo.example.com:443' } })).status).toBe(200)
    expect(await send(named, { headers: { host: 'evil.example' } })).toMatchObject(FORBIDDEN)
  })

  test.each(['/healthz', '/readyz', '/readyz?verbose'])('a probe of %s may come by any name', async (path) => {
    expect((await send(open, { path, headers: { host: '10.1.2.3:7800' } })).status).toBe(200)
  })
})

describe('a change', () => {
  const foreign = ['http://evil.example', 'null', 'http://127.0.0.1:3000', 'http://localhost:3000']

  test.each(foreign)('that a page of %s sends is refused without a token', async (origin) => {
    const headers = { ...JSON_BODY, host: '127.0.0.1:8800', origin }
    expect(await send(open, { ...RUN, headers })).toMatchObject({
      ...FORBIDDEN,
      body: { detail: expect.stringContaining(`comes from a page of ${JSON.stringify(origin)},`) },
    })
  })

  test.each(foreign)('that a page of %s sends is refused with the token', async (origin) => {
    const headers = { ...JSON_BODY, ...WITH_TOKEN, host: 'servo.example.com', origin }
    expect(await send(closed, { ...RUN, headers })).toMatchObject(FORBIDDEN)
    expect(await send(closed, { ...RUN, method: 'DELETE', path: `${BASE}/pools/p`, headers })).toMatchObject(FORBIDDEN)
    expect(await send(closed, { ...RUN, path: `${BASE}/attempts/callbacks`, headers })).toMatchObject(FORBIDDEN)
  })

  test('that no page or an own one sends is taken', async () => {
    const host = '127.0.0.1:8800'
    expect((await send(open, { ...RUN, headers: { ...JSON_BODY, host } })).status).toBe(202)
    expect((await send(open, { ...RUN, headers: { ...JSON_BODY, host, origin: `http://${host}` } })).status).toBe(202)
    const proxied = { ...JSON_BODY, host, origin: 'https://servo.example.com' }
    expect((await send(named, { ...RUN, headers: proxied })).status).toBe(202)
    const by_name = { ...JSON_BODY, ...WITH_TOKEN, host: 'any.example', origin: 'https://any.example' }
    expect((await send(closed, { ...RUN, headers: by_name })).status).toBe(202)
  })

  test('is what is refused: a page may ask, and its browser shows it no answer', async () => {
    const answer = await fetch(`${open.listeningOrigin}${BASE}/runs`, { headers: { origin: 'http://evil.example' } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  })
})
