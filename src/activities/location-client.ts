// Requests to the workers of code locations: signed, in batches below the size limit, with a circuit breaker for each location. What a
// batch means to its caller is a `LocationCall`.

import { parseJson } from '../core/json.js'
import { DISPATCH_REQUEST_BYTES_MAX, ERROR_MESSAGE_BYTES_MAX } from '../core/limits.js'
import type { LocationRef } from '../core/location-secret.js'
import { cutText } from '../core/text.js'
import type { Clock } from '../core/time.js'
import type { ErrorValue } from '../events/value.js'
import { type CircuitBreaker, createCircuitBreaker, type ProbeResult } from './circuit-breaker.js'
import { postSigned, reasonOf, type SignedPostDeps } from './signed-post.js'

export type LocationFailure =
  /** The worker has no room now. Nothing is wrong, and the items are sent again. */
  | { readonly answer: 'BUSY' }
  /** No answer, or none that says anything about the items. They are sent again. */
  | { readonly answer: 'UNREACHABLE'; readonly problem: string }
  /** The location is set up wrongly, for every item alike, until a person mends it. One `code` is one thing to mend. */
  | { readonly answer: 'BLOCKED'; readonly code: string; readonly problem: string }
  /** Sending the items again would not help. */
  | { readonly answer: 'REFUSED'; readonly error: ErrorValue }

export type LocationCall<Item, Answer> = {
  readonly path: string
  readonly request: (items: readonly Item[]) => object
  /** One answer for each item, in their order; undefined: this is not an answer of the worker protocol. */
  readonly answersIn: (body: unknown, items: readonly Item[], worker_url: string) => readonly Answer[] | undefined
}

export type Target = LocationRef & {
  readonly worker_url: string
  /** A deploy may have mended the location, so its breaker starts closed with each. */
  readonly location_version: number
}

export type LocationClient = {
  /** Answers in the order of the items. It never throws, and never retries what was sent. A batch that is refused as a whole is sent again
   *  item by item, so that one bad item fails no other. */
  readonly send: <Item, Answer>(
    target: Target,
    call: LocationCall<Item, Answer>,
    items: readonly Item[],
  ) => Promise<readonly (Answer | LocationFailure)[]>
}

/** These say "later", and nothing about the request. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429])

const CHECK_CREDENTIALS =
  "Look at the worker's SERVO_WORKER_SECRETS (`servo worker secret` prints what it has to be) and its SERVO_API_URL, at the clocks of both, and whether something before the worker wants a login."
const CHECK_ADDRESS =
  'Look whether the worker is what answers there, and not something before it or in its place; deploy with its right URL if it is another.'
/** Every request would get these. No item is wrong, and a person has to mend the set-up. */
const WRONG_SET_UP: Readonly<Record<number, string>> = {
  401: CHECK_CREDENTIALS,
  403: CHECK_CREDENTIALS,
  404: CHECK_ADDRESS,
  405: CHECK_ADDRESS,
}

/** A failure is of the whole batch. */
type BatchAnswer =
  | { readonly kind: 'failure'; readonly failure: LocationFailure }
  | { readonly kind: 'answers'; readonly answers: unknown[] }
type KnownLocation = { readonly location_version: number; readonly breaker: CircuitBreaker<BatchAnswer> }

