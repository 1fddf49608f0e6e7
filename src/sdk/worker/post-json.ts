// One POST of JSON, and what came of it. What an answer means is for the caller.

import { IDENTITY_HEADER } from '../../api/contract/worker.js'
import { messageOf } from '../../core/errors.js'
import { parseJson } from '../../core/json.js'
import { SECOND_MS } from '../../core/time.js'

export type CallAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown; readonly retry_after_ms: number }
  /** Whether it arrived is unknown. */
  | { readonly kind: 'unanswered'; readonly problem: string }

export type CallOptions = {
  readonly call_timeout_ms: number
  /** Ends all calls that are under way, and those to come. */
  readonly closed: AbortSignal
  /** An OIDC token of this program, where the API asks for one. Without it nothing is sent: it would be refused for good. */
  readonly identity?: (() => Promise<string>) | undefined
}

/** One POST of JSON, and what came of it. */
export async function postJson(
  url: string,
  body: object,
  headers: object,
  { call_timeout_ms, closed, identity }: CallOptions,
): Promise<CallAnswer> {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const timer = setTimeout(abort, call_timeout_ms)
  closed.addEventListener('abort', abort)
  if (closed.aborted) abort()
  try {
    const who = identity === undefined ? {} : { [IDENTITY_HEADER]: await identity() }
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...who, ...headers },
      body: JSON.stringify(body),
      // Followed as fetch follows it, a POST would become a GET.
      redirect: 'manual',
      signal: controller.signal,
    })
    const text = await response.text()
    return { kind: 'answered', status: response.status, body: parseJson(text), retry_after_ms: retryAfterMs(response.headers) }
  } catch (error) {
    return { kind: 'unanswered', problem: controller.signal.aborted ? `it took longer than ${call_timeout_ms} ms` : causeOf(error) }
  } finally {
    clearTimeout(timer)
    closed.removeEventListener('abort', abort)
  }
}

function retryAfterMs(headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? 0)
  return Number.isFinite(seconds) && seconds > 0 ? seconds * SECOND_MS : 0
}

/** fetch says "fetch failed", and the reason in its cause. */
const causeOf = (error: unknown): string =>
  error instanceof Error && error.cause !== undefined ? messageOf(error.cause) || error.message : messageOf(error)

/** Too early, too much, or not able to just now: the same request may be taken later. */
const TEMPORARY = [408, 425, 429]

export const isWorthRepeating = (answer: CallAnswer): boolean =>
  answer.kind === 'unanswered' || answer.status >= 500 || TEMPORARY.includes(answer.status)
