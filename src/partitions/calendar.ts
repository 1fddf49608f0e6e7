// Windows of time as partitions, counted by arithmetic on the instants of a cron expression: a window starts at one of them
// and lasts until the next one. Instants that the definition leaves out have a window too, which is nobody's. Nothing here
// walks from the start.

import { PARTITION_END_MS_MAX } from '../core/limits.js'
import { instantText } from '../core/time.js'
import type { KeyOrder, NotFound, Window } from './key-order.js'
import type { TimeDefinition } from './time-definition.js'
import { openTimeline, type Timeline } from './timeline.js'
import { firstInstantOf } from './wall-time.js'

export const isCalendar = (order: KeyOrder): order is Calendar => 'is_calendar' in order

export type Calendar = KeyOrder & {
  readonly is_calendar: true
  /** How many keys exist at an instant: those whose windows are over, shifted by end_offset, none past the end. */
  readonly countAt: (now_ms: number) => number
  /** The same without a floor of zero: by how many windows an instant is before the first key. */
  readonly rankAt: (now_ms: number) => number
  /** The index of the window that holds an instant, now or in future; null before the start, past the end, or left out. */
  readonly indexAt: (at_ms: number) => number | null
  /** The numbers of the windows that share an instant with this one, from the first on, below the end: also those that would
   *  be there before the start and past the end of the definition. */
  readonly overlapping: (window: Window) => { readonly first: number; readonly end: number }
  /** Whether nothing is left out between the first and the last of these. */
  readonly isGapless: (first: number, count: number) => boolean
}

const WORDS: { readonly [Type in TimeDefinition['type']]: readonly [one: string, many: string] } = {
  hourly: ['hour', 'hours'],
  daily: ['day', 'days'],
  weekly: ['week', 'weeks'],
  monthly: ['month', 'months'],
  cron: ['window', 'windows'],
}

/** Within so many it is quicker to ask for the last key than to count all. */
const END_OFFSET_NEAR = 1_000

export function openCalendar(definition: TimeDefinition): Calendar {
  const { end_offset } = definition
  const line = openTimeline(definition)
  const is_endless = definition.end_ms === null || definition.end_ms > PARTITION_END_MS_MAX
  // An end_offset below zero holds back the last ones of a definition that has an end for good: they never exist.
  const held_back = is_endless ? 0 : Math.min(0, end_offset)
  let known: number | undefined
  const size = (): number => (known ??= Math.max(0, line.rankOf(line.end_ms) + held_back))
  const total = is_endless ? null : size()
  const whole = orderOf(definition, line, { total, size, is_endless, is_ever: total !== 0 })

  function rankAt(now_ms: number, ahead = 0): number {
    const held_ms = line.holding(Math.min(now_ms, line.end_ms))
    if (held_ms === null) return 0
    const shift = end_offset + ahead
    const rank = line.rankOf(held_ms) + shift
    if (total !== null) return Math.min(rank, total)
    if (shift <= 0 || rank <= 0 || (shift <= END_OFFSET_NEAR && line.tickAt(rank - 1) !== null)) return rank
    return Math.min(rank, size())
  }

  return {
    ...whole,
    is_calendar: true,
    rankAt: (now_ms) => rankAt(now_ms),
    countAt: (now_ms) => Math.max(0, rankAt(now_ms)),
    at: (now_ms, ahead) => {
      const count = Math.max(0, rankAt(now_ms, ahead))
      return orderOf(definition, line, { total: count, size: () => count, is_endless, is_ever: total !== 0 })
    },
    indexAt(at_ms) {
      const held_ms = line.holding(at_ms)
      if (held_ms === null) return null
      const index = line.rankOf(held_ms)
      return line.tickAt(index) === held_ms && (total === null || index < total) ? index : null
    },
    isGapless(first, count) {
      const [from_ms, to_ms] = [line.tickAt(first), line.tickAt(first + count - 1)]
      return from_ms !== null && to_ms !== null && line.countAll(from_ms, to_ms) === count - 1
    },
    overlapping({ start_ms, end_ms }) {
      const held_ms = line.holding(start_ms)
      return { first: held_ms === null ? 0 : line.rankOf(held_ms), end: line.rankOf(line.startingFromOpen(end_ms)) }
    },
  }
}

