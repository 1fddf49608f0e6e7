// Who this program is, as a token that it sends with what it says: from a file that the platform keeps fresh, or from the
// metadata server of Google Cloud.

import { readFile } from 'node:fs/promises'
import { decodeJwt } from 'jose'
import { messageOf } from '../core/errors.js'
import { MINUTE_MS, SECOND_MS } from '../core/time.js'

/** `file:PATH`, or `google:AUDIENCE`. */
export type IdentitySource = { readonly kind: 'file'; readonly path: string } | { readonly kind: 'google'; readonly audience: string }

/** Rejects with a sentence where there is none to be had: whoever calls tries again. */
export type Identity = () => Promise<string>

/** One that is about to expire may have done so when it is read. */
const LEFT_MS_MIN = 5 * MINUTE_MS
/** How long a file is not read again: platforms write a new one long before the old one expires. */
const FILE_KEPT_MS = MINUTE_MS
const FETCH_TIMEOUT_MS = 5 * SECOND_MS
const METADATA_SERVER = 'http://metadata.google.internal'

type IdentityOptions = { readonly now: () => number; readonly metadata_server?: string | undefined }

export function createIdentity(source: IdentitySource, { now, metadata_server = METADATA_SERVER }: IdentityOptions): Identity {
  let kept: { readonly token: string; readonly until: number } | undefined
  const read = source.kind === 'file' ? () => readToken(source.path) : () => askGoogle(metadata_server, source.audience)
  return async () => {
    if (kept !== undefined && now() < kept.until) return kept.token
    const token = await read()
    const expires_at = expiryOf(token)
    kept = { token, until: Math.min(expires_at - LEFT_MS_MIN, source.kind === 'file' ? now() + FILE_KEPT_MS : Number.POSITIVE_INFINITY) }
    return token
  }
}

function expiryOf(token: string): number {
  try {
    return (decodeJwt(token).exp ?? 0) * SECOND_MS
  } catch {
    throw new Error('What should be the OIDC token of this worker is none.')
  }
}

async function readToken(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    throw new Error(`The OIDC token of this worker cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

async function askGoogle(server: string, audience: string): Promise<string> {
  const url = new URL('/computeMetadata/v1/instance/service-accounts/default/identity', server)
  url.searchParams.set('audience', audience)
  url.searchParams.set('format', 'full')
  try {
    const response = await fetch(url, { headers: { 'metadata-flavor': 'Google' }, signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) })
    if (!response.ok) throw new Error(`it answered ${response.status}`)
    return (await response.text()).trim()
  } catch (error) {
    throw new Error(`The metadata server gives this worker no OIDC token: ${messageOf(error)}`, { cause: error })
  }
}
