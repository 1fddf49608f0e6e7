// One callback to the API, and the same one again until it is answered. What an answer means is for the caller.

import { messageOf } from '../../core/errors.js'
import { parseJson } from '../../core/json.js'
import { SECOND_MS } from '../../core/time.js'
import type { RandomBytes } from '../../core/ulid.js'
import { pause } from './pause.js'

export type CallAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown; readonly retry_after_ms: number }
  /** Whether it arrived is unknown. */
  | { readonly kind: 'unanswered'; readonly problem: string }

/** Sends one callback of one attempt: `post('started', body)`. */
export type Post = (path: 'started' | 'heartbeat' | 'completed' | 'logs', body: object) => Promise<CallAnswer>

export type PostOptions = {
  readonly callback_url: string
  readonly task_token: string
  readonly call_timeout_ms: number
  /** Ends all calls that are under way, and those to come. */
  readonly closed: AbortSignal
}

export const createPost = ({ callback_url, task_token, call_timeout_ms, closed }: PostOptions): Post => {
  const base = callback_url.replace(/\/+$/, '')
  return async (path, body) => {
    const controller = new AbortController()
    const abort = () => controller.abort()
    const timer = setTimeout(abort, call_timeout_ms)
    closed.addEventListener('abort', abort)
    if (closed.aborted) abort()
    try {
      const response = await fetch(`${base}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${task_token}` },
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

export const isTaken = (answer: CallAnswer): boolean => answer.kind === 'answered' && answer.status >= 200 && answer.status < 300

/** For log lines: ends a sentence. */
export function describe(answer: CallAnswer): string {
  if (answer.kind === 'unanswered') return `was not answered: ${answer.problem}.`
  const { body, status } = answer
  const detail =
    typeof body === 'object' && body !== null ? ((body as { detail?: unknown }).detail ?? (body as { title?: unknown }).title) : undefined
  return `was answered with ${status}${typeof detail === 'string' ? `: ${detail}` : '.'}`
}

export type Patience = {
  readonly random: RandomBytes
  readonly signal: AbortSignal
  /** Whether another try may begin. */
  readonly isDue: () => boolean
  readonly first_ms: number
  readonly longest_ms: number
}

/** The last answer: one that is final, or what there was when patience ended. Tries at least once. */
export async function repeat(
  call: () => Promise<CallAnswer>,
  { random, signal, isDue, first_ms, longest_ms }: Patience,
): Promise<CallAnswer> {
  for (let delay_ms = first_ms; ; delay_ms = Math.min(delay_ms * 2, longest_ms)) {
    const answer = await call()
    if (!isWorthRepeating(answer)) return answer
    const asked_ms = answer.kind === 'answered' ? Math.min(answer.retry_after_ms, longest_ms) : 0
    // Between half and all of it: workers that lost the same API do not come back in the same moment.
    const spread = 0.5 + (random(1)[0] as number) / 510
    await pause(Math.max(delay_ms * spread, asked_ms), signal)
    if (signal.aborted || !isDue()) return answer
  }
}
