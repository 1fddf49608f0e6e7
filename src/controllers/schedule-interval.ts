// Which instants of an interval may run, and which are only counted. By count and by number: a year of seconds that were
// missed takes as long as one.

import type { Ticks } from '../core/cron/schedule-ticks.js'
import { COUNT_MAX } from '../core/limits.js'
import { MINUTE_MS } from '../core/time.js'

export type Counted = { readonly count: number; readonly first: number; readonly last: number }

export type Interval = {
  /** Of the last instant: who decides a moment later says the same. */
  readonly to: number
  /** The newest ones inside the window, in order. */
  readonly newest: readonly number[]
  /** All that are older; undefined: there are none. */
  readonly older: Counted | undefined
}

type CatchUp = { readonly catchup_window_minutes: number; readonly max_catchup_ticks: number }

/** Of the instants after `from` up to now; undefined: there are none. */
export function intervalOf(
  ticks: Ticks,
  from: number,
  now: number,
  { catchup_window_minutes, max_catchup_ticks }: CatchUp,
): Interval | undefined {
  const total = ticks.count(from + 1, now + 1)
  if (total === 0) return undefined
  // More than a row counts: the rest is another decision.
  if (total > COUNT_MAX) return intervalOf(ticks, from, at(ticks, from, COUNT_MAX - 1), { catchup_window_minutes, max_catchup_ticks: 0 })
  const inWindow = ticks.count(Math.max(from + 1, now - catchup_window_minutes * MINUTE_MS), now + 1)
  const running = Math.min(inWindow, max_catchup_ticks)
  return {
    to: at(ticks, from, total - 1),
    newest: Array.from({ length: running }, (_, index) => at(ticks, from, total - running + index)),
    older: running === total ? undefined : countedOf(ticks, from, total - running),
  }
}

/** All instants after `from` up to `to`, none of which runs; undefined: there are none. */
export function countedIn(ticks: Ticks, from: number, to: number): Counted | undefined {
  const total = Math.min(COUNT_MAX, ticks.count(from + 1, to + 1))
  return total === 0 ? undefined : countedOf(ticks, from, total)
}

const countedOf = (ticks: Ticks, from: number, count: number): Counted => ({
  count,
  first: at(ticks, from, 0),
  last: at(ticks, from, count - 1),
})

const at = (ticks: Ticks, from: number, number: number): number => ticks.nth(from + 1, number) as number

/** Both at once; either may be nothing. */
export function addCounted(one: Counted | undefined, other: Counted | undefined): Counted | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return { count: one.count + other.count, first: Math.min(one.first, other.first), last: Math.max(one.last, other.last) }
}
