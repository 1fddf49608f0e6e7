// The secrets and tokens that the processes of a world are started with, and that its clients use. A rotation changes them
// while the system works (docs/security.md): every entry of a list is accepted, and the first one is used.

import { type ApiClient, createApiClient } from '../../src/cli/client.js'
import type { Scope } from '../../src/core/ids.js'
import { locationSecret } from '../../src/core/location-secret.js'
import { secretsText } from '../../src/core/secrets.js'
import { location } from './location.js'

type NamedSecret = { readonly secret_key_id: string; readonly secret: string }

export type Credentials = {
  readonly secrets: readonly NamedSecret[]
  /** Of the installation: each location's are derived from them. */
  readonly worker_secrets: readonly NamedSecret[]
  readonly api_tokens: readonly string[]
}

const OLD = { secrets: named('k1'), worker_secrets: named('w1'), api_tokens: 'the-first-token-for-tests' }
const NEW = { secrets: named('k2'), worker_secrets: named('w2'), api_tokens: 'the-second-token-for-tests' }

export const BEFORE_ROTATION: Credentials = inOrder(OLD)

/** Each is a restart of every process. Tokens of attempts that were made before are still under way after the last one, so the
 *  old key of those stays. */
export const ROTATION: readonly (readonly [step: string, Credentials])[] = [
  ['accept the new ones', inOrder(OLD, NEW)],
  ['use the new ones', inOrder(NEW, OLD)],
  ['leave the old ones out', { ...inOrder(NEW), secrets: inOrder(NEW, OLD).secrets }],
]

function named(secret_key_id: string): NamedSecret {
  return { secret_key_id, secret: `a-secret-for-tests-only-${secret_key_id}` }
}

function inOrder(...entries: readonly (typeof OLD)[]): Credentials {
  return {
    secrets: entries.map(({ secrets }) => secrets),
    worker_secrets: entries.map(({ worker_secrets }) => worker_secrets),
    api_tokens: entries.map(({ api_tokens }) => api_tokens),
  }
}

export const serverEnvironment = ({ secrets, worker_secrets, api_tokens }: Credentials): Readonly<Record<string, string>> => ({
  SERVO_SECRETS: secretsText(secrets),
  SERVO_WORKER_SECRETS: secretsText(worker_secrets),
  SERVO_API_TOKEN: api_tokens.join(','),
})

export const workerEnvironment = ({ worker_secrets }: Credentials, scope: Scope): Readonly<Record<string, string>> => ({
  SERVO_WORKER_SECRETS: secretsText(worker_secrets.map((secret) => locationSecret(secret, { ...scope, location_name: location.name }))),
})

/** A client that sends the token which is the first at the time of each call. */
export function createRotatedClient(url: string, credentials: () => Credentials): ApiClient {
  const current = () => createApiClient({ url, token: credentials().api_tokens[0] })
  return {
    url,
    get: (path, query) => current().get(path, query),
    probe: (path) => current().probe(path),
    post: (path, body, options) => current().post(path, body, options),
    send: (method, path, body, options) => current().send(method, path, body, options),
  }
}
