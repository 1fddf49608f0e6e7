// Waiting that can be ended early, which the clock's own sleep cannot.

/** The longest that a timer of Node waits; it takes a longer one for none at all. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Resolves when the time has passed or the signal is aborted; the caller looks which it was. */
export async function pause(duration_ms: number, signal: AbortSignal): Promise<void> {
  for (let left = duration_ms; left > 0 && !signal.aborted; left -= TIMER_MS_MAX) await pauseOnce(Math.min(left, TIMER_MS_MAX), signal)
}

const pauseOnce = (duration_ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, duration_ms)
    signal.addEventListener('abort', end)
  })
