// What a process knows of a remote store's clock, which it never reads: lower and upper bounds from what answers say, as NTP
// clients keep them. It gives the lower bound: an instant that the store's clock had passed already (I13, ADR 0080).

import {
  STORE_CLOCK_AGE_MS_MAX,
  STORE_CLOCK_DRIFT_MAX,
  STORE_CLOCK_SLOT_MS,
  STORE_CLOCKS_APART_MS,
  STORE_WINDOWS_APART_MS,
} from '../core/limits.js'

/** At some moment between the sending of a request and the arrival of its answer, the store's clock stood in a window of
 *  time. The first two are of this process's own clock, which only moves forward; the window is of the store's. */
export type ClockWindow = {
  readonly sent_at: number
  readonly received_at: number
  readonly from: number
  /** Not included. */
  readonly until: number
}

export type StoreClock = {
  readonly note: (window: ClockWindow) => void
  /** The store's clock stands at this or later when this process's own stands at `elapsed`, which is now; undefined: nothing
   *  was noted. */
  readonly atLeast: (elapsed: number) => number | undefined
  /** The same, in whole milliseconds, and never earlier than it was said to be before. */
  readonly now: (elapsed: number) => number | undefined
  /** Between the lower and the upper bound; undefined: nothing was noted. */
  readonly widthAt: (elapsed: number) => number | undefined
}

/** The best bounds of some time. A bound is a straight line over this process's own clock: `lower` has the slope of the
 *  slowest clock that it may be, `upper` that of the fastest, and each number here is where its line crosses zero. */
type Slot = { readonly began_at: number; readonly lower: number; readonly upper: number }

const SLOWEST = 1 - STORE_CLOCK_DRIFT_MAX
const FASTEST = 1 + STORE_CLOCK_DRIFT_MAX

const slotOf = ({ sent_at, received_at, from, until }: ClockWindow): Slot => ({
  began_at: received_at,
  lower: from - SLOWEST * received_at,
  upper: until - FASTEST * sent_at,
})

const both = (one: Slot, other: Slot): Slot => ({
  began_at: one.began_at,
  lower: Math.max(one.lower, other.lower),
  upper: Math.min(one.upper, other.upper),
})

export function createStoreClock(): StoreClock {
  /** The oldest first, each of STORE_CLOCK_SLOT_MS. */
  let slots: readonly Slot[] = []
  let given: number | undefined

  const best = (): Slot | undefined =>
    slots.reduce<Slot | undefined>((found, slot) => (found === undefined ? slot : both(found, slot)), undefined)
  const lowerAt = (elapsed: number, { lower }: Slot): number => lower + SLOWEST * elapsed
  const upperAt = (elapsed: number, { upper }: Slot): number => upper + FASTEST * elapsed

  function atLeast(elapsed: number): number | undefined {
    const known = best()
    return known === undefined ? undefined : lowerAt(elapsed, known)
  }

  function remember(slot: Slot): void {
    const newest = slots.at(-1)
    const kept = slots.filter(({ began_at }) => slot.began_at - began_at <= STORE_CLOCK_AGE_MS_MAX)
    if (newest === undefined || slot.began_at - newest.began_at >= STORE_CLOCK_SLOT_MS) slots = [...kept, slot]
    else slots = [...kept.slice(0, -1), both(newest, slot)]
  }

  return {
    atLeast,
    note(window) {
      const slot = slotOf(window)
      remember(slot)
      const known = best() ?? slot
      const { received_at } = window
      // One of the clocks was set, or this process was suspended: nobody can say which window is wrong, and the newest one is
      // the last to be.
      if (lowerAt(received_at, known) - upperAt(received_at, known) > STORE_WINDOWS_APART_MS) slots = [slot]
    },
    now(elapsed) {
      const bound = atLeast(elapsed)
      if (bound === undefined) return undefined
      const at_ms = Math.floor(bound)
      // What was said too early by so much was wrong: to hold to it would stop the time of this process for as long.
      const isWrong = given !== undefined && given - at_ms > STORE_CLOCKS_APART_MS
      given = given === undefined || isWrong ? at_ms : Math.max(given, at_ms)
      return given
    },
    widthAt(elapsed) {
      const known = best()
      return known === undefined ? undefined : upperAt(elapsed, known) - lowerAt(elapsed, known)
    },
  }
}
