// One line a request, with what it is about; and the id by which its answer is found in the log. No header and no body is
// written: tokens travel in them.

import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import type { Scope } from '../../core/ids.js'
import { newUlid } from '../../core/ulid.js'
import type { ApiDeps } from './deps.js'

const WELL_FORMED = /^[A-Za-z0-9_.-]{1,100}$/

/** A request's own id is kept, so that one id leads through several services. It is made without the store, which may not have
 *  answered yet: what is wrong with it is for the request to say. */
export function requestIdOf({ clock, random }: Pick<ApiDeps, 'clock' | 'random'>, given: unknown): string {
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : `req_${newUlid(clock.now(), random)}`
}

const REDACTED = ['authorization', 'task_token', 'token', 'api_token', 'secret', 'secrets'].flatMap((name) => [
  name,
  `*.${name}`,
  `*.*.${name}`,
])

export function loggerOf(
  log: FastifyServerOptions['logger'],
  { tenant_id, workspace_id }: Scope,
): NonNullable<FastifyServerOptions['logger']> {
  if (log === undefined || log === false) return false
  const options = log === true ? {} : log
  return { base: { tenant_id, workspace_id }, redact: { paths: REDACTED, censor: '[redacted]' }, ...options }
}

const NAMED = ['run_id', 'task_key', 'attempt_id', 'asset_key', 'location_name']

/** An address that no route has is one label, however many there are. */
const NO_ROUTE = 'none'

export function logRequests(app: Pick<FastifyInstance, 'addHook'>, { metrics }: Pick<ApiDeps, 'metrics'>): void {
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id)
  })
  app.addHook('onResponse', async (request: FastifyRequest, reply: FastifyReply) => {
    const params = (request.params ?? {}) as Readonly<Record<string, unknown>>
    const named = Object.fromEntries(NAMED.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])))
    const { method, routeOptions } = request
    const { statusCode, elapsedTime } = reply
    metrics.request(routeOptions.url ?? NO_ROUTE, method, statusCode, elapsedTime)
    const line = { ...named, method, route: routeOptions.url, status: statusCode, elapsed_ms: Math.round(elapsedTime) }
    request.log.info(line, `${method} ${routeOptions.url ?? request.url.split('?')[0]} ${statusCode}`)
  })
}
