// Processes that are kept running: one that ends by itself is started again, after a moment that grows while it keeps
// ending.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, lastWords, type Program, startChild } from './child.js'
import type { Records } from './records.js'

export type Kept = {
  readonly name: string
  /** How often it has ended by itself. */
  readonly endings: () => number
  /** SIGTERM, and what is left after the grace SIGKILL. Resolves when it has ended; it is not started again. */
  readonly stop: () => Promise<void>
}

export type Keeping = { readonly say: (line: string) => void; readonly records: Records; readonly stop_grace_ms?: number }

const AGAIN_FIRST_MS = 250
const AGAIN_LONGEST_MS = 10_000
/** One that ran for this long was well: the next wait is short again. */
const WELL_AFTER_MS = 20_000
/** Longer than any of them takes to end what is under way. */
export const STOP_GRACE_MS = 40_000

/** An exponential back-off. */
export function createBackOff(): { readonly next: (ran_ms: number) => number; readonly reset: () => void } {
  let wait_ms = AGAIN_FIRST_MS
  return {
    next(ran_ms) {
      wait_ms = ran_ms >= WELL_AFTER_MS ? AGAIN_FIRST_MS : Math.min(wait_ms * 2, AGAIN_LONGEST_MS)
      return wait_ms
    },
    reset() {
      wait_ms = AGAIN_FIRST_MS
    },
  }
}

export function keepRunning(program: Program, { say, records, stop_grace_ms = STOP_GRACE_MS }: Keeping): Kept {
  const { name } = program
  const stopping = new AbortController()
  let child: Child | undefined
  let endings = 0
  const over = run()

  async function run(): Promise<void> {
    const backOff = createBackOff()
    let said = ''
    while (!stopping.signal.aborted) {
      const started = performance.now()
      child = startChild(program, { records })
      const how = await child.ended
      records.remove(name)
      if (stopping.signal.aborted) return
      endings += 1
      const words = `${name} ended (${how}) and is started again. ${lastWords(child, program.log_file)}`
      // What ends for the same reason again and again is told once.
      if (words !== said) say(words)
      said = words
      await sleep(backOff.next(performance.now() - started), undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  return {
    name,
    endings: () => endings,
    async stop() {
      stopping.abort()
      child?.end(stop_grace_ms)
      await over
    },
  }
}
