// Which revisions are kept for `as_of`: one rule for whoever opens them, collects or verifies. It knows of a revision only
// when it stood, and of the workspace its settings, as the newest revision records them: what is let go never comes back.

import { AS_OF_ALL_KEPT_MS } from '../../core/limits.js'
import { ceilTo, DAY_MS, floorTo, HOUR_MS, MINUTE_MS } from '../../core/time.js'
import type { RetentionPolicy } from '../../projections/retention.js'

/** A revision stands from its publication until that of the next one; null: it is the current one. */
export type Stood = { readonly published_at: number; readonly replaced_at: number | null }

type Tier = {
  readonly setting: 'as_of_minutes_hours' | 'as_of_hours_days'
  readonly unit_ms: number
  readonly kept_ms: number
  /** What stood at the end of an older unit was let go before the tier was made longer. */
  readonly gone_before: number
}

/** Finer first. The last one of a minute (an hour) is the one that stood when it ended, published in it or days before. */
function tiersOf({ as_of_minutes_hours, as_of_hours_days, gone_before = {} }: RetentionPolicy): readonly Tier[] {
  const tier = (setting: Tier['setting'], unit_ms: number, kept_ms: number): Tier => ({
    setting,
    unit_ms,
    kept_ms,
    gone_before: gone_before[setting] ?? Number.NEGATIVE_INFINITY,
  })
  return [
    tier('as_of_minutes_hours', MINUTE_MS, as_of_minutes_hours * HOUR_MS),
    tier('as_of_hours_days', HOUR_MS, as_of_hours_days * DAY_MS),
  ]
}

/** What stood at the end of a minute answers for the whole next one: it is kept until all of that is out of reach. */
const tierEnd = ({ unit_ms, kept_ms }: Tier, ended_at: number): number => ended_at + unit_ms + kept_ms

/** The earliest end of a unit that the tier still answers for. */
const tierBegin = ({ unit_ms, kept_ms, gone_before }: Tier, now: number): number => Math.max(now - kept_ms - unit_ms, gone_before)

/** The last instant at which this revision is kept. */
export function keptUntil({ published_at, replaced_at }: Stood, retention: RetentionPolicy): number {
  if (replaced_at === null) return Number.POSITIVE_INFINITY
  let until = replaced_at + AS_OF_ALL_KEPT_MS
  for (const tier of tiersOf(retention)) {
    const ended_at = floorTo(replaced_at, tier.unit_ms)
    if (published_at < ended_at && ended_at >= tier.gone_before) until = Math.max(until, tierEnd(tier, ended_at))
  }
  return until
}

/** Of the revisions that come before one published at this instant, the newest kept one is the newest that was published
 *  before the instant that this answers; undefined: none of them is kept. So the chain is walked without looking at each. */
export function keptBefore(replaced_at: number, now: number, retention: RetentionPolicy): number | undefined {
  if (now <= replaced_at + AS_OF_ALL_KEPT_MS) return replaced_at + 1
  for (const tier of tiersOf(retention)) {
    const ended_at = floorTo(replaced_at, tier.unit_ms)
    if (ended_at >= tierBegin(tier, now)) return ended_at
  }
  return undefined
}

/** For one that is not kept: the next kept one is the oldest that is kept of those newest before these instants. */
export const keptAfter = (published_at: number, now: number, retention: RetentionPolicy): readonly number[] =>
  tiersOf(retention).map((tier) => Math.max(floorTo(published_at, tier.unit_ms) + tier.unit_ms, ceilTo(tierBegin(tier, now), tier.unit_ms)))

/** The settings as a revision records them that is published at this instant: of a tier that is kept longer than before, with
 *  where it begins, so that nobody counts on what the shorter one had let go. */
export function lettingGo(before: RetentionPolicy | undefined, after: RetentionPolicy, published_at: number): RetentionPolicy {
  if (before === undefined) return after
  const longer = tiersOf(after)
  const gone = tiersOf(before).flatMap((tier, i) => {
    const isRaised = (longer[i] as Tier).kept_ms > tier.kept_ms
    const at = isRaised ? tierBegin(tier, published_at) : tier.gone_before
    return Number.isFinite(at) ? [[tier.setting, at] as const] : []
  })
  return gone.length === 0 ? after : { ...after, gone_before: { ...after.gone_before, ...Object.fromEntries(gone) } }
}

/** In words. */
export function keptSentence({ as_of_minutes_hours, as_of_hours_days }: RetentionPolicy): string {
  const minutes = as_of_minutes_hours === 24 ? 'a day' : countText(as_of_minutes_hours, 'hour')
  const hours = countText(as_of_hours_days, 'day')
  return `Every revision of the last hour can be opened, for ${minutes} the last one of each minute, for ${hours} the last one of each hour.`
}

const countText = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`
