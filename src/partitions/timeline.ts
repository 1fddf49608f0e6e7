// A definition's windows by the instants that they start at: which instant has which number, and which one holds a moment.
// Numbers count from the first window; instants that are left out have the number of the next one that is not.

import { openTicks, type Ticks } from '../core/cron/ticks.js'
import { PARTITION_END_MS_MAX } from '../core/limits.js'
import { type KeptTicks, openKeptTicks } from './kept-ticks.js'
import { type KeyNames, openKeyNames } from './key-names.js'
import { countBelow, type Window } from './key-order.js'
import type { Exclusion, TimeDefinition } from './time-definition.js'
import { firstInstantOf } from './wall-time.js'

export type Timeline = {
  readonly names: KeyNames
  /** The windows that a definition has start before this instant, and the last of them ends then. */
  readonly end_ms: number
  /** How many windows start from the first one on, before a tick: below zero for ticks before it. */
  readonly rankOf: (tick_ms: number) => number
  readonly tickAt: (index: number) => number | null
  /** The first tick at an instant or after it, none after the end. */
  readonly startingFrom: (at_ms: number) => number
  /** As if the windows went on past the end. */
  readonly startingFromOpen: (at_ms: number) => number
  /** The last tick at an instant or before it. */
  readonly holding: (at_ms: number) => number | null
  readonly windowOf: (tick_ms: number) => Window
  /** Instants from one tick on, before another: more than kept ones where some between them are left out. */
  readonly countAll: (from_ms: number, to_ms: number) => number
}

export function openTimeline(definition: TimeDefinition): Timeline {
  const { cron, timezone, start_ms } = definition
  const ticks = openTicks(cron, timezone)
  const kept = openKeptTicks(ticks, cron, definition.left_out, timezone)
  const names = openKeyNames(definition)
  const end_ms = ticks.previous(Math.min(definition.end_ms ?? PARTITION_END_MS_MAX, PARTITION_END_MS_MAX) + 1) ?? start_ms
  const first_ms = Math.min(ticks.next(start_ms - 1) ?? end_ms, end_ms)
  const removed = removedTicks(definition, { ticks, kept, names })

  const removedBefore = (at_ms: number): number => countBelow(removed, (each) => each < at_ms)
  const removedBeforeFirst = removedBefore(first_ms)
  const keptFromFirst = (tick_ms: number): number => (tick_ms < first_ms ? -kept.count(tick_ms, first_ms) : kept.count(first_ms, tick_ms))
  const removedRanks = removed.slice(removedBeforeFirst).map(keptFromFirst)

  return {
    names,
    end_ms,
    rankOf: (tick_ms) => keptFromFirst(tick_ms) - (removedBefore(tick_ms) - removedBeforeFirst),
    tickAt(index) {
      if (!Number.isInteger(index) || index < 0) return null
      // Each removed one before the one that is sought moves it on by one.
      const tick_ms = kept.nth(first_ms, index + countBelow(removedRanks, (rank, place) => rank - place <= index))
      return tick_ms === null || tick_ms >= end_ms ? null : tick_ms
    },
    startingFrom: (at_ms) => (at_ms >= end_ms ? end_ms : (ticks.next(at_ms - 1) ?? end_ms)),
    startingFromOpen: (at_ms) => ticks.next(at_ms - 1) ?? end_ms,
    holding: (at_ms) => ticks.previous(at_ms + 1),
    countAll: ticks.count,
    windowOf: (tick_ms) => ({ start_ms: tick_ms, end_ms: ticks.next(tick_ms) ?? end_ms }),
  }
}

type Parts = { readonly ticks: Ticks; readonly kept: KeptTicks; readonly names: KeyNames }

/** What is left out one by one, in order. What names no window, such as a holiday that is no working day, removes none. */
function removedTicks({ timezone, removed }: TimeDefinition, { ticks, kept, names }: Parts): readonly number[] {
  const found = removed.flatMap((exclusion) => {
    const tick_ms = ticks.next(firstInstantOf(timezone, exclusion) - 1)
    if (tick_ms === null || tick_ms >= PARTITION_END_MS_MAX || kept.count(tick_ms, tick_ms + 1) === 0) return []
    return isNamed(exclusion, tick_ms, names) ? [tick_ms] : []
  })
  return [...new Set(found)].sort((a, b) => a - b)
}

const isNamed = ({ text, local_ms, offset_ms }: Exclusion, tick_ms: number, names: KeyNames): boolean =>
  names.keyOf(tick_ms) === text || (offset_ms === null ? names.nominalOf(tick_ms) === local_ms : tick_ms === local_ms - offset_ms)
