// How long a turn is overdue. The newest revision records when it wants the next turn, and the ledger has what no revision has
// folded yet, so that every reader can tell that no automation is alive, which a dead automation cannot report.

import { TURN_OVERDUE_MS, UNFOLDED_GRACE_MS } from '../core/limits.js'
import { instantMs, instantText } from '../core/time.js'
import type { View } from './reader.js'

export type TurnOverdue = {
  /** `wake_up`: the newest revision wanted a turn at `since`. `unfolded`: something was appended at `since`, which no turn has
   *  taken up. */
  readonly reason: 'wake_up' | 'unfolded'
  readonly since: string
  readonly overdue_ms: number
}

type Revision = Pick<View, 'snapshot'>

/** The later of the two where both are overdue. `oldest_unfolded_at`: when the oldest segment was created that this revision
 *  lacks; null: it has all. `now` is the store's time. undefined: nothing is overdue. */
export function turnOverdue(view: Revision, oldest_unfolded_at: number | null, now: number): TurnOverdue | undefined {
  const { wake_at } = view.snapshot.revision.watermarks
  const wake_up_ms = wake_at === null ? 0 : now - instantMs(wake_at)
  const unfolded_ms = oldest_unfolded_at === null ? 0 : now - Math.max(oldest_unfolded_at, publishedAt(view))
  if (oldest_unfolded_at !== null && unfolded_ms >= UNFOLDED_GRACE_MS && unfolded_ms > wake_up_ms) {
    return { reason: 'unfolded', since: instantText(oldest_unfolded_at), overdue_ms: unfolded_ms }
  }
  return wake_at === null || wake_up_ms <= 0 ? undefined : { reason: 'wake_up', since: wake_at, overdue_ms: wake_up_ms }
}

/** undefined: nothing is overdue for so long that one may say that no automation publishes. */
export function findOverdueTurn(view: Revision, oldest_unfolded_at: number | null, now: number): TurnOverdue | undefined {
  const overdue = turnOverdue(view, oldest_unfolded_at, now)
  return overdue === undefined || overdue.overdue_ms < TURN_OVERDUE_MS ? undefined : overdue
}

/** An automation that has much to catch up with publishes all the while, so what waits is not older than the last publish. */
const publishedAt = ({ snapshot }: Revision): number => instantMs(snapshot.revision.published_at)

/** Where a revision is younger, whether something waits for a turn makes no difference to `findOverdueTurn`. */
export const isUnfoldedOverdue = (view: Revision, now: number): boolean => now - publishedAt(view) >= TURN_OVERDUE_MS
