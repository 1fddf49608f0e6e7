// Pokes of the workspace's loop, coalesced: one is under way at most, and whoever comes meanwhile shares the next one. A
// poke that does not arrive costs time until the backstop, and no fact.

import { isGrpcServiceError, type Client, WorkflowNotFoundError } from '@temporalio/client'
import { messageOf } from '../core/errors.js'
import type { Scope } from '../core/ids.js'
import { workflowId } from '../core/names.js'
import type { Clock } from '../core/time.js'
import type { Poke } from '../commands/submit.js'
import { pokeSignal } from '../workflows/contract.js'

export type PokerDeps = {
  /** undefined: Temporal is not there yet. */
  readonly client: () => Client | undefined
  readonly scope: Scope
  readonly clock: Clock
  readonly log: (message: string) => void
  /** Told of each: for whoever counts them. */
  readonly onPoke?: (outcome: 'sent' | 'failed') => void
}

/** What nobody waits for waits this long for company. */
const SOON_MS = 150

export function createPoker({ client, scope, clock, log, onPoke }: PokerDeps): Poke {
  const id = workflowId(scope, 'workspace')
  let isUnderWay = false
  let isWanted = false
  /** Somebody asked who does not wait, and no signal went out since. */
  let isSoon = false
  let isDown = false

  async function signal(): Promise<void> {
    try {
      await client()?.workflow.getHandle(id).signal(pokeSignal)
      isDown = false
      onPoke?.('sent')
    } catch (error) {
      // A loop that is not there is started by ensureLoops, with a turn of its own.
      onPoke?.('failed')
      if (error instanceof WorkflowNotFoundError) return
      // Once for every time that it goes away: commands are accepted meanwhile.
      if (!isDown) log(`The loop of the workspace could not be poked, and looks by itself later: ${reasonOf(error)}`)
      isDown = true
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
      await signal()
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
