// Hands attempts over by HTTP, straight to the worker: one signed POST for as many as it takes at once. Where it refuses one as a
// whole, each of its attempts is asked for alone, so that one that is wrong loses no other.

import { DISPATCH_PATH, type Dispatch, type DispatchRequest, dispatchResponse, WORKER_PROTOCOL } from '../api/contract/worker.js'
import { parseJson } from '../core/json.js'
import { DISPATCH_REQUEST_BYTES_MAX, ERROR_MESSAGE_BYTES_MAX } from '../core/limits.js'
import type { LocationRef } from '../core/location-secret.js'
import { cutText } from '../core/text.js'
import type { Clock } from '../core/time.js'
import type { ErrorValue } from '../events/value.js'
import type { DispatchPort, SendAnswer } from './dispatch.js'
import { createPause, type Heard, type Pause } from './pause.js'
import { postSigned, reasonOf, type SignedPostDeps } from './signed-post.js'

/** These say "later", and nothing about the request. */
const LATER = new Set([408, 425, 429])

const WHO_ASKS =
  "Look at the worker's SERVO_WORKER_SECRETS (`servo worker secret` prints what it has to be) and its SERVO_API_URL, at the clocks of both, and whether something before the worker wants a login."
const WHERE_TO =
  'Look whether the worker is what answers there, and not something before it or in its place; deploy with its right URL if it is another.'
/** What every request would hear, and what to look at: no attempt is wrong, and somebody has to mend the set-up. */
const SET_UP_WRONGLY: Readonly<Record<number, string>> = { 401: WHO_ASKS, 403: WHO_ASKS, 404: WHERE_TO, 405: WHERE_TO }

/** One for all attempts of a request, or one for each. */
type Said = SendAnswer | readonly SendAnswer[]
type Waiting = { readonly location_version: number; readonly pause: Pause<Said> }

export function createDirectPort(deps: SignedPostDeps & { readonly clock: Pick<Clock, 'elapsed'> }): DispatchPort {
  /** By location: a few, which are those of the workspace. */
  const waiting = new Map<string, Waiting>()

  /** A deploy may be what mends it, so it begins anew with each. */
  function pauseOf(location_name: string, location_version: number): Pause<Said> {
    const known = waiting.get(location_name)
    if (known !== undefined && location_version <= known.location_version) return known.pause
    const pause = createPause<Said>(deps.clock)
    waiting.set(location_name, { location_version, pause })
    return pause
  }

  async function ask(location: LocationRef, worker_url: string, dispatches: readonly Dispatch[]): Promise<Heard<Said>> {
    try {
      const request: DispatchRequest = { protocol: WORKER_PROTOCOL, dispatches: [...dispatches] }
      const { status, is_taken, text } = await postSigned(deps, new URL(DISPATCH_PATH, worker_url), request, location)
      const answer = is_taken ? answersIn(worker_url, text, dispatches) : answerOfStatus(worker_url, status, text)
      return { way: wayOf(answer), answer }
    } catch (error) {
      return { way: 'nothing', answer: { answer: 'UNREACHABLE', problem: `${worker_url} did not answer: ${reasonOf(error)}` } }
    }
  }

  return {
    port: 'DIRECT',
    async send(worker_url, dispatches, _names, location_version) {
      const [first] = dispatches
      if (first === undefined) return []
      const pause = pauseOf(first.location_name, location_version)
      return sendInTurn(inRequests(dispatches), (part) => pause.ask(() => ask(first, worker_url, part)))
    },
  }
}

/** In their order, each below the limit; what alone is above it is alone. */
function inRequests(dispatches: readonly Dispatch[]): Dispatch[][] {
  const requests: Dispatch[][] = []
  let room = 0
  for (const dispatch of dispatches) {
    const size = Buffer.byteLength(JSON.stringify(dispatch)) + 1
    if (size > room) {
      requests.push([])
      room = DISPATCH_REQUEST_BYTES_MAX - REQUEST_HEAD_BYTES
    }
    requests.at(-1)?.push(dispatch)
    room -= size
  }
  return requests
}

/** More than what a request has around its attempts. */
const REQUEST_HEAD_BYTES = 100

/** One after the other. Where nobody answers one, the rest is the sweep's: each would wait as long. */
async function sendInTurn(
  requests: readonly (readonly Dispatch[])[],
  ask: (part: readonly Dispatch[]) => Promise<Said>,
): Promise<readonly SendAnswer[]> {
  let gone: SendAnswer | undefined
  const answered = async (part: readonly Dispatch[]): Promise<readonly SendAnswer[]> => {
    const said = gone ?? (await ask(part))
    if (!('answer' in said)) return said
    if (said.answer === 'UNREACHABLE') gone = said
    return said.answer === 'REFUSED' && part.length > 1 ? eachOf(part.map((dispatch) => [dispatch])) : part.map(() => said)
  }
  const eachOf = async (parts: readonly (readonly Dispatch[])[]): Promise<readonly SendAnswer[]> => {
    const answers: SendAnswer[] = []
    for (const part of parts) answers.push(...(await answered(part)))
    return answers
  }
  return eachOf(requests)
}

/** Only a worker answers attempt by attempt; of a request as a whole something before it may have spoken. */
function wayOf(answer: Said): Heard<Said>['way'] {
  if (!('answer' in answer)) return 'through'
  return answer.answer === 'BLOCKED' ? 'stuck' : 'nothing'
}

function answerOfStatus(worker_url: string, status: number, text: string): SendAnswer {
  if (LATER.has(status)) return { answer: 'BUSY' }
  const words = cutText(text, ERROR_MESSAGE_BYTES_MAX / 8) || 'nothing more.'
  const code = `HTTP_${status}`
  const what_to_do = SET_UP_WRONGLY[status]
  if (what_to_do !== undefined) return { answer: 'BLOCKED', code, problem: `${worker_url} answered ${status}: ${words} ${what_to_do}` }
  const said = `The worker answered ${status}: ${words}`
  if (status >= 400 && status < 500) return { answer: 'REFUSED', error: { code, message: said } }
  return { answer: 'UNREACHABLE', problem: said }
}

function answersIn(worker_url: string, text: string, dispatches: readonly Dispatch[]): Said {
  const parsed = dispatchResponse.safeParse(parseJson(text))
  // A page for people, say: what answers there is no worker, and every attempt would hear it.
  if (!parsed.success) {
    const problem = `${worker_url} answered something that is no answer of the worker protocol. ${WHERE_TO}`
    return { answer: 'BLOCKED', code: 'NOT_THE_PROTOCOL', problem }
  }
  const byAttempt = new Map(parsed.data.answers.map((each) => [each.attempt_id, each] as const))
  return dispatches.map(({ attempt_id }): SendAnswer => {
    const said = byAttempt.get(attempt_id)
    if (said === undefined) return { answer: 'UNREACHABLE', problem: `${worker_url} answered, and said nothing of ${attempt_id}.` }
    if (said.answer !== 'REFUSED') return { answer: said.answer }
    return { answer: 'REFUSED', error: (said.error as ErrorValue | undefined) ?? NO_REASON }
  })
}

const NO_REASON: ErrorValue = { code: 'REFUSED', message: 'The worker refused the attempt, and did not say why.' }
