// Keeps the memory of a process near the newest revision for as long as it lives, whoever takes the turns. It publishes
// nothing; a revision that it cannot read it leaves to the turn, which says what is wrong.

import { messageOf } from '../core/errors.js'
import { FOLLOW_IDLE_MS_MAX, FOLLOW_MS } from '../core/limits.js'
import type { Clock } from '../core/time.js'
import type { Turn } from './turn.js'

type KeepFollowingDeps = {
  /** Its sleep ends when `closed` is aborted. */
  readonly clock: Pick<Clock, 'sleep'>
  readonly closed: AbortSignal
  readonly turn: Pick<Turn, 'follow'>
  readonly log: (message: string) => void
  /** Called after each look, with the error of one that failed. */
  readonly onFollowed?: (error: unknown) => void
  /** Called when another process has published. */
  readonly onMoved?: () => void
}

/** Resolves when it has ended. */
export async function keepFollowing({ clock, closed, turn, log, onFollowed, onMoved }: KeepFollowingDeps): Promise<void> {
  let wait_ms = FOLLOW_MS
  let isFailing = false

  /** A line when it begins to fail, and one when it works again. Answers whether to look again soon: after a change there may
   *  be another one, and a store that does not answer may be back at any moment. */
  async function follow(): Promise<boolean> {
    try {
      const hasMoved = await turn.follow()
      if (isFailing) log('The rows in memory follow what is published again.')
      isFailing = false
      onFollowed?.(undefined)
      // What this process publishes it stands on already.
      if (hasMoved) onMoved?.()
      return hasMoved
    } catch (error) {
      if (!isFailing && !closed.aborted) {
        log(`The rows in memory could not follow what is published, and will try again in a moment: ${messageOf(error)}`)
      }
      isFailing = true
      onFollowed?.(error)
      return true
    }
  }

  while (!closed.aborted) {
    const isSoon = await follow()
    wait_ms = isSoon ? FOLLOW_MS : Math.min(2 * wait_ms, FOLLOW_IDLE_MS_MAX)
    await clock.sleep(wait_ms)
  }
}
