// The machine's own time and randomness, for processes that run for real. Tests bring their own.

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { withAnySignal } from '../activities/aborts.js'
import type { Clock } from '../core/time.js'
import type { RandomBytes } from '../core/ulid.js'

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (duration_ms, until) => sleep(duration_ms, undefined, until === undefined ? {} : { signal: until }).catch(() => undefined),
}

/** The same clock, whose sleep ends with the signal: what goes on until then holds up no process that ends. */
export const clockUntil = (clock: Clock, signal: AbortSignal): Clock => ({
  ...clock,
  sleep: (duration_ms, until) =>
    until === undefined ? clock.sleep(duration_ms, signal) : withAnySignal([signal, until], (any) => clock.sleep(duration_ms, any)),
})

/** Drawn from the system a few thousand bytes at a time: ids are made for every event and batch. */
export function systemRandom(): RandomBytes {
  let pool = new Uint8Array(0)
  let used = 0
  return (count) => {
    if (used + count > pool.length) {
      pool = randomBytes(4_096)
      used = 0
    }
    used += count
    return pool.subarray(used - count, used)
  }
}
