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
}

/** Resolves when it has ended. */
export async function keepFollowing({ clock, closed, turn, log }: KeepFollowingDeps): Promise<void> {
  let wait_ms = FOLLOW_MS
  let isFailing = false

  /** A line when it begins to fail, and one when it works again. */
  async function follow(): Promise<boolean> {
    try {
      const hasMoved = await turn.follow()
      if (isFailing) log('The rows in memory follow what is published again.')
      isFailing = false
      return hasMoved
    } catch (error) {
      if (!isFailing && !closed.aborted) {
        log(`The rows in memory could not follow what is published, and will try again within a minute: ${messageOf(error)}`)
      }
      isFailing = true
      return false
    }
  }

  while (!closed.aborted) {
    const hasMoved = await follow()
    wait_ms = hasMoved ? FOLLOW_MS : Math.min(2 * wait_ms, FOLLOW_IDLE_MS_MAX)
    await clock.sleep(wait_ms)
  }
}
