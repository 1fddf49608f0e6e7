// Which partitions there are and which exist at an instant (docs/partitions.md), written a second time and by brute force: every
// window is listed, and every combination of several dimensions. Nothing of src is used here.

import { type CronMeaning, instantsByRule, stretchBorders } from './cron-rule.js'
import { type Stretch, stretchesOf } from './zone-clock.js'

const DAY_MS = 86_400_000

export type TimeMeaning = {
  readonly zone: string
  readonly starts: CronMeaning
  readonly start_ms: number
  /** null: it goes on with time. */
  readonly end_ms: number | null
  readonly end_offset: number
  /** Whether the window that starts at an instant is left out. */
  readonly isLeftOut: (start_ms: number) => boolean
}

/** Windows by the instants that they start at. */
export type TimeRule = {
  /** Those that exist at an instant, and `ahead` more. */
  readonly startsAt: (now_ms: number, ahead: number) => readonly number[]
  /** Those that exist at some time; null where these have no end. */
  readonly ever: readonly number[] | null
}

/** What is asked has to be in these days, and the definition's bounds too. */
export type Horizon = { readonly from_ms: number; readonly to_ms: number }

/** A month begins before the horizon, and offsets lead some months past it. */
const BEFORE_MS = 70 * DAY_MS
const AFTER_MS = 250 * DAY_MS

const known = new Map<string, readonly Stretch[]>()

/** Asking for the clocks of a zone takes longer than all else here. */
function clocksOf(zone: string, from_ms: number, to_ms: number): readonly Stretch[] {
  const name = `${zone} ${from_ms} ${to_ms}`
  const stretches = known.get(name) ?? stretchesOf(zone, ...stretchBorders(from_ms, to_ms))
  known.set(name, stretches)
  return stretches
}

export function timeRuleOf({ zone, starts, start_ms, end_ms, end_offset, isLeftOut }: TimeMeaning, horizon: Horizon): TimeRule {
  const [from_ms, to_ms] = [horizon.from_ms - BEFORE_MS, horizon.to_ms + AFTER_MS]
  const instants = instantsByRule([starts], clocksOf(zone, from_ms, to_ms), from_ms, to_ms)
  const windows = instants.slice(0, -1).map((start, place) => ({ start, end: instants[place + 1] as number }))
  const kept = windows.filter(({ start }) => !isLeftOut(start))
  const own = kept.filter(({ start, end }) => start >= start_ms && (end_ms === null || end <= end_ms))
  // A definition that has an end, and holds the last ones back, never has them.
  const ever = end_ms === null ? own : own.slice(0, Math.max(0, own.length + Math.min(0, end_offset)))
  return {
    ever: end_ms === null ? null : ever.map(({ start }) => start),
    startsAt(now_ms, ahead) {
      const by_ms = end_ms === null ? now_ms : Math.min(now_ms, lastStart(instants, end_ms))
      // Windows before the first one are owed to an offset first.
      const before = kept.filter(({ start, end }) => start < start_ms && end > by_ms).length
      const over = own.filter(({ end }) => end <= by_ms).length
      return ever.slice(0, Math.max(0, over - before + end_offset + ahead)).map(({ start }) => start)
    },
  }
}

/** The last window of a definition ends there: what is cut off by the end is none. */
const lastStart = (instants: readonly number[], end_ms: number): number => instants.findLast((start) => start <= end_ms) ?? end_ms

/** The keys of one dimension, in their order, by what rows are sorted by. */
export type SideRule = {
  /** null: the only one. */
  readonly name: string | null
  readonly is_time: boolean
  readonly is_endless: boolean
  readonly keysAt: (now_ms: number, ahead: number) => readonly string[]
}

/** Each combination, the first dimension slowest. */
export function combinations(sides: readonly SideRule[], now_ms: number, ahead: number): readonly string[] {
  let made: readonly string[] = ['']
  for (const { name, keysAt } of sides) {
    const keys = keysAt(now_ms, ahead)
    made = made.flatMap((before) => keys.map((key) => `${before}${before === '' ? '' : '|'}${name === null ? '' : `${name}=`}${key}`))
  }
  return made
}
