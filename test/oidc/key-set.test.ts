// Where keys and tokens come from: files that change under a program, addresses that are away.

import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createIdentity } from '../../src/oidc/identity.js'
import { openKeySet } from '../../src/oidc/key-set.js'
import { createOidcVerifier } from '../../src/oidc/verifier.js'
import { createSigner, ISSUER } from '../faults/cloud-tasks/signer.js'

const AUDIENCE = 'https://servo.example.com'
let folder = ''
let server: Server
let answer: () => { readonly status: number; readonly body: string } = () => ({ status: 200, body: '' })
let asked: { readonly url: string; readonly flavor: unknown }[] = []
let elapsed = 0

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'servo-oidc-'))
  elapsed = 0
  asked = []
  server = createServer((request, response) => {
    asked.push({ url: request.url ?? '', flavor: request.headers['metadata-flavor'] })
    const { status, body } = answer()
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  server.close()
  server.closeAllConnections()
  rmSync(folder, { recursive: true, force: true })
})
const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const verifierOf = async (place: string) =>
  createOidcVerifier({ audience: AUDIENCE, issuer: ISSUER }, await openKeySet(place, () => elapsed), Date.now)
const kindOf = async (verify: Awaited<ReturnType<typeof verifierOf>>, token: Promise<string>) => (await verify(await token)).kind

describe('a file of keys', () => {
  test('is read again when a key comes that it did not have, and no more often than twice a minute', async () => {
    const file = join(folder, 'keys.json')
    const [old, next] = [await createSigner('old'), await createSigner('next')]
    writeFileSync(file, JSON.stringify(old.key_set))
    const verify = await verifierOf(file)
    const by = (signer: typeof old) => signer.sign({ aud: AUDIENCE }, Date.now())
    expect(await kindOf(verify, by(old))).toBe('valid')
    writeFileSync(file, JSON.stringify({ keys: [...old.key_set.keys, ...next.key_set.keys] }))
    // Whoever has it is to ask again: it may be a key of after the last look.
    expect(await verify(await by(next))).toEqual({
      kind: 'unknown',
      problem: expect.stringMatching(/^The key set .*keys\.json has no such key, and was looked at a moment ago\. .* at most 30 s\.$/),
    })
    elapsed = 29_999
    expect(await kindOf(verify, by(next))).toBe('unknown')
    elapsed = 30_000
    expect(await kindOf(verify, by(next))).toBe('valid')
    // One that is damaged takes nothing away.
    writeFileSync(file, '{"keys":')
    elapsed = 61_000
    expect(await kindOf(verify, by(await createSigner('unknown')))).toBe('unknown')
    expect(await kindOf(verify, by(next))).toBe('valid')
  })

  test('that does not have a key when it is looked at refuses what is signed by it', async () => {
    const file = join(folder, 'keys.json')
    writeFileSync(file, JSON.stringify((await createSigner('old')).key_set))
    const verify = await verifierOf(file)
    const strange = await createSigner('strange')
    elapsed = 30_000
    expect(await kindOf(verify, strange.sign({ aud: AUDIENCE }, Date.now()))).toBe('refused')
    // The next look says the same of it, and until then nobody knows.
    elapsed = 59_999
    expect(await kindOf(verify, strange.sign({ aud: AUDIENCE }, Date.now()))).toBe('unknown')
    elapsed = 60_000
    expect(await kindOf(verify, strange.sign({ aud: AUDIENCE }, Date.now()))).toBe('refused')
  })

  test('that is not there, or none, is said at once', async () => {
    await expect(verifierOf(join(folder, 'missing.json'))).rejects.toThrow(/^The key set .*missing\.json cannot be read: .*ENOENT/)
    const file = join(folder, 'keys.json')
    for (const text of ['', '[]', '{"keys": 1}']) {
      writeFileSync(file, text)
      await expect(verifierOf(file)).rejects.toThrow(/keys\.json is no JSON Web Key Set\. It has one member, "keys"/)
    }
  })
})

