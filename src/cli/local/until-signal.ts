// How a command that goes on until it is interrupted ends well: what it is doing is finished, and its files are removed.

import { clockUntil } from '../../bin/clock.js'
import type { Clock } from '../../core/time.js'

type UntilSignal = {
  readonly isStopped: () => boolean
  /** Resolves with the signal. */
  readonly stopped: Promise<void>
  /** The same clock, whose sleep ends with the signal. */
  readonly clock: (clock: Clock) => Clock
}

/** Of a person, of whoever runs services, and of a terminal that is closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Calls it once; a second signal ends the process at once, as it would without this. The answer takes it back. */
export function onSignal(call: () => void): () => void {
  const forget = () => {
    for (const name of SIGNALS) process.removeListener(name, stop)
  }
  const stop = () => {
    forget()
    call()
  }
  for (const name of SIGNALS) process.on(name, stop)
  return forget
}

export function untilSignal(): UntilSignal {
  const controller = new AbortController()
  const { signal } = controller
  onSignal(() => controller.abort())
  return {
    isStopped: () => signal.aborted,
    stopped: new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve())
    }),
    clock: (clock) => clockUntil(clock, signal),
  }
}
