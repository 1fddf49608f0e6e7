// Tokens by which a worker speaks of one attempt, and signatures by which it knows that Servo speaks. Both carry the id
// of the key that made them: the first key of a list makes, all of it are accepted, so that keys can be changed.

import { hmacSha256 } from './hash.js'
import { isName, type Scope } from './ids.js'
import type { AttemptIds } from './keys.js'
import type { Secret } from './run-id.js'
import { SECOND_MS } from './time.js'

export type Secrets = readonly [Secret, ...Secret[]]

/** What a token is bound to: it opens nothing else. */
export type TokenClaims = Scope & AttemptIds & { readonly expires_at: number }

const TOKEN_VERSION = 'servo1'

export function makeToken([secret]: Secrets, claims: TokenClaims): string {
  const body = `${TOKEN_VERSION}.${secret.secret_key_id}.${encode(Buffer.from(textOf(claims)))}`
  return `${body}.${encode(hmacSha256(secret.secret, body))}`
}

type TokenAnswer = { readonly kind: 'valid'; readonly claims: TokenClaims } | { readonly kind: 'refused'; readonly problem: string }

/** `now` in epoch milliseconds. Which part of a token is wrong is nobody's business but the log's. */
export function readToken(secrets: Secrets, token: string, now: number): TokenAnswer {
  const [version, secret_key_id, payload, mac, ...rest] = token.split('.')
  if (version !== TOKEN_VERSION || secret_key_id === undefined || payload === undefined || mac === undefined || rest.length > 0) {
    return refused('It is no token of this version of Servo.')
  }
  const secret = secrets.find((each) => each.secret_key_id === secret_key_id)
  if (secret === undefined) return refused(unknownKey(secret_key_id))
  const expected = encode(hmacSha256(secret.secret, `${version}.${secret_key_id}.${payload}`))
  // As text: in base64 the last digit has bits that belong to no byte, and a token has one spelling.
  if (!isSame(Buffer.from(expected), Buffer.from(mac))) return refused('Its signature is wrong.')
  const claims = claimsIn(Buffer.from(payload, 'base64url').toString('utf8'))
  if (claims === undefined) return refused('It says nothing that is understood here.')
  return claims.expires_at <= now ? refused('It has expired.') : { kind: 'valid', claims }
}

/** Whoever made the token up chose its key id, too: only what can be one is shown. */
const unknownKey = (secret_key_id: string): string =>
  `It was made with the key ${isName(secret_key_id) ? secret_key_id : 'of a name that no key can have'}, which SERVO_SECRETS of this process does not have. ` +
  'Either that key was removed, or another process uses a new key that this one has not been given yet (docs/security.md).'

const refused = (problem: string): TokenAnswer => ({ kind: 'refused', problem })

const encode = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

/** Line by line: no member can hold a line end, so no two sets of claims are one text. */
const textOf = ({ tenant_id, workspace_id, run_id, task_key, attempt, attempt_id, expires_at }: TokenClaims): string =>
  [tenant_id, workspace_id, run_id, task_key, attempt, attempt_id, expires_at].join('\n')

function claimsIn(text: string): TokenClaims | undefined {
  const [tenant_id, workspace_id, run_id, task_key, attempt, attempt_id, expires_at, ...rest] = text.split('\n')
  if (expires_at === undefined || rest.length > 0) return undefined
  return { tenant_id, workspace_id, run_id, task_key, attempt: Number(attempt), attempt_id, expires_at: Number(expires_at) } as TokenClaims
}

/** In a time that says nothing about where they differ. */
export function isSame(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length
  for (let i = 0; i < left.length; i++) difference |= (left[i] as number) ^ (right[i] ?? 0)
  return difference === 0
}

// Signatures of requests to workers: `t={seconds},k={key id},v1={hex}`, over `{seconds}.{body}`. What a queue delivers may
// be under way for longer, and says until when it counts: `t={seconds},e={seconds},k={key id},v2={hex}`, over
// `v2.{seconds}.{seconds}.{body}`.

/** Longer than any clock between two machines should differ, and too short to keep a request for later. */
const SIGNATURE_AGE_MS_MAX = 300 * SECOND_MS

export function signBody([{ secret_key_id, secret }]: Secrets, body: string, now: number): string {
  const t = Math.floor(now / SECOND_MS)
  return `t=${t},k=${secret_key_id},v1=${Buffer.from(hmacSha256(secret, `${t}.${body}`)).toString('hex')}`
}

/** For a body that waits in a queue: it counts until `expires_at`, and not for five minutes. */
export function signQueuedBody([{ secret_key_id, secret }]: Secrets, body: string, now: number, expires_at: number): string {
  const [t, e] = [Math.floor(now / SECOND_MS), Math.floor(expires_at / SECOND_MS)]
  return `t=${t},e=${e},k=${secret_key_id},v2=${Buffer.from(hmacSha256(secret, `v2.${t}.${e}.${body}`)).toString('hex')}`
}

const SIGNATURE = /^t=(\d{1,12}),(?:e=(\d{1,12}),)?k=([^,=]{1,100}),v([12])=([0-9a-f]{64})$/

/** undefined: the body is what somebody with one of these keys sent, just now or for as long as it says. */
export function signatureFault(
  secrets: readonly Secret[],
  signature: string | undefined,
  body: string,
  now: number,
  header = 'servo-signature',
): string | undefined {
  const [, t, e, key, version, mac] = SIGNATURE.exec(signature ?? '') ?? []
  if (t === undefined || mac === undefined || (version === '2') !== (e !== undefined)) {
    return `The request has no signature in its header ${header}.`
  }
  const secret = secrets.find(({ secret_key_id }) => secret_key_id === key)
  if (secret === undefined) return `The request is signed with the key ${key}, which is not known here.`
  const signed = e === undefined ? `${t}.${body}` : `v2.${t}.${e}.${body}`
  if (!isSame(hmacSha256(secret.secret, signed), Buffer.from(mac, 'hex'))) return 'The signature of the request is wrong.'
  if (e !== undefined) return now > Number(e) * SECOND_MS ? 'The signature of the request has expired.' : undefined
  if (Math.abs(now - Number(t) * SECOND_MS) > SIGNATURE_AGE_MS_MAX) return 'The signature of the request is older than five minutes.'
  return undefined
}
