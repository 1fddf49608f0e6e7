// How long ago a turn was due that has not come. The newest revision records when it wants the next turn, so that every reader
// can tell that no automation is alive, which a dead automation cannot report.

import { TURN_OVERDUE_MS } from '../core/limits.js'
import { instantMs } from '../core/time.js'
import type { View } from './reader.js'

export type TurnOverdue = {
  /** When the turn was due. */
  readonly wake_at: string
  readonly overdue_ms: number
}

/** `now` is the store's time. */
export function turnOverdueMs(view: View, now: number): number {
  const { wake_at } = view.snapshot.revision.watermarks
  return wake_at === null ? 0 : Math.max(0, now - instantMs(wake_at))
}

/** undefined: nothing was due, or not for long enough to say that no automation publishes. */
export function findOverdueTurn(view: View, now: number): TurnOverdue | undefined {
  const { wake_at } = view.snapshot.revision.watermarks
  const overdue_ms = turnOverdueMs(view, now)
  return wake_at === null || overdue_ms < TURN_OVERDUE_MS ? undefined : { wake_at, overdue_ms }
}
