// What a command's exit code says to a script: 0 done, 1 failed, 2 asked for in a way that it does not know, 3 the
// store did not answer.

import { isOperatingError } from '../core/errors.js'

export type ExitCode = 0 | 1 | 2 | 3

export const DONE = 0
export const FAILED = 1
export const USAGE = 2
export const NOT_REACHABLE = 3

/** Thrown by a command that cannot make sense of what it was given: the sentence says which argument, and what to write. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return USAGE
  return isOperatingError(error, 'unavailable') ? NOT_REACHABLE : FAILED
}
