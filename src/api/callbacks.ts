// Callbacks of several attempts in one request. Each has its own token and its own answer: what is wrong with one is nothing
// to the others, and what takes long is asked for again.

import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { sayAlive, sayCompleted, sayStarted } from '../commands/attempt.js'
import { problem } from '../commands/problem.js'
import { CALLBACKS_REQUEST_BYTES_MAX } from '../core/limits.js'
import type { Callback, CallbackAnswer } from './contract/worker.js'
import { callbacksRequest, callbacksResponse, completedRequest, heartbeatRequest, startedRequest } from './contract/worker.js'
import { refuseLarge } from './http/callback-size.js'
import { parsedBy } from './http/compilers.js'
import type { Api, RouteDeps } from './http/deps.js'
import { claimsOf } from './http/principal.js'
import { inCallbackSpan } from './http/traced.js'
import { orRefuse, type ProblemAnswer, problemAnswer, problems, RefusedError } from './problems.js'

/** A revision that is not to be seen within this time. */
const REVISION_WAIT_MS = 2_000
/** All answers leave together: one that is not there by then is given as "ask again". A worker waits for 15 s. */
const ANSWER_WITHIN_MS = 5_000
const NOT_YET = 'It takes longer than usual, and may be recorded or not. Send the same again.'

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
      const { callbacks } = request.body
      const answered = new AbortController()
      const late = sleep(ANSWER_WITHIN_MS, undefined, { signal: answered.signal }).catch(() => undefined)
      const notYet = problemAnswer(new RefusedError(problem('not-ready', NOT_YET)), request)
      const answers = callbacks.map((said) => Promise.race([answerTo(impatient, request, said), late.then(() => answerWith(said, notYet))]))
      const all = await Promise.all(answers)
      answered.abort()
      return reply.code(200).send({ answers: all })
    },
  )
}

async function answerTo(deps: RouteDeps, request: FastifyRequest, said: Callback): Promise<CallbackAnswer> {
  const { attempt_id } = said
  try {
    return { attempt_id, status: 200, body: { ...orRefuse(await take(deps, request, said)) } }
  } catch (error) {
    return answerWith(said, problemAnswer(error, request))
  }
}

const answerWith = ({ attempt_id }: Callback, { status, document, retry_after_seconds }: ProblemAnswer): CallbackAnswer => ({
  attempt_id,
  status,
  body: { ...document },
  ...(retry_after_seconds === undefined ? {} : { retry_after_seconds }),
})

function take(deps: RouteDeps, request: FastifyRequest, { attempt_id, task_token, callback, body, traceparent }: Callback) {
  const claims = claimsOf(deps, request, attempt_id, task_token)
  const said = { claims, traceparent }
  switch (callback) {
    case 'started': {
      const started = parsedBy(startedRequest, body)
      return inCallbackSpan(deps.tracing, callback, said, () => sayStarted(deps, claims, started))
    }
    case 'heartbeat':
      return sayAlive(deps, claims, parsedBy(heartbeatRequest, body))
    case 'completed': {
      refuseLarge(body)
      const completed = parsedBy(completedRequest, body)
      return inCallbackSpan(deps.tracing, callback, said, () => sayCompleted(deps, claims, completed))
    }
  }
}
