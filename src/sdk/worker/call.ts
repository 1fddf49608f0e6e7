// One callback to the API, and the same one again until it is answered. What an answer means is for the caller.

import type { Callback, Dispatch } from '../../api/contract/worker.js'
import type { RandomBytes } from '../../core/ulid.js'
import type { CallbackLine } from './callback-line.js'
import { pause } from './pause.js'
import { type CallAnswer, type CallOptions, isWorthRepeating, postJson } from './post-json.js'

/** Sends one callback of one attempt: `post('started', body)`. */
export type Post = (path: 'started' | 'heartbeat' | 'completed' | 'logs', body: object) => Promise<CallAnswer>

type PostOptions = CallOptions &
  Pick<Dispatch, 'attempt_id' | 'callback_url' | 'task_token' | 'traceparent'> & {
    /** Where this worker's callbacks go together; undefined: the API takes them one by one. */
    readonly line: CallbackLine | undefined
  }

export function createPost({ attempt_id, callback_url, task_token, traceparent, line, ...options }: PostOptions): Post {
  const base = callback_url.replace(/\/+$/, '')
  const traced = traceparent === undefined ? {} : { traceparent }
  const headers = { authorization: `Bearer ${task_token}`, ...traced }
  const alone = (path: string, body: object) => postJson(`${base}/${path}`, body, headers, options)
  return async (path, body) => {
    // A chunk of logs is large, and would keep the others waiting.
    if (line === undefined || path === 'logs') return alone(path, body)
    return (await line.send({ attempt_id, task_token, callback: path, body: body as Callback['body'], ...traced })) ?? alone(path, body)
  }
}

export const isTaken = (answer: CallAnswer): boolean => answer.kind === 'answered' && answer.status >= 200 && answer.status < 300

/** For log lines: ends a sentence. */
export function describe(answer: CallAnswer): string {
  if (answer.kind === 'unanswered') return `was not answered: ${answer.problem}.`
  const { body, status } = answer
  const detail =
    typeof body === 'object' && body !== null ? ((body as { detail?: unknown }).detail ?? (body as { title?: unknown }).title) : undefined
  return `was answered with ${status}${typeof detail === 'string' ? `: ${detail}` : '.'}`
}

type Patience = {
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
