// What the gcs adapter makes of each answer, and of none, with the real client against a server whose answers are
// written here. The client's habits that LEDGER section 3 warns of (a second attempt, a delete after a checksum) show
// as requests that should not be there.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { isOperatingError, type OperatingErrorKind } from '../../src/core/errors.js'
import { crc32cHex } from '../../src/core/hash.js'
import { createGcsStore } from '../../src/storage/gcs.js'
import type { ObjectStore } from '../../src/storage/object-store.js'

type Request = { readonly method: string; readonly url: URL; readonly body: string }
type Answer =
  | { readonly status: number; readonly body?: object | string; readonly headers?: Record<string, string> }
  | 'reset'
  | 'cut'
  | 'hang'

const SERVER_TIME = Date.parse('2025-01-15T10:00:00.000Z')
const CREATED_TIME = SERVER_TIME + 180
const BYTES = new TextEncoder().encode('hello')
const RESOURCE = {
  name: 'a',
  generation: '1736935200180123',
  timeCreated: '2025-01-15T10:00:00.180Z',
  size: '5',
  crc32c: Buffer.from(crc32cHex(BYTES), 'hex').toString('base64'),
  metadata: { k: 'v' },
}
const HEAD = {
  name: 'a',
  generation: '1736935200180123',
  creation_time: '2025-01-15T10:00:00.180Z',
  size: 5,
  crc32c: crc32cHex(BYTES),
  meta: { k: 'v' },
}

let server: Server
let store: ObjectStore
let api_endpoint = ''
/** The store's own clock, which stands still unless a test lets it go on. */
let elapsed = 0
let requests: Request[] = []
let answer: (request: Request) => Answer = () => 'reset'

beforeAll(async () => {
  server = createServer((incoming, outgoing) => void respond(incoming, outgoing))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  api_endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(async () => {
  process.env['STORAGE_EMULATOR_HOST'] = 'http://127.0.0.1:9'
  elapsed = 0
  const clock = { now: () => 0, elapsed: () => elapsed }
  store = await createGcsStore({ bucket: 'bucket', api_endpoint, timeout_ms: 300, clock })
  delete process.env['STORAGE_EMULATOR_HOST']
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
afterEach(() => {
  requests = []
})

async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const chunks: Uint8Array[] = []
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array)
  const request = {
    method: incoming.method ?? '',
    url: new URL(incoming.url ?? '', 'http://server'),
    body: Buffer.concat(chunks).toString(),
  }
  requests.push(request)
  const answered = answer(request)
  if (answered === 'reset') return void incoming.socket.destroy()
  if (answered === 'hang') return
  if (answered === 'cut') {
    outgoing.writeHead(200, { 'content-length': '5', 'x-goog-generation': RESOURCE.generation })
    outgoing.write('he', () => incoming.socket.destroy())
    return
  }
  const { status, body = '', headers = {} } = answered
  outgoing.writeHead(status, { date: new Date(SERVER_TIME).toUTCString(), 'content-type': 'application/json', ...headers })
  outgoing.end(typeof body === 'string' ? body : JSON.stringify(body))
}

const put = () => store.put('a', BYTES, { if_generation: '0', meta: { k: 'v' } })
const isMedia = ({ url }: Request) => url.searchParams.get('alt') === 'media'
const found = (request: Request, generation = RESOURCE.generation): Answer =>
  isMedia(request) ? { status: 200, body: 'hello', headers: { 'x-goog-generation': generation } } : { status: 200, body: RESOURCE }

async function kindOf(promise: Promise<unknown>): Promise<OperatingErrorKind | 'no error'> {
  try {
    await promise
    return 'no error'
  } catch (error) {
    if (isOperatingError(error)) return error.kind
    throw error
  }
}

test('a put is one multipart request with its precondition and its checksum', async () => {
  answer = () => ({ status: 200, body: RESOURCE })
  expect(await put()).toEqual({ kind: 'stored', head: HEAD, server_time: CREATED_TIME, late: false })
  expect(requests).toHaveLength(1)
  const [{ method, url, body }] = requests as [Request]
  expect(method).toBe('POST')
  expect(Object.fromEntries(url.searchParams)).toEqual({ uploadType: 'multipart', name: 'a', ifGenerationMatch: '0' })
  expect(body).toContain(JSON.stringify(RESOURCE.crc32c))
  expect(body).toContain('"metadata":{"k":"v"}')
})

test('a put whose answer is lost is tried once, and its outcome is unknown', async () => {
  answer = () => 'reset'
  expect(await kindOf(put())).toBe('unavailable')
  expect(requests).toHaveLength(1)
})

test.each([500, 502, 503, 504, 408])('a put that is answered %i is tried once, and its outcome is unknown', async (status) => {
  answer = () => ({ status, body: {} })
  expect(await kindOf(put())).toBe('unavailable')
  expect(requests).toHaveLength(1)
})

test.each([
  [412, 'precondition_failed'],
  [429, 'throttled'],
  [403, 'forbidden'],
] as const)('a put that is answered %i is %s, at the time of the server', async (status, kind) => {
  answer = () => ({ status, body: { error: { code: status, message: 'no' } } })
  expect(await put()).toEqual({ kind, server_time: SERVER_TIME })
  expect(requests).toHaveLength(1)
})

test('a body that the server refuses is an error, and nothing is deleted', async () => {
  answer = () => ({ status: 400, body: { error: { code: 400, message: 'crc32c does not match' } } })
  expect(await kindOf(put())).toBe('unavailable')
  answer = () => ({ status: 200, body: { ...RESOURCE, crc32c: 'AAAAAA==' } })
  expect(await put()).toMatchObject({ kind: 'stored', head: { crc32c: '00000000' } })
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'POST'])
})

