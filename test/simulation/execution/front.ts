// What stands before all APIs, such as a load balancer: sometimes it lets nobody through for a while, or again and again. APIs
// go on behind it, and what was on its way to one arrives.

import { SECOND_MS } from '../../../src/core/time.js'
import type { Random } from '../../fixtures/random.js'
import { type Actor, exponential } from '../actor.js'
import type { Site } from './site.js'

/** Away for so long, then back for so long. */
type Span = { readonly away_ms: number; readonly back_ms: number }

/** Longer than the silence that an attempt is allowed: whoever lives through one would be given up. */
const AWAY_MS = [13 * SECOND_MS, 35 * SECOND_MS] as const
const FLAP_MS = [SECOND_MS, 9 * SECOND_MS] as const
const FLAPS_MAX = 6

export function drawOutage(random: Random): readonly Span[] {
  if (random.isTrue(0.5)) return [{ away_ms: random.between(...AWAY_MS), back_ms: 0 }]
  return Array.from({ length: 2 + random.below(FLAPS_MAX - 1) }, () => ({
    away_ms: random.between(...FLAP_MS),
    back_ms: random.between(...FLAP_MS),
  }))
}

/** `isOver`: where it is, the rest is left out. */
export async function takeAway({ front, world }: Site, spans: readonly Span[], isOver: () => boolean = () => false): Promise<void> {
  for (const { away_ms, back_ms } of spans) {
    if (isOver()) return
    front.isOpen = false
    await world.time.sleep(away_ms)
    front.isOpen = true
    await world.time.sleep(back_ms)
  }
}

export const createFront = (site: Site, name: string): Actor => ({
  name,
  options: {},
  think_ms: exponential(12 * SECOND_MS),
  begin: (process) => async () => {
    const { weather } = site
    if (weather.happens('api_away')) await takeAway(site, drawOutage(process.random), weather.isCalm)
  },
})
