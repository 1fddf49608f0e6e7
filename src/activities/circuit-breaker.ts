// A circuit breaker with exponential back-off, for requests to one target. While it is open, callers get the last answer and no
// request is made. After that one caller probes, the others wait for its answer, and the first success closes the breaker. The pause has
// no jitter: there is one breaker for each process and target, so no requests are in step.

import { PAUSE_FIRST_MS, PAUSE_LONGEST_MS } from '../core/limits.js'
import type { Clock } from '../core/time.js'

/** `well` closes the breaker, `broken` opens it or keeps it open, `unknown` does neither. */
export type ProbeResult<Answer> = { readonly target: 'well' | 'broken' | 'unknown'; readonly answer: Answer }

export type CircuitBreaker<Answer> = {
  /** Runs the request where the breaker is closed or the caller is the one that probes; else answers with the last answer. */
  readonly run: (request: () => Promise<ProbeResult<Answer>>) => Promise<Answer>
}

type OpenState<Answer> = {
  readonly answer: Answer
  readonly until: number
  readonly pause_ms: number
  /** Settles when the probe has its answer. */
  probe?: Promise<void> | undefined
}

export function createCircuitBreaker<Answer>({ elapsed }: Pick<Clock, 'elapsed'>): CircuitBreaker<Answer> {
  let open: OpenState<Answer> | undefined
  const isPaused = () => open !== undefined && elapsed() < open.until

  /** A failure of long ago, after which no request was made, says little about the target now. */
  const isRecent = (state: OpenState<Answer> | undefined): state is OpenState<Answer> =>
    state !== undefined && elapsed() - state.until <= PAUSE_LONGEST_MS

  async function noted(request: () => Promise<ProbeResult<Answer>>): Promise<Answer> {
    const { target, answer } = await request()
    if (target === 'well') open = undefined
    // Several requests may have been under way when it opened: together they are one reason to wait.
    if (target === 'broken' && !isPaused()) {
      const pause_ms = isRecent(open) ? Math.min(open.pause_ms * 2, PAUSE_LONGEST_MS) : PAUSE_FIRST_MS
      open = { answer, until: elapsed() + pause_ms, pause_ms }
    }
    return answer
  }

  async function probed(state: OpenState<Answer>, request: () => Promise<ProbeResult<Answer>>): Promise<Answer> {
    const answering = noted(request)
    state.probe = answering.then(ignore, ignore)
    try {
      return await answering
    } finally {
      state.probe = undefined
    }
  }

  return {
    async run(request) {
      const state = open
      if (state === undefined) return noted(request)
      if (isPaused()) return state.answer
      if (state.probe === undefined) return probed(state, request)
      await state.probe
      return open !== undefined && isPaused() ? open.answer : noted(request)
    },
  }
}

const ignore = (): void => undefined
