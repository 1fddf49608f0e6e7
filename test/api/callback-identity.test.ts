// Where the API asks who calls back: the token of the attempt opens it, and another one says which program it is.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLocalJWKSet } from 'jose'
import { KeySetError, openKeySet } from '../../src/oidc/key-set.js'
import { createOidcVerifier } from '../../src/oidc/verifier.js'
import { ACCOUNT, createSigner, ISSUER, type Signer } from '../faults/cloud-tasks/signer.js'
import { API_TOKEN, type Asker, createApiWorld, createAsker, dispatched, MAIN, type Out } from '../fixtures/api-world.js'

const AUDIENCE = 'https://servo.example.com'
const world = createApiWorld()
let signer: Signer
let people: Asker
let worker: Asker
let out: Out
let are_keys_away = false

beforeAll(async () => {
  signer = await createSigner()
  const keys = createLocalJWKSet(signer.key_set)
  const callback_proof = createOidcVerifier(
    { audience: AUDIENCE, issuer: ISSUER, email: ACCOUNT },
    (header, token) => (are_keys_away ? Promise.reject(new KeySetError('They are away.')) : keys(header, token)),
    Date.now,
  )
  const api = await world.start({ api_token: API_TOKEN, callback_proof })
  people = createAsker(api, { authorization: `Bearer ${API_TOKEN}` })
  worker = createAsker(api)
  await people.post('/code-locations/main/deploy', MAIN)
  await people.post('/runs?wait=true', { selection: 'a' })
  await world.turn.run()
  out = (await dispatched(world))[0] as Out
})
afterAll(() => world.close())

const started = (headers: Readonly<Record<string, string>>) => worker.post(`${out.path}/started`, { ...out.said, worker_id: 'w1' }, headers)
const identity = async (claims: object = {}, by = signer) => ({ 'servo-identity': await by.sign({ aud: AUDIENCE, ...claims }, Date.now()) })

test('a callback without it is refused, and so is one with anything wrong in it', async () => {
  const wrong = [
    {},
    await identity({ aud: 'https://other.example.com' }),
    await identity({ email: 'evil@example.com' }),
    await identity({ exp: 1 }),
    await identity({}, await createSigner()),
    { 'servo-identity': 'none' },
  ]
  for (const headers of wrong) {
    expect(await started({ ...out.headers, ...headers })).toMatchObject({
      status: 401,
      body: {
        detail: expect.stringMatching(/^This API takes callbacks with an OIDC token alone, .* Send one in the header servo-identity\.$/),
      },
    })
  }
})

test('it opens nothing by itself: the token of the attempt is needed all the same', async () => {
  expect(await started(await identity())).toMatchObject({ status: 401, body: { detail: expect.stringContaining('Send the task_token') } })
  const together = {
    protocol: 'servo-worker-v1',
    callbacks: [{ attempt_id: out.claims.attempt_id, task_token: 'wrong', callback: 'started', body: { ...out.said, worker_id: 'w1' } }],
  }
  expect((await worker.post('/attempts/callbacks', together)).status).toBe(401)
  expect(await worker.post('/attempts/callbacks', together, await identity())).toMatchObject({
    status: 200,
    body: { answers: [{ status: 401 }] },
  })
})

test('while its keys are not to be had the worker is told to ask again', async () => {
  are_keys_away = true
  expect(await started({ ...out.headers, ...(await identity()) })).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  are_keys_away = false
})

test('while its key was not looked for yet the worker is told to ask again, and is heard then', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'servo-keys-'))
  try {
    const file = join(folder, 'keys.json')
    const next = await createSigner('next')
    writeFileSync(file, JSON.stringify(signer.key_set))
    let elapsed = 0
    const keys = await openKeySet(file, () => elapsed)
    const callback_proof = createOidcVerifier({ audience: AUDIENCE, issuer: ISSUER, email: ACCOUNT }, keys, Date.now)
    const rotating = createAsker(await world.start({ callback_proof }))
    const say = async () =>
      rotating.post(`${out.path}/started`, { ...out.said, worker_id: 'w1' }, { ...out.headers, ...(await identity({}, next)) })
    writeFileSync(file, JSON.stringify(next.key_set))
    expect(await say()).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: { type: 'urn:servo:problem:not-ready' } })
    elapsed = 30_000
    expect(await say()).toMatchObject({ status: 200 })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('with both the callback is taken, and people are asked for their own token alone', async () => {
  expect(await started({ ...out.headers, ...(await identity()) })).toMatchObject({ status: 200 })
  expect((await people.get('/runs')).status).toBe(200)
  expect((await worker.get('/runs', await identity())).status).toBe(401)
})
