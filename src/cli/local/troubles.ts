// How a command that goes on says that the store does not answer: a line when it begins, one now and then while it lasts,
// one when it is over. Between two tries it waits longer and longer.

import { isOperatingError, messageOf } from '../../core/errors.js'
import type { Clock } from '../../core/time.js'
import { MINUTE_MS, SECOND_MS } from '../../core/time.js'

const FIRST_WAIT_MS = SECOND_MS
const LONGEST_WAIT_MS = 30 * SECOND_MS
const SAID_AGAIN_AFTER_MS = 10 * MINUTE_MS

export type Troubles = {
  /** Milliseconds to wait before the next try. Throws on what waiting does not mend. */
  readonly wait: (error: unknown, what: string) => number
  readonly over: (what: string) => void
}

export function createTroubles({ elapsed }: Pick<Clock, 'elapsed'>, note: (text: string) => void): Troubles {
  const lasting = new Map<string, { said_at: number; wait_ms: number }>()
  return {
    wait(error, what) {
      if (!isOperatingError(error, 'unavailable')) throw error
      const before = lasting.get(what)
      const isSaid = before !== undefined && elapsed() - before.said_at < SAID_AGAIN_AFTER_MS
      if (!isSaid) note(`servo: ${what} has to wait and is tried again and again: ${messageOf(error)}`)
      const wait_ms = Math.min(LONGEST_WAIT_MS, (before?.wait_ms ?? FIRST_WAIT_MS / 2) * 2)
      lasting.set(what, { said_at: isSaid ? before.said_at : elapsed(), wait_ms })
      return wait_ms
    },
    over(what) {
      if (lasting.delete(what)) note(`servo: ${what} goes on.`)
    },
  }
}
