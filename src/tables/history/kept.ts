// Which revisions are kept for `as_of`: one rule for whoever opens them, collects or verifies. It knows of a revision only
// when it stood, and gives each one an end that never moves: what is let go never comes back.

import { AS_OF_ALL_KEPT_MS, AS_OF_HOURS_KEPT_MS, AS_OF_MINUTES_KEPT_MS } from '../../core/limits.js'
import { ceilTo, floorTo, HOUR_MS, MINUTE_MS } from '../../core/time.js'

/** A revision stands from its publication until that of the next one; null: it is the current one. */
export type Stood = { readonly published_at: number; readonly replaced_at: number | null }

/** Finer first. The last one of a minute (an hour) is the one that stood when it ended, published in it or days before. */
const TIERS = [
  { unit_ms: MINUTE_MS, kept_ms: AS_OF_MINUTES_KEPT_MS },
  { unit_ms: HOUR_MS, kept_ms: AS_OF_HOURS_KEPT_MS },
] as const

type Tier = (typeof TIERS)[number]

/** What stood at the end of a minute answers for the whole next one: it is kept until all of that is out of reach. */
const tierEnd = ({ unit_ms, kept_ms }: Tier, ended_at: number): number => ended_at + unit_ms + kept_ms

/** The last instant at which this revision is kept. */
export function keptUntil({ published_at, replaced_at }: Stood): number {
  if (replaced_at === null) return Number.POSITIVE_INFINITY
  let until = replaced_at + AS_OF_ALL_KEPT_MS
  for (const tier of TIERS) {
    const ended_at = floorTo(replaced_at, tier.unit_ms)
    if (published_at < ended_at) until = Math.max(until, tierEnd(tier, ended_at))
  }
  return until
}

/** Of the revisions that come before one published at this instant, the newest kept one is the newest that was published
 *  before the instant that this answers; undefined: none of them is kept. So the chain is walked without looking at each. */
export function keptBefore(replaced_at: number, now: number): number | undefined {
  if (now <= replaced_at + AS_OF_ALL_KEPT_MS) return replaced_at + 1
  for (const tier of TIERS) {
    const ended_at = floorTo(replaced_at, tier.unit_ms)
    if (now <= tierEnd(tier, ended_at)) return ended_at
  }
  return undefined
}

/** For one that is not kept: the next kept one is the oldest that is kept of those newest before these instants. */
export const keptAfter = (published_at: number, now: number): readonly number[] =>
  TIERS.map(({ unit_ms, kept_ms }) => Math.max(floorTo(published_at, unit_ms) + unit_ms, ceilTo(now - kept_ms - unit_ms, unit_ms)))

export const KEPT_SENTENCE =
  'Every revision of the last hour can be opened, for a day the last one of each minute, for 30 days the last one of each hour.'
