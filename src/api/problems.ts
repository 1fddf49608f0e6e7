// The one place from what went wrong to an answer (RFC 9457). Nothing of the inside is in it: the request's id leads to
// the log, where the rest is.

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isProblem, type Problem, type ProblemCode, problem } from '../commands/problem.js'
import { refusedBatch } from '../commands/submit.js'
import { isOperatingError } from '../core/errors.js'
import { problemDocument } from './contract/problem.js'
import { PROBLEM_TYPE_PREFIX } from './contract/problem-type.js'
import { InputError } from './http/compilers.js'

/** false: the answer is of a revision that lacks some of what was accepted before the question. */
export const FRESH_HEADER = 'servo-fresh'

const PROBLEM_JSON = 'application/problem+json'

/** Thrown in handlers alone: what a command refuses ends the request. */
export class RefusedError extends Error {
  readonly refused: Problem

  constructor(refused: Problem) {
    super(refused.detail)
    this.name = 'RefusedError'
    this.refused = refused
  }
}

export function orRefuse<Value extends object>(value: Value): Exclude<Value, Problem> {
  if (isProblem(value)) throw new RefusedError(value)
  return value as Exclude<Value, Problem>
}

type ApiCode = ProblemCode | 'unavailable' | 'too-many-requests' | 'unsupported-media-type' | 'corrupt' | 'internal'
type Kind = { readonly status: number; readonly title: string; readonly retry_after_seconds?: number }

const KINDS: { readonly [Code in ApiCode]: Kind } = {
  'bad-input': { status: 400, title: 'The request cannot be meant' },
  unauthorized: { status: 401, title: 'No valid token' },
  forbidden: { status: 403, title: 'Not for this server' },
  'not-found': { status: 404, title: 'Not there' },
  conflict: { status: 409, title: 'The state does not allow it' },
  'run-key-conflict': { status: 409, title: 'The run key belongs to another request' },
  'attempt-over': { status: 409, title: 'The attempt is over' },
  'too-large': { status: 413, title: 'Too large' },
  'unsupported-media-type': { status: 415, title: 'Not JSON' },
  'key-reused': { status: 422, title: 'The idempotency key was used for another request' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Something failed' },
  corrupt: { status: 500, title: 'Stored data is damaged' },
  'not-ready': { status: 503, title: 'Not ready yet', retry_after_seconds: 1 },
  'not-taken-up': { status: 503, title: 'Not taken up by a turn yet', retry_after_seconds: 1 },
  unavailable: { status: 503, title: 'The store did not answer', retry_after_seconds: 1 },
}

type Told = Omit<Problem, 'problem'> & { readonly code: ApiCode; readonly retry_after_seconds?: number }

const toldOf = ({ problem: code, ...rest }: Problem): Told => ({ code, ...rest })

/** A problem as it is sent, by itself or as one answer of several. */
export type ProblemAnswer = { readonly status: number; readonly document: object; readonly retry_after_seconds?: number }

function answerOf({ code, detail, faults, members, retry_after_seconds }: Told, request_id: string): ProblemAnswer {
  const { status, title, retry_after_seconds: usual } = KINDS[code]
  const wait = retry_after_seconds ?? usual
  const document = {
    ...members,
    type: `${PROBLEM_TYPE_PREFIX}${code}`,
    title,
    status,
    detail,
    ...(faults === undefined ? {} : { errors: faults }),
    request_id,
  }
  return { status, document, ...(wait === undefined ? {} : { retry_after_seconds: wait }) }
}

function sendTold(reply: FastifyReply, told: Told): FastifyReply {
  const { status, document, retry_after_seconds } = answerOf(told, reply.request.id)
  if (retry_after_seconds !== undefined) void reply.header('retry-after', String(retry_after_seconds))
  if (status === 401) void reply.header('www-authenticate', 'Bearer')
  return reply.code(status).type(PROBLEM_JSON).send(JSON.stringify(document))
}

export const sendProblem = (reply: FastifyReply, refused: Problem): FastifyReply => sendTold(reply, toldOf(refused))

/** What a view that is behind does not have may be among what was accepted since: an answer that it is not there would be wrong. */
const unlessBehind = (refused: Problem): Problem =>
  refused.problem === 'not-found' ? problem('not-taken-up', `The newest revision does not have it. ${MAY_BE_ACCEPTED}`) : refused

const MAY_BE_ACCEPTED =
  'If it was accepted, it is kept, and the next turn carries it out. No turn has taken it up yet: is `servo automation` or `servo dev` running? `servo doctor` looks.'

/** The same for a request that rests on it: that request was not accepted. */
export const refusedUnlessBehind = (refused: Problem): Problem =>
  refused.problem === 'not-found'
    ? problem(
        'not-ready',
        'Nothing was accepted: the newest revision does not have what this request is about. That may be among what was accepted and no turn has taken up yet: send the same again once an automation runs. `servo doctor` looks.',
      )
    : refused

export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const isBehind = error instanceof RefusedError && reply.getHeader(FRESH_HEADER) === 'false'
  sendTold(reply, isBehind ? toldOf(unlessBehind(error.refused)) : logged(error, request))
}

