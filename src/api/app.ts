// The HTTP API. It appends by itself, pokes, and waits for no loop: commands are accepted while Temporal is down. One zod
// schema a shape gives the types, the checks, what may leave in an answer, and the OpenAPI document.

import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import swagger from '@fastify/swagger'
import fastify, { LogController } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject, serializerCompiler } from 'fastify-type-provider-zod'
import { REQUEST_BYTES_MAX, WAIT_MS_MAX } from '../core/limits.js'
import { addAssetRoutes } from './assets.js'
import { addAttemptRoutes } from './attempts.js'
import { addCodeLocationRoutes } from './code-locations.js'
import { addConflictRoutes } from './conflicts.js'
import { API_PREFIX } from './contract/path.js'
import { type ApiTypes, validatorCompiler } from './http/compilers.js'
import type { Api, ApiDeps, RouteDeps } from './http/deps.js'
import { requireIdentity } from './http/identity.js'
import { API_PRINCIPAL, hasApiToken, requireApiToken } from './http/principal.js'
import { loggerOf, logRequests, requestIdOf } from './http/request-log.js'
import { traceRequests } from './http/traced.js'
import { addPoolRoutes } from './pools.js'
import { handleError, noSuchRoute, sendProblem } from './problems.js'
import { addCancelRoutes } from './run-cancels.js'
import { addRunHistoryRoutes } from './run-history.js'
import { addRerunRoutes } from './run-reruns.js'
import { addRunRoutes } from './runs.js'
import { addScheduleCommands } from './schedule-commands.js'
import { addSchedulePreviews } from './schedule-previews.js'
import { addScheduleRoutes } from './schedules.js'
import { addSystemRoutes } from './system.js'
import { addWhyRoute } from './task-why.js'

export type { ApiDeps } from './http/deps.js'

export async function createApi(given: ApiDeps): Promise<Api> {
  const deps: RouteDeps = { ...given, log_counts: new Map() }
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
  }).withTypeProvider<ApiTypes>() as Api
  app.setValidatorCompiler(validatorCompiler as never)
  app.setSerializerCompiler(serializerCompiler as never)
  app.setErrorHandler((error, request, reply) => handleError(error, request, reply as never))
  app.setNotFoundHandler((request, reply) => sendProblem(reply as never, noSuchRoute(request as never)))
  logRequests(app as never, deps)
  await app.register(helmet)
  await app.register(rateLimit, limitOf(deps))
  await app.register(swagger, documentOf(deps))
  addSystemRoutes(app, deps)
  await app.register(async (scope) => addCallbacks(scope as Api, deps), { prefix: API_PREFIX })
  await app.register(async (scope) => addCommandsAndReads(scope as Api, deps), { prefix: API_PREFIX })
  await app.ready()
  return app
}

const PARAM_CHARACTERS_MAX = 500

/** Their token is that of an attempt: each route reads it. */
function addCallbacks(app: Api, deps: RouteDeps): void {
  app.addHook('preParsing', async (request) => requireIdentity(request as never, deps.callback_proof))
  addAttemptRoutes(app, deps)
}

function addCommandsAndReads(app: Api, deps: RouteDeps): void {
  // After the limit, which counts wrong tokens too, and before a body is read.
  app.addHook('preParsing', async (request) => requireApiToken(request as never, deps.api_token))
  traceRequests(app as never, deps)
  addRunRoutes(app, deps)
  addRunHistoryRoutes(app, deps)
  addWhyRoute(app, deps)
  addCancelRoutes(app, deps)
  addRerunRoutes(app, deps)
  addAssetRoutes(app, deps)
  addCodeLocationRoutes(app, deps)
  addScheduleRoutes(app, deps)
  addScheduleCommands(app, deps)
  addSchedulePreviews(app, deps)
  addPoolRoutes(app, deps)
  addConflictRoutes(app, deps)
}

class TooManyRequestsError extends Error {
  readonly statusCode = 429
}

const limitOf = ({ rate_limit_per_minute, api_token }: ApiDeps) => ({
  max: rate_limit_per_minute,
  timeWindow: '1 minute',
  keyGenerator: (request: Parameters<typeof hasApiToken>[0]) =>
    api_token !== undefined && hasApiToken(request, api_token) ? API_PRINCIPAL : request.ip,
  errorResponseBuilder: (_request: unknown, { max, after }: { readonly max: number; readonly after: string }) =>
    new TooManyRequestsError(`More than ${max} requests within a minute. Ask again in ${after}.`),
})

const documentOf = ({ version }: ApiDeps) => ({
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Servo',
      version,
      description:
        'Asset automation: deploys, runs, schedules, pools and what workers say. Every fault is a problem document (RFC 9457) that says what to do.',
    },
    components: {
      securitySchemes: {
        api_token: { type: 'http' as const, scheme: 'bearer', description: 'The token that this server was started with, if any.' },
        task_token: { type: 'http' as const, scheme: 'bearer', description: 'task_token of the dispatch: it opens one attempt.' },
      },
    },
    security: [{ api_token: [] }],
  },
  transform: jsonSchemaTransform,
  transformObject: jsonSchemaTransformObject,
})