type Extent = Pick<KeyOrder, 'total' | 'size' | 'is_endless'> & {
  /** Whether the definition has any key at some time. */
  readonly is_ever: boolean
}

/** The first `total` of them, or all where they go on with time. */
function orderOf(definition: TimeDefinition, line: Timeline, extent: Extent): KeyOrder {
  const { total, size, is_endless, is_ever } = extent
  const { type, format, timezone } = definition
  const tickAt = (index: number): number | null => (total !== null && index >= total ? null : line.tickAt(index))
  const keyAt = (index: number): string | null => {
    const tick_ms = tickAt(index)
    return tick_ms === null ? null : line.names.keyOf(tick_ms)
  }
  const [one, many] = WORDS[type]
  let first: string | null | undefined
  const firstKey = (): string | null => {
    if (first === undefined) first = keyAt(0)
    return first
  }

  function describe(): string {
    const first_key = firstKey()
    if (first_key === null) return `no ${one} ${is_ever ? 'yet' : 'at all'}`
    return `the ${many} from "${first_key}" ${total === null ? 'on' : `to "${keyAt(total - 1)}"`} in ${timezone}`
  }

  /** Of the keys around an instant the one that starts nearer to it; the later one where both are as near. */
  function nearestTo(at_ms: number, later: number): string | null {
    const [later_ms, earlier_ms] = [tickAt(later), tickAt(later - 1)]
    if (later_ms === null) return keyAt((total ?? size()) - 1)
    return keyAt(earlier_ms !== null && at_ms - earlier_ms < later_ms - at_ms ? later - 1 : later)
  }

  function whyNone(): string {
    const first_ms = line.tickAt(0)
    if (first_ms === null) return `the definition has none, because no ${one} ends before its end.`
    if (!is_ever) return 'the definition has none, because its end_offset holds back all that end before its end.'
    return `there is none yet. The definition begins with "${line.names.keyOf(first_ms)}".`
  }

  /** What can be read as a time all the same has a nearest key as any other. */
  function misspelled(key: string, first: string): NotFound {
    const sentence = `"${key}" is not written as ${format.text}`
    const time = format.readTime(key)
    if (time === null) return { problem: `${sentence}, such as "${first}", the first key.`, nearest: first }
    const at_ms = firstInstantOf(timezone, time)
    const nearest = nearestTo(at_ms, Math.max(0, line.rankOf(line.startingFrom(at_ms))))
    return { problem: `${sentence}. The nearest key is "${nearest}".`, nearest }
  }

  return {
    type,
    // Made when it is read: the keys that exist at an instant are opened for each run, and few of them are described.
    get description() {
      return describe()
    },
    total,
    size,
    is_endless,
    keyAt,
    entryAt(index) {
      const tick_ms = tickAt(index)
      if (tick_ms === null) return null
      return { partition_key: line.names.keyOf(tick_ms), sort_key: instantText(tick_ms), partition_values: null }
    },
    indexOf(key) {
      const first_key = firstKey()
      if (first_key === null) return { problem: `"${key}" is no key: ${whyNone()}`, nearest: null }
      const at_ms = line.names.read(key)
      if (at_ms === null) return misspelled(key, first_key)
      const index = Math.max(0, line.rankOf(line.startingFrom(at_ms)))
      if (keyAt(index) === key) return { index }
      const nearest = nearestTo(at_ms, index)
      return { problem: `"${key}" is none of ${describe()}. The nearest key is "${nearest}".`, nearest }
    },
    windowAt(index) {
      const tick_ms = tickAt(index)
      return tick_ms === null ? null : line.windowOf(tick_ms)
    },
    at: () => orderOf(definition, line, extent),
  }
}
