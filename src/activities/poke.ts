// Pokes of the workspace's loop, coalesced: one is under way at most, and whoever comes meanwhile shares the next one. A
// poke that does not arrive is sent again; should it be lost with this process, it costs time until the backstop, and no fact.

import type { Poke } from '../commands/submit.js'
import { messageOf } from '../core/errors.js'
import type { Clock } from '../core/time.js'

/** A loop that is not there is started by ensureLoops, with a turn of its own. */
export type Signalled = 'sent' | 'no-loop'

type PokerDeps = {
  /** Signals the loop. Rejects while Temporal does not take it. */
  readonly signal: () => Promise<Signalled>
  /** Its sleep ends when `closed` is aborted. */
  readonly clock: Clock
  readonly closed: AbortSignal
  readonly log: (message: string) => void
  /** Told of each: for whoever counts them. */
  readonly onPoke?: (outcome: 'sent' | 'failed') => void
}

/** What nobody waits for waits this long for company. */
const SOON_MS = 150
/** A Temporal that did not answer is asked again. */
const AGAIN_FIRST_MS = 500
const AGAIN_LONGEST_MS = 10_000

export function createPoker({ signal, clock, closed, log, onPoke }: PokerDeps): Poke {
  let isUnderWay = false
  let isWanted = false
  /** When the first asked who does not wait, since the last signal went out. */
  let soon_since: number | undefined
  let isWaiting = false
  /** Signals that failed in a row. */
  let failures = 0

  /** false: it has to be tried again. */
  async function send(): Promise<boolean> {
    try {
      const signalled = await signal()
      onPoke?.(signalled === 'sent' ? 'sent' : 'failed')
      return true
    } catch (error) {
      onPoke?.('failed')
      // Once for every time that it goes away: commands are accepted meanwhile.
      if (failures === 0)
        log(`The loop of the workspace could not be poked now, and will be as soon as Temporal answers: ${messageOf(error)}`)
      return false
    }
  }

  async function drain(): Promise<void> {
    if (isUnderWay) return
    isUnderWay = true
    // All who come in the same moment, as the callbacks of one request do, share the first.
    await clock.sleep(0)
    while (isWanted) {
      isWanted = false
      // The turn that this asks for serves them, too.
      soon_since = undefined
      if (await send()) failures = 0
      else {
        // What was accepted meanwhile waits for it, and the loop may have meant to sleep for long.
        isWanted = !closed.aborted
        await clock.sleep(Math.min(AGAIN_FIRST_MS * 2 ** failures, AGAIN_LONGEST_MS))
        failures += 1
      }
    }
    isUnderWay = false
  }

  /** One wait at a time, however often a signal comes between: who asked after it waits for the rest of his time. */
  async function waitForCompany(): Promise<void> {
    if (isWaiting) return
    isWaiting = true
    while (soon_since !== undefined) {
      const rest_ms = soon_since + SOON_MS - clock.elapsed()
      if (rest_ms > 0 && !closed.aborted) await clock.sleep(rest_ms)
      else {
        soon_since = undefined
        isWanted = true
        void drain()
      }
    }
    isWaiting = false
  }

  return (when) => {
    if (when === 'now') {
      isWanted = true
      void drain()
    } else if (soon_since === undefined) {
      soon_since = clock.elapsed()
      void waitForCompany()
    }
  }
}