export function createLocationClient(deps: SignedPostDeps & { readonly clock: Pick<Clock, 'elapsed'> }): LocationClient {
  /** By location: a few, which are those of the workspace. */
  const locations = new Map<string, KnownLocation>()

  function breakerOf({ location_name, location_version }: Target): CircuitBreaker<BatchAnswer> {
    const known = locations.get(location_name)
    if (known !== undefined && location_version <= known.location_version) return known.breaker
    const breaker = createCircuitBreaker<BatchAnswer>(deps.clock)
    locations.set(location_name, { location_version, breaker })
    return breaker
  }

  async function post<Item, Answer>(
    target: Target,
    call: LocationCall<Item, Answer>,
    items: readonly Item[],
  ): Promise<ProbeResult<BatchAnswer>> {
    const { worker_url } = target
    try {
      const { status, is_taken, text } = await postSigned(deps, new URL(call.path, worker_url), call.request(items), target)
      if (!is_taken) return probeOf(failureOfStatus(worker_url, status, text))
      const answers = call.answersIn(parseJson(text), items, worker_url)
      return answers === undefined
        ? probeOf(notTheProtocol(worker_url))
        : { target: 'well', answer: { kind: 'answers', answers: [...answers] } }
    } catch (error) {
      return probeOf({ answer: 'UNREACHABLE', problem: `${worker_url} did not answer: ${reasonOf(error)}` })
    }
  }

  return {
    async send<Item, Answer>(target: Target, call: LocationCall<Item, Answer>, items: readonly Item[]) {
      if (items.length === 0) return []
      const breaker = breakerOf(target)
      const answers = await sendBatches(inBatches(items), (batch) => breaker.run(() => post(target, call, batch)))
      return answers as readonly (Answer | LocationFailure)[]
    },
  }
}

/** Only a worker answers item by item. A failure of the whole batch may come from a proxy in front of it, so it closes no breaker. */
const probeOf = (failure: LocationFailure): ProbeResult<BatchAnswer> => ({
  target: failure.answer === 'BLOCKED' ? 'broken' : 'unknown',
  answer: { kind: 'failure', failure },
})

/** In their order, each below the limit. An item that is above it is sent alone. */
function inBatches<Item>(items: readonly Item[]): Item[][] {
  const batches: Item[][] = []
  let room = 0
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1
    if (size > room) {
      batches.push([])
      room = DISPATCH_REQUEST_BYTES_MAX - REQUEST_HEAD_BYTES
    }
    batches.at(-1)?.push(item)
    room -= size
  }
  return batches
}

/** More than what a request has around its items. */
const REQUEST_HEAD_BYTES = 100

/** One after the other. After one that gets no answer the others are not sent: each would wait as long for its time-out. */
async function sendBatches<Item>(
  batches: readonly (readonly Item[])[],
  send: (batch: readonly Item[]) => Promise<BatchAnswer>,
): Promise<readonly unknown[]> {
  let unreachable: BatchAnswer | undefined
  const answersOf = async (batch: readonly Item[]): Promise<readonly unknown[]> => {
    const answer = unreachable ?? (await send(batch))
    if (answer.kind === 'answers') return answer.answers
    const { failure } = answer
    if (failure.answer === 'UNREACHABLE') unreachable = answer
    if (failure.answer === 'REFUSED' && batch.length > 1) return each(batch.map((item) => [item]))
    return batch.map(() => failure)
  }
  const each = async (parts: readonly (readonly Item[])[]): Promise<readonly unknown[]> => {
    const answers: unknown[] = []
    for (const part of parts) answers.push(...(await answersOf(part)))
    return answers
  }
  return each(batches)
}

function failureOfStatus(worker_url: string, status: number, text: string): LocationFailure {
  if (LATER.has(status)) return { answer: 'BUSY' }
  const words = cutText(text, ERROR_MESSAGE_BYTES_MAX / 8) || 'nothing more.'
  const code = `HTTP_${status}`
  const what_to_do = WRONG_SET_UP[status]
  if (what_to_do !== undefined) return { answer: 'BLOCKED', code, problem: `${worker_url} answered ${status}: ${words} ${what_to_do}` }
  const message = `The worker answered ${status}: ${words}`
  if (status >= 400 && status < 500) return { answer: 'REFUSED', error: { code, message } }
  return { answer: 'UNREACHABLE', problem: message }
}

/** Such as a page for people: what answers there is not a worker, and every item would get it. */
const notTheProtocol = (worker_url: string): LocationFailure => ({
  answer: 'BLOCKED',
  code: 'NOT_THE_PROTOCOL',
  problem: `${worker_url} answered something that is no answer of the worker protocol. ${CHECK_ADDRESS}`,
})
