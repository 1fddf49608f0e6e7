// Pokes of the workspace's loop, coalesced: one is under way at most, and whoever comes meanwhile shares the next one. A
// poke that does not arrive is sent again; should it be lost with this process, it costs time until the backstop, and no fact.

import { type Client, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client'
import type { Poke } from '../commands/submit.js'
import { messageOf } from '../core/errors.js'
import type { Scope } from '../core/ids.js'
import { workflowId } from '../core/names.js'
import type { Clock } from '../core/time.js'
import { pokeSignal } from '../workflows/contract.js'

type PokerDeps = {
  /** undefined: Temporal is not there yet. */
  readonly client: () => Client | undefined
  readonly scope: Scope
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

export function createPoker({ client, scope, clock, closed, log, onPoke }: PokerDeps): Poke {
  const id = workflowId(scope, 'workspace')
  let isUnderWay = false
  let isWanted = false
  /** Somebody asked who does not wait, and no signal went out since. */
  let isSoon = false
  /** Signals that failed in a row. */
  let failures = 0

  /** false: it has to be tried again. */
  async function signal(): Promise<boolean> {
    const connected = client()
    if (connected === undefined) return false
    try {
      await connected.workflow.getHandle(id).signal(pokeSignal)
      onPoke?.('sent')
      return true
    } catch (error) {
      onPoke?.('failed')
      // A loop that is not there is started by ensureLoops, with a turn of its own.
      if (error instanceof WorkflowNotFoundError) return true
      // Once for every time that it goes away: commands are accepted meanwhile.
      if (failures === 0)
        log(`The loop of the workspace could not be poked now, and will be as soon as Temporal answers: ${reasonOf(error)}`)
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
      isSoon = false
      if (await signal()) failures = 0
      else {
        // What was accepted meanwhile waits for it, and the loop may have meant to sleep for long.
        isWanted = !closed.aborted
        await clock.sleep(Math.min(AGAIN_FIRST_MS * 2 ** failures, AGAIN_LONGEST_MS))
        failures += 1
      }
    }
    isUnderWay = false
  }

  return (when) => {
    if (when === 'now') {
      isWanted = true
      void drain()
    } else if (!isSoon) {
      isSoon = true
      void clock.sleep(SOON_MS).then(() => {
        if (!isSoon) return undefined
        isWanted = true
        return drain()
      })
    }
  }
}

const reasonOf = (error: unknown): string => (isGrpcServiceError(error) ? error.details || error.message : messageOf(error))
