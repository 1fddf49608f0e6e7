// The HTTP API. It appends by itself, pokes, and waits for no loop: commands are accepted while Temporal is down. One zod
// schema a shape gives the types, the checks, what may leave in an answer, and the OpenAPI document.

import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import fastify, { LogController } from 'fastify'
import { REQUEST_BYTES_MAX, WAIT_MS_MAX } from '../core/limits.js'
import { type ApiTypes, BY_SCHEMA } from './http/compilers.js'
import type { Api, ApiDeps, RouteDeps } from './http/deps.js'
import { refuseForeignRequests } from './http/foreign.js'
import { API_PRINCIPAL, hasApiToken } from './http/principal.js'
import { loggerOf, logRequests, requestIdOf } from './http/request-log.js'
import { handleError, noSuchRoute, sendProblem } from './problems.js'
import { addRoutes } from './routes.js'

export type { ApiDeps } from './http/deps.js'

export async function createApi(given: ApiDeps): Promise<Api> {
  let document: Promise<object> | undefined
  const deps: RouteDeps = {
    ...given,
    log_counts: new Map(),
    document: () => (document ??= import('./openapi.js').then(({ makeDocument }) => makeDocument(deps))),
  }
  const app = fastify({
    logger: loggerOf(deps.log, deps.scope),
    bodyLimit: REQUEST_BYTES_MAX,
    genReqId: ({ headers }) => requestIdOf(deps, headers['x-request-id']),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    // Longer than any wait that a request may ask for.
    requestTimeout: 2 * WAIT_MS_MAX,
    // Task keys and asset keys are longer than the hundred characters that Fastify takes.
    routerOptions: { maxParamLength: PARAM_CHARACTERS_MAX },
    frameworkErrors: (error, request, reply) => handleError(error, request, reply),
    schemaController: BY_SCHEMA,
  }).withTypeProvider<ApiTypes>() as Api
  app.setErrorHandler((error, request, reply) => handleError(error, request, reply as never))
  app.setNotFoundHandler((request, reply) => sendProblem(reply as never, noSuchRoute(request as never)))
  logRequests(app as never, deps)
  await app.register(helmet)
  refuseForeignRequests(app as never, deps)
  await app.register(rateLimit, limitOf(deps))
  await addRoutes(app, deps)
  await app.ready()
  return app
}

const PARAM_CHARACTERS_MAX = 500

class TooManyRequestsError extends Error {
  readonly statusCode = 429
}

const limitOf = ({ rate_limit_per_minute, api_tokens }: ApiDeps) => ({
  max: rate_limit_per_minute,
  timeWindow: '1 minute',
  keyGenerator: (request: Parameters<typeof hasApiToken>[0]) =>
    api_tokens.length > 0 && hasApiToken(request, api_tokens) ? API_PRINCIPAL : request.ip,
  errorResponseBuilder: (_request: unknown, { max, after }: { readonly max: number; readonly after: string }) =>
    new TooManyRequestsError(`More than ${max} requests within a minute. Ask again in ${after}.`),
})
