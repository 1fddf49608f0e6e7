// Callbacks of several attempts in one request. Each has its own token and its own answer: what is wrong with one, or has to
// wait, holds up no other.

import type { FastifyRequest } from 'fastify'
import { sayAlive, sayCompleted, sayStarted } from '../commands/attempt.js'
import { CALLBACKS_REQUEST_BYTES_MAX } from '../core/limits.js'
import { callbacksRequest, callbacksResponse, completedRequest, heartbeatRequest, startedRequest } from './contract/worker.js'
import type { Callback, CallbackAnswer } from './contract/worker.js'
import { refuseLarge } from './http/callback-size.js'
import { parsedBy } from './http/compilers.js'
import type { Api, RouteDeps } from './http/deps.js'
import { claimsOf } from './http/principal.js'
import { orRefuse, problemAnswer, problems } from './problems.js'

/** What is not there within this time is asked for again, and does not keep the others waiting. */
const REVISION_WAIT_MS = 2_000

export function addCallbacksRoute(app: Api, deps: RouteDeps, config: object): void {
  const impatient: RouteDeps = { ...deps, revision_wait_ms: REVISION_WAIT_MS }
  app.post(
    '/attempts/callbacks',
    {
      config,
      bodyLimit: CALLBACKS_REQUEST_BYTES_MAX,
      schema: {
        operationId: 'callbacks',
        tags: ['workers'],
        security: [],
        summary: 'Callbacks of several attempts',
        description: 'Each with the token of its attempt, and each with an answer of its own. Nobody has to send them together.',
        body: callbacksRequest,
        response: { 200: callbacksResponse, ...problems(413) },
      },
    },
    async (request, reply) => {
      const answers = await Promise.all(request.body.callbacks.map((each) => answerTo(impatient, request, each)))
      return reply.code(200).send({ answers })
    },
  )
}

async function answerTo(deps: RouteDeps, request: FastifyRequest, said: Callback): Promise<CallbackAnswer> {
  const { attempt_id } = said
  try {
    return { attempt_id, status: 200, body: { ...orRefuse(await take(deps, request, said)) } }
  } catch (error) {
    const { status, document, retry_after_seconds } = problemAnswer(error, request)
    return { attempt_id, status, body: { ...document }, ...(retry_after_seconds === undefined ? {} : { retry_after_seconds }) }
  }
}

function take(deps: RouteDeps, request: FastifyRequest, { attempt_id, task_token, callback, body }: Callback) {
  const claims = claimsOf(deps, request, attempt_id, task_token)
  switch (callback) {
    case 'started':
      return sayStarted(deps, claims, parsedBy(startedRequest, body))
    case 'heartbeat':
      return sayAlive(deps, claims, parsedBy(heartbeatRequest, body))
    case 'completed':
      refuseLarge(body)
      return sayCompleted(deps, claims, parsedBy(completedRequest, body))
  }
}
