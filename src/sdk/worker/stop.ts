// Why an attempt's code is to stop, and the signal that says so to it.

/** cancel: the API asks for it. conflict: the attempt belongs to somebody else, or is over. */
export type StopKind = 'cancel' | 'conflict' | 'timeout' | 'drain'

/** The reason of the signal, so that `signal.throwIfAborted()` throws what people understand. */
class StoppedError extends Error {
  readonly kind: StopKind

  constructor(kind: StopKind, message: string) {
    super(message)
    this.name = 'StoppedError'
    this.kind = kind
  }
}

const REASONS: Readonly<Record<StopKind, string>> = {
  cancel: 'The run was cancelled: the code should stop now.',
  conflict:
    'The attempt is not this one any more, because another execution has it or it is over: nothing that the code does now is recorded.',
  timeout: 'The code has run for longer than its timeout.',
  drain: 'The worker is being shut down: the code should stop now.',
}

export type Stop = {
  readonly signal: AbortSignal
  readonly stop: (kind: StopKind) => void
  /** The first reason; a conflict goes before all others, because after it nothing is said any more. */
  readonly kind: () => StopKind | undefined
}

export function createStop(): Stop {
  const controller = new AbortController()
  let kind: StopKind | undefined
  return {
    signal: controller.signal,
    kind: () => kind,
    stop(why) {
      if (kind === undefined || why === 'conflict') kind = why
      controller.abort(new StoppedError(why, REASONS[why]))
    },
  }
}
