// The idempotency key of a request, and the outcome of what it appended.

import type { FastifyRequest } from 'fastify'
import type { Claim, Claimed } from '../../commands/claims.js'
import { problem } from '../../commands/problem.js'
import { isOperatingError } from '../../core/errors.js'
import { WAIT_MS_MAX } from '../../core/limits.js'
import { type Outcome, waitForOutcome } from '../../readers/wait.js'
import { RefusedError } from '../problems.js'
import type { ApiDeps } from './deps.js'
import { API_PRINCIPAL } from './principal.js'

type Keyed = { readonly client_request_id?: string | undefined; readonly requested_by?: string | undefined }

export function claimOf(request: Pick<FastifyRequest, 'headers'>, route: string, { client_request_id }: Keyed): Claim | undefined {
  const header = request.headers['idempotency-key']
  const key = typeof header === 'string' ? header : undefined
  if (key !== undefined && client_request_id !== undefined && key !== client_request_id) {
    const message = 'Idempotency-Key and client_request_id name two different keys. Send one of them.'
    throw new RefusedError(problem('bad-input', message, { faults: [{ path: 'client_request_id', message }] }))
  }
  const client_key = key ?? client_request_id
  return client_key === undefined ? undefined : { principal: API_PRINCIPAL, route, client_key }
}

/** What decides whether two requests are the same: all but the key itself, and who asks. The same key from another person is
 *  the same command. */
export function requestOf<Body extends Keyed>({ client_request_id: _key, requested_by: _who, ...body }: Body, params: object = {}): object {
  return { ...params, ...body }
}

const WAIT_MS_DEFAULT = WAIT_MS_MAX / 3

export const waitMsOf = ({ wait_ms }: { readonly wait_ms?: number | undefined }): number => wait_ms ?? WAIT_MS_DEFAULT

/** undefined: nothing was said. */
export async function outcomeOf(deps: ApiDeps, { events, segment_name }: Claimed, wait_ms: number): Promise<Outcome | undefined> {
  const [first] = events
  if (first === undefined) return undefined
  const { event_id, idempotency_key } = first
  const asked = { event_id, idempotency_key, ...(segment_name === undefined ? {} : { segment_name }) }
  try {
    return await waitForOutcome({ reader: deps.current, clock: deps.clock, poke: () => deps.poke('now') }, asked, wait_ms)
  } catch (error) {
    // The command is durable. An answer that says otherwise, because its outcome cannot be read now, would be wrong.
    if (isOperatingError(error, 'unavailable')) return { kind: 'pending' }
    throw error
  }
}

type Waiting = { readonly wait?: boolean | undefined; readonly wait_ms?: number | undefined }

/** What a command answers, with the outcome where its sender waits for that. The body is the claim's own. */
export async function waited<Body extends object>(
  deps: ApiDeps,
  claimed: Claimed,
  query: Waiting,
): Promise<Body & { readonly outcome?: Outcome }> {
  const outcome = query.wait === true ? await outcomeOf(deps, claimed, waitMsOf(query)) : undefined
  return { ...(claimed.body as Body), ...(outcome === undefined ? {} : { outcome }) }
}
