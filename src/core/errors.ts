// The four operating errors. Each names what its caller can do; a fifth kind needs a caller that acts differently.
// A refusal is a value, never an error; a bug is a failed assert.

export type OperatingErrorKind = 'conflict' | 'unavailable' | 'missing' | 'corrupt'

class OperatingError extends Error {
  readonly kind: OperatingErrorKind

  constructor(kind: OperatingErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'OperatingError'
    this.kind = kind
  }
}

/** Somebody else won: read what is there now, and decide again. */
export const conflict = (message: string, cause?: unknown) => new OperatingError('conflict', message, { cause })

/** No answer, or a busy one: the outcome is unknown, look before you try again. */
export const unavailable = (message: string, cause?: unknown) => new OperatingError('unavailable', message, { cause })

/** It is not there, and waiting does not bring it. */
export const missing = (message: string, cause?: unknown) => new OperatingError('missing', message, { cause })

/** The bytes are not what was written: stop, and run `servo ledger verify`. */
export const corrupt = (message: string, cause?: unknown) => new OperatingError('corrupt', message, { cause })

export const isOperatingError = (error: unknown, kind?: OperatingErrorKind): error is OperatingError =>
  error instanceof OperatingError && (kind === undefined || error.kind === kind)

export class BugError extends Error {
  constructor(message: string) {
    super(`${message} This is a bug in Servo.`)
    this.name = 'BugError'
  }
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new BugError(message)
}

/** For the end of a switch over a union: the compiler proves that nothing arrives here. */
export function assertNever(value: never, what: string): never {
  throw new BugError(`${what} ${JSON.stringify(value)} has no case.`)
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