describe('an address of keys', () => {
  test('is asked once for many tokens', async () => {
    const signer = await createSigner()
    answer = () => ({ status: 200, body: JSON.stringify(signer.key_set) })
    const verify = await verifierOf(`${address()}/certs`)
    for (let round = 0; round < 5; round++) expect(await kindOf(verify, signer.sign({ aud: AUDIENCE }, Date.now()))).toBe('valid')
    expect(asked).toHaveLength(1)
  })

  test('is asked again when a key comes that it did not have, and no more often than twice a minute', async () => {
    const [old, next] = [await createSigner('old'), await createSigner('next')]
    let key_set = old.key_set
    answer = () => ({ status: 200, body: JSON.stringify(key_set) })
    const verify = await verifierOf(`${address()}/certs`)
    const by = (signer: typeof old) => signer.sign({ aud: AUDIENCE }, Date.now())
    expect(await kindOf(verify, by(old))).toBe('valid')
    key_set = { keys: [...old.key_set.keys, ...next.key_set.keys] }
    elapsed = 29_999
    expect(await verify(await by(next))).toEqual({
      kind: 'unknown',
      problem: expect.stringMatching(/^The key set .*\/certs has no such key, and was looked at a moment ago\. .* at most 30 s\.$/),
    })
    expect(asked).toHaveLength(1)
    elapsed = 30_000
    expect([await kindOf(verify, by(next)), asked.length]).toEqual(['valid', 2])
    // One that it does not have either.
    elapsed = 60_000
    expect([await kindOf(verify, by(await createSigner('strange'))), asked.length]).toEqual(['refused', 3])
  })

  test('that is away when it is asked again says nothing of a new key, and the keys that were known stay', async () => {
    const [old, next] = [await createSigner('old'), await createSigner('next')]
    answer = () => ({ status: 200, body: JSON.stringify(old.key_set) })
    const verify = await verifierOf(`${address()}/certs`)
    const by = (signer: typeof old) => signer.sign({ aud: AUDIENCE }, Date.now())
    expect(await kindOf(verify, by(old))).toBe('valid')
    answer = () => ({ status: 503, body: '' })
    elapsed = 30_000
    expect([await kindOf(verify, by(next)), await kindOf(verify, by(old))]).toEqual(['unknown', 'valid'])
  })

  test('that is away says nothing of any token', async () => {
    const signer = await createSigner()
    for (const given of [
      { status: 500, body: '' },
      { status: 200, body: 'no keys' },
    ]) {
      answer = () => given
      const verify = await verifierOf(`${address()}/certs`)
      expect(await verify(await signer.sign({ aud: AUDIENCE }, Date.now()))).toMatchObject({
        kind: 'unknown',
        problem: expect.stringMatching(/^The keys at .*\/certs are not to be had: /),
      })
    }
  })
})

describe('a token of one’s own', () => {
  const NOW = 1_736_935_200_000
  let now = NOW
  const tokenOf = async (name: string, at = now) => (await createSigner(name)).sign({ aud: AUDIENCE, sub: name }, at)
  beforeEach(() => {
    now = NOW
  })

  test('in a file is read again every minute, and before it expires', async () => {
    const file = join(folder, 'token')
    const [first, second] = [await tokenOf('first'), await tokenOf('second', NOW + 3_000_000)]
    const identity = createIdentity({ kind: 'file', path: file }, { now: () => now })
    await expect(identity()).rejects.toThrow(/^The OIDC token of this worker cannot be read: .*ENOENT/)
    writeFileSync(file, `${first}\n`)
    expect(await identity()).toBe(first)
    writeFileSync(file, second)
    expect(await identity()).toBe(first)
    now += 60_000
    expect(await identity()).toBe(second)
    writeFileSync(file, 'no token')
    now += 60_000
    await expect(identity()).rejects.toThrow('What should be the OIDC token of this worker is none.')
  })

  test('of the metadata server is asked for once, and again five minutes before it expires', async () => {
    const tokens = [await tokenOf('first'), await tokenOf('second', NOW + 3_300_000)]
    answer = () => ({ status: 200, body: tokens[asked.length - 1] ?? '' })
    const identity = createIdentity({ kind: 'google', audience: AUDIENCE }, { now: () => now, metadata_server: address() })
    expect([await identity(), await identity()]).toEqual([tokens[0], tokens[0]])
    now += 3_300_000
    expect(await identity()).toBe(tokens[1])
    expect(asked).toHaveLength(2)
    expect(asked[0]).toEqual({
      url: `/computeMetadata/v1/instance/service-accounts/default/identity?audience=${encodeURIComponent(AUDIENCE)}&format=full`,
      flavor: 'Google',
    })
  })

  test('that the metadata server does not give is said in words', async () => {
    answer = () => ({ status: 403, body: '' })
    const identity = createIdentity({ kind: 'google', audience: AUDIENCE }, { now: () => now, metadata_server: address() })
    await expect(identity()).rejects.toThrow('The metadata server gives this worker no OIDC token: it answered 403')
  })
})
