import { beforeAll, describe, expect, test } from '@jest/globals'
import { type CryptoKey, createLocalJWKSet, exportJWK, generateKeyPair, generateSecret, type JWK, SignJWT, UnsecuredJWT } from 'jose'
import { KeySetError } from './key-set.js'
import { createOidcVerifier, type OidcVerifier } from './verifier.js'

const NOW = 1_736_935_200_000
const NOW_SECONDS = NOW / 1_000
const ISSUER = 'https://accounts.google.com'
const AUDIENCE = 'https://worker.example.com'
const EMAIL = 'queue@my-project.iam.gserviceaccount.com'
const GOOD = {
  iss: ISSUER,
  aud: AUDIENCE,
  sub: '1234567890',
  email: EMAIL,
  email_verified: true,
  iat: NOW_SECONDS - 60,
  exp: NOW_SECONDS + 3_540,
}

type Key = CryptoKey | Uint8Array
type Claims = Readonly<Record<string, unknown>>
let own: { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey }
let rsa: typeof own
let stranger: typeof own
let jwk: JWK
let verify: OidcVerifier

beforeAll(async () => {
  own = await generateKeyPair('ES256', { extractable: true })
  rsa = await generateKeyPair('RS256', { extractable: true })
  stranger = await generateKeyPair('ES256', { extractable: true })
  jwk = { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'ES256', use: 'sig' }
  const keys = createLocalJWKSet({ keys: [jwk, { ...(await exportJWK(rsa.publicKey)), kid: 'rsa', use: 'sig' }] })
  verify = createOidcVerifier({ audience: AUDIENCE, issuer: ISSUER, email: EMAIL }, keys, () => NOW)
})

const sign = (claims: Claims, key: Key = own.privateKey, header: object = { alg: 'ES256', kid: 'own' }) =>
  new SignJWT(Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined)))
    .setProtectedHeader(header as never)
    .sign(key)
const problemOf = async (token: string | undefined) => {
  const verdict = await verify(token)
  return verdict.kind === 'refused' ? verdict.problem : verdict.kind
}

test('a token that says what it must is valid, whichever key of the set signed it', async () => {
  expect(await verify(await sign(GOOD))).toEqual({ kind: 'valid', subject: '1234567890', email: EMAIL })
  expect(await verify(await sign(GOOD, rsa.privateKey, { alg: 'RS256', kid: 'rsa' }))).toMatchObject({ kind: 'valid' })
  expect(await problemOf(await sign({ ...GOOD, aud: ['https://other.example.com', AUDIENCE] }))).toBe('valid')
})