/** For one part of a request that goes on with the others. */
export const problemAnswer = (error: unknown, request: FastifyRequest): ProblemAnswer => answerOf(logged(error, request), request.id)

function logged(error: unknown, request: FastifyRequest): Told {
  const told = explain(error, request)
  const { status } = KINDS[told.code]
  if (status >= 500 && !(error instanceof RefusedError)) request.log.error({ err: error }, told.detail)
  return told
}

function explain(error: unknown, request: FastifyRequest): Told {
  if (error instanceof RefusedError) return toldOf(error.refused)
  if (error instanceof InputError) return { code: 'bad-input', detail: error.message, faults: error.faults }
  const batch = refusedBatch(error)
  if (batch !== undefined) return toldOf(batch)
  if (isOperatingError(error)) {
    switch (error.kind) {
      case 'conflict':
        return { code: 'conflict', detail: 'Somebody else was first. Read what is there now, and ask again.' }
      case 'unavailable':
        return { code: 'unavailable', detail: 'The store did not answer in time. It may have been done or not: send the same again.' }
      case 'missing':
        return { code: 'not-ready', detail: 'The tables moved on while they were read. Ask again.' }
      case 'corrupt':
        return { code: 'corrupt', detail: `Stored data is damaged. Whoever runs Servo finds it in the log under ${request.id}.` }
    }
  }
  return byFastify(error as Partial<FastifyError>) ?? unknownFault(request)
}

const unknownFault = ({ id }: FastifyRequest): Told => ({
  code: 'internal',
  detail: `Something failed that should not. Whoever runs Servo finds it in the log under ${id}. Sending the same again does no harm.`,
})

/** What Fastify itself refuses, before any handler. */
function byFastify({ statusCode, code, message }: Partial<FastifyError>): Told | undefined {
  switch (statusCode) {
    case 413:
      return { code: 'too-large', detail: 'The body is larger than this route takes. Send it in several requests.' }
    case 415:
      return { code: 'unsupported-media-type', detail: 'The body is not JSON. Send it with content-type: application/json.' }
    case 429:
      return { code: 'too-many-requests', detail: message ?? 'Too many requests. Wait a moment.' }
    case 400:
      if (code === 'FST_ERR_CTP_EMPTY_JSON_BODY') {
        return { code: 'bad-input', detail: 'The body is empty, and content-type says JSON. Send {} or leave the header out.' }
      }
      if (code === 'FST_ERR_BAD_URL') return { code: 'bad-input', detail: 'The path is no URL. Encode what is special in it, as # by %23.' }
      return { code: 'bad-input', detail: 'The body is not JSON. Send one JSON object.' }
    case undefined:
    default:
      return undefined
  }
}

export const noSuchRoute = ({ method, url }: FastifyRequest): Problem =>
  problem('not-found', `There is no ${method} ${url.split('?')[0]}. /openapi.json lists what there is.`)

const described = (description: string) => ({ description, content: { [PROBLEM_JSON]: { schema: problemDocument } } })

const EVERYWHERE = [400, 401, 403, 429, 500, 503] as const
const WHAT: Readonly<Record<number, string>> = {
  400: 'Something in the request cannot be meant; `errors` says what.',
  401: 'The token is missing or not valid.',
  403: 'It is for another server, or comes from a page of another one.',
  404: 'It is not there.',
  409: 'Its state does not allow it, or somebody else was first.',
  413: 'It is too large.',
  422: 'The idempotency key was used with another body.',
  429: 'Too many requests: retry-after says how long to wait.',
  500: 'Something failed that should not.',
  503: 'Not ready: ask again in a moment.',
}

/** For the responses of a route's schema, and so for the OpenAPI document. */
export const problems = (...more: readonly number[]) =>
  Object.fromEntries([...EVERYWHERE, ...more].map((status) => [status, described(WHAT[status] as string)]))
