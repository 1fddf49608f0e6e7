// What came of an attempt's code, as the callback `completed` says it. Whatever the code threw or returned, this answers.

import type { CompletedRequest } from '../../api/contract/worker.js'
import { utf8Bytes } from '../../core/canonical.js'
import { messageOf } from '../../core/errors.js'
import { isPlainText } from '../../core/ids.js'
import { DURATION_SECONDS_MAX, ERROR_CODE_CHARACTERS_MAX, ERROR_MESSAGE_BYTES_MAX, ERROR_STACK_CHARACTERS_MAX } from '../../core/limits.js'
import { shown } from '../fault.js'
import { readResult } from '../result.js'
import type { StopKind } from './stop.js'

export type CodeEnd =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  /** The worker ends, and the code does not. */
  | { readonly kind: 'abandoned' }

type ErrorValue = NonNullable<CompletedRequest['error']>

export type Outcome = Pick<
  CompletedRequest,
  'outcome' | 'metadata' | 'data_version' | 'error' | 'skip_reason' | 'materialization_id' | 'retry_after_seconds'
>

/** `stopped`: why the signal was aborted before the code ended, if it was. */
export function outcomeOf(end: CodeEnd, stopped: StopKind | undefined, newMaterializationId: () => string): Outcome {
  if (stopped === 'cancel') return { outcome: 'CANCELLED' }
  if (stopped === 'drain' || end.kind === 'abandoned') return { outcome: 'RELEASED', error: DRAINED }
  // Code that noticed the signal may return as if it had done its work.
  if (stopped === 'timeout') return { outcome: 'FAILED', error: TIMED_OUT }
  return end.kind === 'threw' ? failed(end.error) : returned(end.value, newMaterializationId)
}

const DRAINED: ErrorValue = { code: 'WORKER_DRAINED', message: 'The worker was shut down before the code had ended.' }
const TIMED_OUT: ErrorValue = {
  code: 'TIMEOUT',
  message: 'The code ran for longer than its timeout. Give the asset a longer timeout_seconds, or less to do.',
}

function returned(value: unknown, newMaterializationId: () => string): Outcome {
  try {
    const result = readResult(value)
    if ('problem' in result)
      return { outcome: 'FAILED', error: { code: 'BAD_RESULT', message: cutMessage(result.problem), retryable: false } }
    return result.outcome === 'SUCCEEDED' ? { ...result, materialization_id: newMaterializationId() } : result
  } catch (error) {
    // A getter of what was returned.
    return failed(error)
  }
}

const failed = (thrown: unknown): Outcome => ({ outcome: 'FAILED', error: errorOf(thrown), ...retryAfterOf(thrown) })

/** What the error says of the pause before the next try goes before the asset's own. What is no number of seconds says nothing. */
function retryAfterOf(thrown: unknown): Pick<Outcome, 'retry_after_seconds'> {
  try {
    const seconds = (thrown as { readonly retry_after_seconds?: unknown } | null | undefined)?.retry_after_seconds
    return typeof seconds === 'number' && seconds >= 0 ? { retry_after_seconds: Math.min(seconds, DURATION_SECONDS_MAX) } : {}
  } catch {
    return {}
  }
}

/** What was thrown may be anything, and looking at it may throw once more. */
export function errorOf(thrown: unknown): ErrorValue {
  try {
    if (!(thrown instanceof Error)) {
      const message = typeof thrown === 'string' && thrown !== '' ? thrown : `The code threw ${shown(thrown)}, which is no Error.`
      return { code: 'THROWN', message: cutMessage(message), ...retryableOf(thrown) }
    }
    const { code, name, stack } = thrown as Error & { readonly code?: unknown }
    return {
      code: [code, name].find(isCode) ?? 'ERROR',
      message: cutMessage(withCause(thrown)),
      ...(typeof stack === 'string' ? { stack: stack.slice(0, ERROR_STACK_CHARACTERS_MAX).toWellFormed() } : {}),
      ...retryableOf(thrown),
    }
  } catch {
    return { code: 'THROWN', message: 'The code threw something that cannot be read.' }
  }
}

const isCode = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= ERROR_CODE_CHARACTERS_MAX && isPlainText(value) && value.isWellFormed()

const retryableOf = (thrown: unknown): { readonly retryable?: boolean } => {
  const said = typeof thrown === 'object' && thrown !== null ? (thrown as { readonly retryable?: unknown }).retryable : undefined
  return typeof said === 'boolean' ? { retryable: said } : {}
}

/** `fetch failed` alone helps nobody. */
function withCause({ name, message, cause }: Error): string {
  const said = String(message) || `The code threw a ${name} without a message.`
  return cause === undefined ? said : `${said} (${messageOf(cause)})`
}

/** To the bytes that an event keeps of a message, with a mark where something is missing. */
export function cutMessage(message: string): string {
  const whole = message.toWellFormed()
  if (utf8Bytes(whole) <= ERROR_MESSAGE_BYTES_MAX) return whole
  const mark = '…'
  const bytes = Buffer.from(whole).subarray(0, ERROR_MESSAGE_BYTES_MAX - utf8Bytes(mark))
  // A character that was cut in half is one that is no character.
  return `${bytes.toString('utf8').replace(/\ufffd+$/, '')}${mark}`
}

/** For a report that the API did not take as it is. */
export const refusedReport = (why: string): Outcome => ({
  outcome: 'FAILED',
  error: { code: 'REPORT_REFUSED', message: cutMessage(`The code ended, and what the worker said of it ${why}`), retryable: false },
})
