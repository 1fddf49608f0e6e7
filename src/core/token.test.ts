import { describe, expect, test } from '@jest/globals'
import { makeToken, readToken, type Secrets, signatureFault, signBody, signQueuedBody, type TokenClaims } from './token.js'

const NOW = Date.parse('2025-01-15T10:00:00.000Z')
const OLD: Secrets[0] = { secret_key_id: 'k1', secret: 'servo-golden-secret' }
const NEW: Secrets[0] = { secret_key_id: 'k2', secret: 'another' }
const CLAIMS: TokenClaims = {
  tenant_id: 'acme',
  workspace_id: 'prod',
  run_id: 'run_ywyvhmgqjsi3naar7smdnlfsve',
  task_key: 'analytics.daily_summary#3',
  attempt: 2,
  attempt_id: '3AYAGXAP8KGYKNN09WMD8HK6EN',
  expires_at: NOW + 1_000,
}
const problemOf = (token: string, secrets: Secrets = [OLD], now = NOW) => {
  const answer = readToken(secrets, token, now)
  return answer.kind === 'refused' ? answer.problem : 'valid'
}

describe('a task token', () => {
  const token = makeToken([OLD], CLAIMS)

  test('says what it was made for, until it expires', () => {
    expect(readToken([OLD], token, NOW)).toEqual({ kind: 'valid', claims: CLAIMS })
    expect(problemOf(token, [OLD], NOW + 1_000)).toBe('It has expired.')
  })

  test('is accepted after a new key came first, and not once its own is gone', () => {
    expect(problemOf(token, [NEW, OLD])).toBe('valid')
    expect(makeToken([NEW, OLD], CLAIMS)).toMatch(/^servo1\.k2\./)
    expect(problemOf(token, [NEW])).toMatch(/^It was made with the key k1, which SERVO_SECRETS of this process does not have\./)
    expect(problemOf(token.replace('.k1.', '.k1 ; rm -rf.'), [NEW])).toMatch(/^It was made with the key of a name that no key can have,/)
  })

  test('is refused whatever character of it is changed', () => {
    for (let i = 0; i < token.length; i++) {
      const changed = `${token.slice(0, i)}${token[i] === 'A' ? 'B' : 'A'}${token.slice(i + 1)}`
      expect(problemOf(changed)).not.toBe('valid')
    }
    for (const text of ['', '.', 'servo1.k1', `${token}.`, `${token}A`, token.slice(0, -1)]) expect(problemOf(text)).not.toBe('valid')
  })

  test('of another secret with the same key id is refused', () => {
    expect(problemOf(makeToken([{ secret_key_id: 'k1', secret: 'forged' }], CLAIMS))).toBe('Its signature is wrong.')
  })
})

describe('a signature of a request', () => {
  const body = '{"protocol":"servo-worker-v1"}'
  const signature = signBody([OLD], body, NOW)

  test('has a golden value', () => {
    expect(signature).toBe('t=1736935200,k=k1,v1=af36aeb2f4ce6b9bae2324b8d75904c643d2c80603d082b1dc2e34d5d714a473')
  })

  test('holds for its body, its key and five minutes', () => {
    expect(signatureFault([NEW, OLD], signature, body, NOW + 299_000)).toBeUndefined()
    expect(signatureFault([OLD], signature, `${body} `, NOW)).toBe('The signature of the request is wrong.')
    expect(signatureFault([OLD], signature, body, NOW + 301_000)).toBe('The signature of the request is older than five minutes.')
    expect(signatureFault([NEW], signature, body, NOW)).toBe('The request is signed with the key k1, which is not known here.')
    expect(signatureFault([OLD], undefined, body, NOW)).toBe('The request has no signature in its header servo-signature.')
    expect(signatureFault([OLD], 't=1,k=k1,v1=00', body, NOW)).toBe('The request has no signature in its header servo-signature.')
  })
})

describe('a signature of what waits in a queue', () => {
  const body = '{"dispatches":[]}'
  const signature = signQueuedBody([OLD], body, NOW, NOW + 3_600_000)

  test('says until when it counts, and counts until then', () => {
    expect(signature).toMatch(/^t=1736935200,e=1736938800,k=k1,v2=[0-9a-f]{64}$/)
    expect(signatureFault([NEW, OLD], signature, body, NOW + 3_600_000)).toBeUndefined()
    expect(signatureFault([OLD], signature, body, NOW + 3_601_000)).toBe('The signature of the request has expired.')
  })

  test('is none of another body, of a later end, or of the short form', () => {
    const wrong = 'The signature of the request is wrong.'
    const none = 'The request has no signature in its header servo-signature.'
    expect(signatureFault([OLD], signature, `${body} `, NOW)).toBe(wrong)
    expect(signatureFault([OLD], signature.replace('e=1736938800', 'e=1836938800'), body, NOW)).toBe(wrong)
    expect(signatureFault([OLD], signature.replace('e=1736938800,', ''), body, NOW)).toBe(none)
    expect(signatureFault([OLD], signature.replace('v2', 'v1'), body, NOW)).toBe(none)
    expect(signatureFault([OLD], signature.replace('e=1736938800,', '').replace('v2', 'v1'), `v2.1736938800.${body}`, NOW)).toBe(wrong)
    expect(signatureFault([OLD], signBody([OLD], body, NOW).replace('v1', 'v2'), body, NOW)).toBe(none)
  })
})
