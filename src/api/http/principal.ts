// Who asks. People and programs have the API's token; a worker's callback has the token of its attempt, and that alone.

import type { FastifyRequest } from 'fastify'
import { problem } from '../../commands/problem.js'
import { hmacSha256 } from '../../core/hash.js'
import { isSame, readToken, type TokenClaims } from '../../core/token.js'
import { RefusedError } from '../problems.js'
import type { ApiDeps } from './deps.js'

const BEARER = /^bearer +([^\s]+) *$/i

const bearerOf = ({ headers }: FastifyRequest): string | undefined => BEARER.exec(headers.authorization ?? '')?.[1]

/** Compared by digest, and with each of them: the time that it takes tells neither a length, nor where it differs, nor which
 *  of them it is. */
export function hasApiToken(request: FastifyRequest, api_tokens: readonly string[]): boolean {
  if (api_tokens.length === 0) return true
  const given = bearerOf(request)
  if (given === undefined) return false
  const digest = hmacSha256('servo-api-token', given)
  return api_tokens.filter((api_token) => isSame(digest, hmacSha256('servo-api-token', api_token))).length > 0
}

/** Everybody with a token is one principal: it scopes idempotency keys, which live on when the token changes. */
export const API_PRINCIPAL = 'api'

export function requireApiToken(request: FastifyRequest, api_tokens: readonly string[]): void {
  if (hasApiToken(request, api_tokens)) return
  const what = request.headers.authorization === undefined ? 'The request has no token.' : 'The token is not the one of this API.'
  throw new RefusedError(problem('unauthorized', `${what} Send Authorization: Bearer and the API token that this server was started with.`))
}

/** The claims of a callback's token, which opens the path of its own attempt and no other. */
export const attemptClaims = (deps: ApiDeps, request: FastifyRequest, attempt_id: string): TokenClaims =>
  claimsOf(deps, request, attempt_id, bearerOf(request) ?? '')

/** The same of a token that came with others in one request. */
export function claimsOf({ secrets, scope, appender }: ApiDeps, request: FastifyRequest, attempt_id: string, token: string): TokenClaims {
  const read = readToken(secrets, token, appender.now())
  const fault = read.kind === 'refused' ? read.problem : otherAttempt(read.claims, { ...scope, attempt_id })
  if (fault === undefined && read.kind === 'valid') return read.claims
  // Which part is wrong helps whoever operates Servo, and nobody else.
  request.log.warn({ attempt_id }, `A callback was refused. ${fault}`)
  throw new RefusedError(
    problem(
      'unauthorized',
      `The token is not valid for attempt ${attempt_id}. Send the task_token that its dispatch came with, as Authorization: Bearer.`,
    ),
  )
}

const otherAttempt = (claims: TokenClaims, wanted: Pick<TokenClaims, 'tenant_id' | 'workspace_id' | 'attempt_id'>): string | undefined =>
  claims.tenant_id === wanted.tenant_id && claims.workspace_id === wanted.workspace_id && claims.attempt_id === wanted.attempt_id
    ? undefined
    : 'It is the token of another attempt.'
