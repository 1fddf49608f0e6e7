// What workers say of their attempts. Each speaks with the token of its dispatch; docs/worker-protocol.md has the rules.

import { z } from 'zod'
import { logsFault, sayAlive, sayCompleted, sayStarted } from '../commands/attempt.js'
import { storeLogs } from '../commands/logs.js'
import { LOGS_REQUEST_BYTES_MAX } from '../core/limits.js'
import { id } from '../events/value.js'
import { addCallbacksRoute } from './callbacks.js'
import {
  completedRequest,
  completedResponse,
  heartbeatRequest,
  heartbeatResponse,
  logsRequest,
  logsResponse,
  startedRequest,
  startedResponse,
} from './contract/worker.js'
import { refuseLarge } from './http/callback-size.js'
import type { Api, RouteDeps } from './http/deps.js'
import { attemptClaims } from './http/principal.js'
import { inCallbackSpan, traceparentIn } from './http/traced.js'
import { orRefuse, problems, RefusedError } from './problems.js'

const TAGS = ['workers']
const params = z.object({ attempt_id: id('ulid') })
const security = [{ task_token: [] }]

/** People do not call these, and a location of many workers calls them often. */
const CALLBACKS_FACTOR = 20

export function addAttemptRoutes(app: Api, deps: RouteDeps): void {
  const config = {
    rateLimit: { max: deps.rate_limit_per_minute * CALLBACKS_FACTOR, keyGenerator: ({ ip }: { readonly ip: string }) => `callbacks/${ip}` },
  }
  app.post(
    '/attempts/:attempt_id/started',
    {
      config,
      schema: {
        operationId: 'attemptStarted',
        tags: TAGS,
        security,
        summary: 'Before any code runs',
        description: 'Code runs only after this answered 200. 409: stop.',
        params,
        body: startedRequest,
        response: { 200: startedResponse, ...problems(404, 409) },
      },
    },
    async (request, reply) => {
      const claims = attemptClaims(deps, request, request.params.attempt_id)
      const said = { claims, traceparent: traceparentIn(request.headers) }
      const answer = await inCallbackSpan(deps.tracing, 'started', said, () => sayStarted(deps, claims, request.body))
      return reply.code(200).send(orRefuse(answer))
    },
  )
  app.post(
    '/attempts/:attempt_id/heartbeat',
    {
      config,
      schema: {
        operationId: 'attemptHeartbeat',
        tags: TAGS,
        security,
        summary: 'While code runs',
        params,
        body: heartbeatRequest,
        response: { 200: heartbeatResponse, ...problems(404, 409) },
      },
    },
    async (request, reply) => {
      const claims = attemptClaims(deps, request, request.params.attempt_id)
      return reply.code(200).send(orRefuse(await sayAlive(deps, claims, request.body)))
    },
  )
  addEnds(app, deps, config)
  addCallbacksRoute(app, deps, config)
}

function addEnds(app: Api, deps: RouteDeps, config: object): void {
  app.post(
    '/attempts/:attempt_id/completed',
    {
      config,
      schema: {
        operationId: 'attemptCompleted',
        tags: TAGS,
        security,
        summary: 'When code is done',
        params,
        body: completedRequest,
        response: { 200: completedResponse, ...problems(404, 409, 413) },
      },
    },
    async (request, reply) => {
      const claims = attemptClaims(deps, request, request.params.attempt_id)
      refuseLarge(request.body)
      const said = { claims, traceparent: traceparentIn(request.headers) }
      const answer = await inCallbackSpan(deps.tracing, 'completed', said, () => sayCompleted(deps, claims, request.body))
      return reply.code(200).send(orRefuse(answer))
    },
  )
  app.post(
    '/attempts/:attempt_id/logs',
    {
      config,
      bodyLimit: LOGS_REQUEST_BYTES_MAX,
      schema: {
        operationId: 'attemptLogs',
        tags: TAGS,
        security,
        summary: 'What code logs',
        params,
        body: logsRequest,
        response: { 200: logsResponse, ...problems(404, 409, 413) },
      },
    },
    async (request, reply) => {
      const claims = attemptClaims(deps, request, request.params.attempt_id)
      const fault = await logsFault(deps, claims, request.body)
      if (fault !== undefined) throw new RefusedError(fault)
      return reply.code(200).send(orRefuse(await storeLogs(deps, claims, request.body)))
    },
  )
}
