// Refuses what a browser sends on behalf of a page that is none of this API's. A user of the machine may have such a page open,
// and its requests come from the user's own address. docs/security.md states the rule.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { problem } from '../../commands/problem.js'
import { isForeignOrigin, isOwnHost } from '../../core/host.js'
import { cutText } from '../../core/text.js'
import { RefusedError } from '../problems.js'
import type { ApiDeps } from './deps.js'

type Guarded = Pick<ApiDeps, 'api_tokens' | 'allowed_hosts'>

/** Probes name an address, and learn nothing from the answer but that the process is there. */
const PROBES = new Set<string | undefined>(['/healthz', '/readyz'])
const READING = new Set(['GET', 'HEAD', 'OPTIONS'])
const SHOWN_CHARACTERS_MAX = 100

/** Before the rate limit, so that pages cannot use up what the user's own commands need. */
export function refuseForeignRequests(app: Pick<FastifyInstance, 'addHook'>, deps: Guarded): void {
  app.addHook('onRequest', async (request) => {
    const fault = originFault(request, deps) ?? hostFault(request, deps)
    if (fault !== undefined) throw new RefusedError(problem('forbidden', fault))
  })
}

/** Also where a token is asked for: a proxy in front may add it to whatever a user's browser sends. */
function originFault({ method, headers }: FastifyRequest, { allowed_hosts }: Guarded): string | undefined {
  if (READING.has(method) || !isForeignOrigin(headers.origin, headers.host, allowed_hosts)) return undefined
  return `The request comes from a page of ${shown(headers.origin)}, and this API takes no changes from other pages than its own. Send it without the header Origin, or add the name of that page to SERVO_ALLOWED_HOSTS.`
}

/** Where there is a token, a page of another name does not have it. */
function hostFault({ headers, routeOptions }: FastifyRequest, { api_tokens, allowed_hosts }: Guarded): string | undefined {
  if (api_tokens.length > 0 || PROBES.has(routeOptions.url) || isOwnHost(headers.host, allowed_hosts)) return undefined
  return `This API has no token, so it answers requests for names of its own alone, and this one is for ${shown(headers.host)}. Call it by 127.0.0.1 or localhost, add the name to SERVO_ALLOWED_HOSTS, or give the API a token (SERVO_API_TOKEN).`
}

const shown = (header: string | undefined): string =>
  header === undefined ? 'no name' : JSON.stringify(cutText(header, SHOWN_CHARACTERS_MAX))