describe('a token is refused', () => {
  test.each<[string, Claims, string]>([
    ['for another audience', { aud: 'https://api.example.com' }, 'Its OIDC token is for another audience: "https://api.example.com".'],
    ['of another issuer', { iss: 'https://evil.example.com' }, 'Its OIDC token comes from another issuer: "https://evil.example.com".'],
    ['that has expired', { exp: NOW_SECONDS - 31 }, 'Its OIDC token has expired.'],
    ['that is not valid yet', { nbf: NOW_SECONDS + 31 }, 'Its OIDC token is not valid yet. Set the clocks of both machines.'],
    [
      'that was issued in the future',
      { iat: NOW_SECONDS + 31 },
      'Its OIDC token was issued in the future. Set the clocks of both machines.',
    ],
    ['of another account', { email: 'evil@example.com' }, `Its OIDC token is that of evil@example.com, and not that of ${EMAIL}.`],
    ['of nobody', { email: undefined }, `Its OIDC token is that of nobody with an e-mail address, and not that of ${EMAIL}.`],
    ['whose account is not verified', { email_verified: false }, `Its OIDC token does not say that ${EMAIL} is verified.`],
    ['whose account says it is verified in words', { email_verified: 'true' }, `Its OIDC token does not say that ${EMAIL} is verified.`],
    ['without an audience', { aud: undefined }, 'Its OIDC token lacks the claim aud.'],
    ['without an issuer', { iss: undefined }, 'Its OIDC token lacks the claim iss.'],
    ['that never expires', { exp: undefined }, 'Its OIDC token lacks the claim exp.'],
    ['that does not say when it was issued', { iat: undefined }, 'Its OIDC token lacks the claim iat.'],
    ['of no subject', { sub: undefined }, 'Its OIDC token lacks the claim sub.'],
    ['whose expiry is text', { exp: 'tomorrow' }, 'The claim exp of its OIDC token is none that there can be.'],
  ])('%s', async (_, claims, problem) => {
    expect(await problemOf(await sign({ ...GOOD, ...claims }))).toBe(problem)
  })

  test('but for what clocks may differ by', async () => {
    expect(await problemOf(await sign({ ...GOOD, exp: NOW_SECONDS - 29, iat: NOW_SECONDS - 3_600 }))).toBe('valid')
    expect(await problemOf(await sign({ ...GOOD, nbf: NOW_SECONDS + 29, iat: NOW_SECONDS + 29 }))).toBe('valid')
  })

  test('signed with a key that is not in the set', async () => {
    expect(await problemOf(await sign(GOOD, stranger.privateKey, { alg: 'ES256', kid: 'stranger' }))).toBe(
      'Its OIDC token is signed with a key that is not in the key set.',
    )
  })

  test('signed with another key under the name of one in the set', async () => {
    expect(await problemOf(await sign(GOOD, stranger.privateKey))).toBe('The signature of its OIDC token is wrong.')
  })

  test('that nobody signed (alg none)', async () => {
    const unsigned = new UnsecuredJWT(GOOD).encode()
    expect(await problemOf(unsigned)).toMatch(/^Its OIDC token is not signed by one of RS256, /)
    // The same with the name of a key, and with somebody's signature behind it.
    const header = Buffer.from(JSON.stringify({ alg: 'none', kid: 'own' })).toString('base64url')
    const [, payload] = unsigned.split('.')
    for (const signature of ['', 'AAAA'])
      expect(await problemOf(`${header}.${payload}.${signature}`)).toMatch(/^Its OIDC token is not signed by one of/)
  })

  test('signed with the public key as if it were a shared secret (HS256)', async () => {
    const pem = new TextEncoder().encode(JSON.stringify(jwk))
    for (const secret of [pem, await generateSecret('HS256')]) {
      expect(await problemOf(await sign(GOOD, secret as Key, { alg: 'HS256', kid: 'own' }))).toMatch(
        /^Its OIDC token is not signed by one of/,
      )
    }
  })

  test('whose claims were changed after it was signed', async () => {
    const [header, , signature] = (await sign(GOOD)).split('.')
    const payload = Buffer.from(JSON.stringify({ ...GOOD, sub: 'another' })).toString('base64url')
    expect(await problemOf(`${header}.${payload}.${signature}`)).toBe('The signature of its OIDC token is wrong.')
  })

  test.each([
    [undefined, 'It has no OIDC token.'],
    ['', 'Its OIDC token is none: it cannot be read.'],
    ['a.b.c', 'Its OIDC token is none: it cannot be read.'],
    ['no token', 'Its OIDC token is none: it cannot be read.'],
  ])('that is none: %p', async (token, problem) => {
    expect(await problemOf(token)).toBe(problem)
  })
})

test('nothing is known of a token while the keys are not to be had', async () => {
  const away = createOidcVerifier(
    { audience: AUDIENCE, issuer: ISSUER },
    () => Promise.reject(new KeySetError('They are away.')),
    () => NOW,
  )
  expect(await away(await sign(GOOD))).toEqual({ kind: 'unknown', problem: 'They are away.' })
})

test('whoever the issuer knows is taken where no account is named', async () => {
  const open = createOidcVerifier({ audience: AUDIENCE, issuer: ISSUER }, createLocalJWKSet({ keys: [jwk] }), () => NOW)
  expect(await open(await sign({ ...GOOD, email: undefined, email_verified: undefined }))).toEqual({
    kind: 'valid',
    subject: '1234567890',
    email: undefined,
  })
})