test.each([
  [204, 'deleted'],
  [404, 'absent'],
  [412, 'precondition_failed'],
  [429, 'throttled'],
  [403, 'forbidden'],
] as const)('a delete that is answered %i is %s', async (status, kind) => {
  answer = () => ({ status, ...(status === 204 ? {} : { body: { error: { code: status } } }) })
  expect(await store.delete('a', { if_generation: '17' })).toEqual({ kind })
  expect(requests).toHaveLength(1)
  expect(requests[0]?.url.searchParams.get('ifGenerationMatch')).toBe('17')
})

test('a delete without an answer is tried once, and its outcome is unknown', async () => {
  answer = () => 'reset'
  expect(await kindOf(store.delete('a', { if_generation: '17' }))).toBe('unavailable')
  expect(requests).toHaveLength(1)
})

test('a get answers one generation, and reads again where the two requests met different ones', async () => {
  answer = found
  expect(await store.get('a')).toMatchObject({ kind: 'found', head: HEAD, bytes: Buffer.from('hello'), server_time: SERVER_TIME })
  let media = 0
  answer = (request) => found(request, isMedia(request) && media++ === 0 ? '2' : RESOURCE.generation)
  expect(await store.get('a')).toMatchObject({ kind: 'found', head: HEAD })
  expect(media).toBe(2)
  answer = () => ({ status: 404, body: 'Not Found' })
  expect(await store.get('a')).toEqual({ kind: 'absent', server_time: SERVER_TIME })
})

test('a body that breaks off is no body', async () => {
  answer = (request) => (isMedia(request) ? 'cut' : found(request))
  expect(await kindOf(store.get('a'))).toBe('unavailable')
  answer = (request) =>
    isMedia(request) ? { status: 200, body: 'hell', headers: { 'x-goog-generation': RESOURCE.generation } } : found(request)
  expect(await kindOf(store.get('a'))).toBe('unavailable')
})

test('a read waits for less than a write does: a body that breaks off, and an answer that does not come', async () => {
  const patient = { bucket: 'bucket', api_endpoint, timeout_ms: 3_600_000, read_timeout_ms: 100 }
  const reads = await createGcsStore(patient)
  answer = (request) => (isMedia(request) ? 'cut' : found(request))
  expect(await kindOf(reads.get('a'))).toBe('unavailable')
  answer = () => 'hang'
  for (const call of [reads.get('a'), reads.head('a'), reads.list('a')]) expect(await kindOf(call)).toBe('unavailable')
})

test('reads that are not answered are tried once', async () => {
  for (const failing of ['reset', { status: 503 }, { status: 429 }, { status: 403 }] as const) {
    answer = () => failing
    expect(await kindOf(store.head('a'))).toBe('unavailable')
    expect(await kindOf(store.list('a'))).toBe('unavailable')
    expect(requests).toHaveLength(2)
    requests = []
  }
})

test.each(['reset', { status: 503 }, { status: 429 }, { status: 403 }] as const)(
  'a get of which one request fails (%j) is no answer',
  async (failing) => {
    for (const is_failing of [isMedia, (request: Request) => !isMedia(request)]) {
      answer = (request) => (is_failing(request) ? failing : found(request))
      expect(await kindOf(store.get('a'))).toBe('unavailable')
    }
  },
)

test('a server that does not answer is not waited for', async () => {
  answer = () => 'hang'
  for (const call of [put(), store.get('a'), store.head('a'), store.list('a'), store.delete('a', { if_generation: '17' })]) {
    expect(await kindOf(call)).toBe('unavailable')
  }
})

test('a listing goes on after an empty page, and drops the name that it goes on from', async () => {
  const pages = [{ nextPageToken: 't' }, { items: [RESOURCE, { ...RESOURCE, name: 'b' }], nextPageToken: 'u' }]
  answer = () => ({ status: 200, body: pages[requests.length - 1] as object })
  expect(await store.list('', 'a')).toEqual({ objects: [{ ...HEAD, name: 'b' }], next: 'b', server_time: SERVER_TIME })
  expect(requests.map(({ url }) => [url.searchParams.get('startOffset'), url.searchParams.get('pageToken')])).toEqual([
    ['a', null],
    ['a', 't'],
  ])
})

test('the time goes on from the best of what answers said, and back for none of them', async () => {
  answer = () => ({ status: 404, body: 'Not Found' })
  expect((await store.head('a')).server_time).toBe(SERVER_TIME)
  answer = () => ({ status: 200, body: RESOURCE })
  expect(await put()).toMatchObject({ server_time: CREATED_TIME })
  elapsed = 600
  // Still of the same second, and 600 ms of this clock are 599.7 at least.
  expect((await store.head('a')).server_time).toBe(CREATED_TIME + 599)
  expect(store.now?.()).toBe(CREATED_TIME + 599)
  elapsed = 601
  answer = () => ({ status: 503 })
  expect(await kindOf(store.head('a'))).toBe('unavailable')
  expect(store.now?.()).toBe(CREATED_TIME + 600)
})

test('an object that was replaced says nothing of the time: when it was created is for the server to mean', async () => {
  answer = () => ({ status: 200, body: RESOURCE })
  expect(await store.put('a', BYTES, { if_generation: '17' })).toMatchObject({ kind: 'stored', server_time: SERVER_TIME })
})

test('the time of a listing is that of its request: what it lacks may be younger', async () => {
  answer = () => ({ status: 200, body: RESOURCE })
  await put()
  answer = () => {
    elapsed += 400
    return { status: 200, body: {} }
  }
  expect(await store.list('')).toMatchObject({ server_time: CREATED_TIME })
  expect(store.now?.()).toBe(CREATED_TIME + 399)
})
