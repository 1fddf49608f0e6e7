// What the window that starts at an instant is called, and which instant a key means. A format that shows the whole wall
// clock shows the one at which the window starts; a shorter one names the time that was meant, which is another one only
// where the clock was set forward over it. The second pass of a doubled hour carries its offset.

import { openTicks } from '../core/cron/ticks.js'
import { assert } from '../core/errors.js'
import { offsetSpans } from '../core/zone.js'
import { offsetText, readSuffixed } from './key-format.js'
import type { TimeDefinition } from './time-definition.js'
import { firstInstantOf } from './wall-time.js'

export type KeyNames = {
  readonly keyOf: (tick_ms: number) => string
  /** The wall clock that a tick stands for. */
  readonly nominalOf: (tick_ms: number) => number
  /** No tick of this key, if there is one, is before this instant, and no other one is between. */
  readonly read: (key: string) => number | null
}

export function openKeyNames({ cron, timezone, format }: TimeDefinition): KeyNames {
  const isEveryHour = cron.hours.length === 24
  const isWhole = ['%H', '%M', ...(cron.seconds.some((second) => second > 0) ? ['%S'] : [])].every((each) => format.directives.has(each))
  /** In UTC instants are wall clocks. */
  const clocks = openTicks(cron, 'UTC')

  const spanAt = openSpans(timezone)

  const nominalOfLocal = (local_ms: number): number => {
    const nominal_ms = clocks.previous(local_ms + 1)
    assert(nominal_ms !== null, `No wall clock of the definition is before ${local_ms}.`)
    return nominal_ms
  }

  return {
    keyOf(tick_ms) {
      const { offset_ms, shown_before_ms } = spanAt(tick_ms)
      const local_ms = tick_ms + offset_ms
      const key = format.write(isWhole ? local_ms : nominalOfLocal(local_ms), offset_ms)
      // What is shown twice is a partition twice only where the cron is of every hour.
      return isEveryHour && !format.has_offset && local_ms < shown_before_ms ? key + offsetText(offset_ms) : key
    },
    nominalOf: (tick_ms) => nominalOfLocal(tick_ms + spanAt(tick_ms).offset_ms),
    read(key) {
      const read = format.read(key) ?? (isEveryHour && !format.has_offset ? readSuffixed(format, key) : null)
      return read === null ? null : firstInstantOf(timezone, read)
    },
  }
}

type NamedSpan = { readonly to_ms: number; readonly offset_ms: number; readonly shown_before_ms: number }

/** The span that holds an instant, and up to which wall clock the one before it had shown all: it is asked for each key. */
function openSpans(zone: string): (at_ms: number) => NamedSpan {
  const years = new Map<number, readonly NamedSpan[]>()
  function readYear(year: number): readonly NamedSpan[] {
    let before = offsetSpans(zone, year - 1).at(-1)
    return offsetSpans(zone, year).map((span) => {
      const shown_before_ms = before === undefined ? span.from_ms + span.offset_ms : before.to_ms + before.offset_ms
      before = span
      return { to_ms: span.to_ms, offset_ms: span.offset_ms, shown_before_ms }
    })
  }
  return (at_ms) => {
    const year = new Date(at_ms).getUTCFullYear()
    let spans = years.get(year)
    if (spans === undefined) {
      spans = readYear(year)
      years.set(year, spans)
    }
    for (const span of spans) if (at_ms < span.to_ms) return span
    throw new Error(`The spans of ${zone} do not hold ${at_ms}.`)
  }
}
