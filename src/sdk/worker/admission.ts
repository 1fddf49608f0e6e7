// Whether a worker takes a request: it was meant for this worker, the automation of its location sent it, and what the code
// comes to is reported to the API that this worker is configured with. docs/security.md has the reasons.

import type { IncomingHttpHeaders } from 'node:http'
import { type DispatchRequest, LOCATION_SIGNATURE_HEADER, SIGNATURE_HEADER } from '../../api/contract/worker.js'
import { isForeignOrigin, isOwnHost } from '../../core/host.js'
import { isLocationSecret } from '../../core/location-secret.js'
import type { Secret } from '../../core/run-id.js'
import { signatureFault } from '../../core/token.js'

export type Admission = {
  /** Of those who may dispatch; none: whoever reaches the port may, and it is reached from this machine alone. */
  readonly secrets: readonly Secret[]
  /** Where attempts are reported: callbacks go below one of these and nowhere else. */
  readonly api_urls: readonly string[]
  /** Names beside loopback that a worker without secrets is called by. */
  readonly allowed_hosts: readonly string[]
}

/** Why a request that a page in a browser may have sent is not taken. undefined: no page sent it, or one that may. */
export function foreignFault(
  { secrets, allowed_hosts, proof }: Admission & { readonly proof?: unknown },
  { host, origin }: IncomingHttpHeaders,
): string | undefined {
  if (isForeignOrigin(origin, host, allowed_hosts)) return 'It comes from a page in a browser, and a worker takes nothing from pages.'
  if (secrets.length > 0 || proof !== undefined || isOwnHost(host, allowed_hosts)) return undefined
  return 'This worker has no secret, so it takes requests for names of its own machine alone. Call it by 127.0.0.1, add the name to SERVO_ALLOWED_HOSTS, or give it a secret (SERVO_WORKER_SECRETS).'
}

/** A worker that has the secret of its location takes nothing that is signed with another kind. */
export function unsignedFault({ secrets }: Admission, headers: IncomingHttpHeaders, body: string, now: number): string | undefined {
  if (secrets.length === 0) return undefined
  const header = secrets.some(isLocationSecret) ? LOCATION_SIGNATURE_HEADER : SIGNATURE_HEADER
  const given = headers[header]
  return signatureFault(secrets, Array.isArray(given) ? given[0] : given, body, now, header)
}

/** What is reported elsewhere would hand out the results, and the token of the attempt with them. */
export function callbackFault({ api_urls }: Admission, { dispatches }: DispatchRequest): string | undefined {
  const foreign = dispatches
    .flatMap(({ callback_url, callbacks_url }) => [callback_url, ...(callbacks_url === undefined ? [] : [callbacks_url])])
    .find((url) => !api_urls.some((api_url) => isBelow(url, api_url)))
  if (foreign === undefined) return undefined
  return `This worker reports to ${api_urls.join(' and ')} alone, and ${originOf(foreign)} is another place. Set SERVO_API_URL of the worker to that of the automation.`
}

/** Parsed, so that another spelling of a place is that place, and `..` leads out of none. A slash may be encoded, too, for a
 *  proxy in front of the API to decode. */
function isBelow(url: string, api_url: string): boolean {
  if (!URL.canParse(url)) return false
  const [given, api] = [new URL(url), new URL(api_url)]
  const hasOrigin = given.protocol === api.protocol && given.host === api.host && given.username === '' && given.password === ''
  return (
    hasOrigin &&
    !/(^|[/\\])\.\.?([/\\]|$)/.test(decoded(given.pathname)) &&
    given.pathname.startsWith(`${api.pathname.replace(/\/+$/, '')}/`)
  )
}

/** What is encoded wrongly is decoded by nobody. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : 'what the dispatch names')
