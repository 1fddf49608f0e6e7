// Keeps the memory of a process near the newest revision for as long as it lives, whoever takes the turns. It publishes
// nothing; a revision that it cannot read it leaves to the turn, which says what is wrong.

import { FOLLOW_IDLE_MS_MAX, FOLLOW_MS } from '../core/limits.js'
import type { Clock } from '../core/time.js'
import type { Turn } from './turn.js'

type KeepFollowingDeps = {
  /** Its sleep ends when `closed` is aborted. */
  readonly clock: Pick<Clock, 'sleep'>
  readonly closed: AbortSignal
  readonly turn: Pick<Turn, 'follow'>
}

/** Resolves when it has ended. */
export async function keepFollowing({ clock, closed, turn }: KeepFollowingDeps): Promise<void> {
  let wait_ms = FOLLOW_MS
  while (!closed.aborted) {
    const hasMoved = await turn.follow().catch(() => false)
    wait_ms = hasMoved ? FOLLOW_MS : Math.min(2 * wait_ms, FOLLOW_IDLE_MS_MAX)
    await clock.sleep(wait_ms)
  }
}
