// What a command's exit code says to a script: 0 done, 1 failed, 2 asked for in a way that it does not know, 3 the
// store or the API cannot answer or accept now, 4 accepted and not carried out yet.

import { isOperatingError } from '../core/errors.js'
import { ApiError, isNotTakenUp } from './client.js'

export type ExitCode = 0 | 1 | 2 | 3 | 4

export const DONE = 0
export const FAILED = 1
export const USAGE = 2
const NOT_REACHABLE = 3
const NOT_YET = 4

/** Thrown by a command that cannot make sense of what it was given: the sentence says which argument, and what to write. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** What was asked for was understood, and did not come about: the sentence says why. */
export class FailedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'FailedError'
  }
}

/** What was asked for is accepted, and its command waited for it in vain: it did not fail, and is carried out later. */
export class NotYetError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'NotYetError'
  }
}

/** What the API cannot take as it was asked is asked for otherwise; what it cannot do now is asked for again. */
const STATUS_CODES: Readonly<Record<number, ExitCode>> = { 400: USAGE, 503: NOT_REACHABLE }

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return USAGE
  if (error instanceof NotYetError || isNotTakenUp(error)) return NOT_YET
  if (error instanceof ApiError) return STATUS_CODES[error.problem.status] ?? FAILED
  return isOperatingError(error, 'unavailable') ? NOT_REACHABLE : FAILED
}
