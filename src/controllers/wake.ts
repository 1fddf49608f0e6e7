// When the next turn is due without any event.

import { EVERY_NOUN } from './nouns/every.js'
import type { WakeState } from './nouns/noun.js'

/** The earliest deadline, retry or fire; null: nothing is due. */
export function wakeAt(state: WakeState): number | null {
  const earliest = Math.min(...EVERY_NOUN.map(([, { wakeAt: at }]) => at?.(state) ?? Number.POSITIVE_INFINITY))
  return Number.isFinite(earliest) ? earliest : null
}
