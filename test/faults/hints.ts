// F12: hints that are lost, doubled, overtaken by others, or days late. Nothing that is right may need one.

import { type Clock, DAY_MS } from '../../src/core/time.js'
import type { Random } from '../fixtures/random.js'

export type HintOptions = {
  readonly clock: Clock
  readonly random: Random
  /** Probabilities, for each hint. */
  readonly lost?: number
  readonly doubled?: number
  readonly late?: number
  /** Of those that are not late: enough for one to overtake another. */
  readonly delay_ms_max?: number
  readonly late_ms_max?: number
}

/** Hands hints on to `deliver` as a bad network does. */
export function createHints<Hint>(deliver: (hint: Hint) => void, options: HintOptions): (hint: Hint) => void {
  const { clock, random, lost = 0.1, doubled = 0.1, late = 0.05, delay_ms_max = 500, late_ms_max = 3 * DAY_MS } = options
  return (hint) => {
    if (random.isTrue(lost)) return
    const copies = random.isTrue(doubled) ? 2 : 1
    for (let copy = 0; copy < copies; copy++) {
      const delay_ms = random.below(random.isTrue(late) ? late_ms_max : delay_ms_max)
      void clock.sleep(delay_ms).then(() => deliver(hint))
    }
  }
}
