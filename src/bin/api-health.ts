// What the API knows of the processes and stores around it: whether the store answers, and whether an automation takes the turns
// that are due. A dead automation reports nothing, so the API looks at what the newest revision asked for.

import type { Readiness } from '../api/http/deps.js'
import { isOperatingError, messageOf } from '../core/errors.js'
import { SECOND_MS } from '../core/time.js'
import type { Current } from '../readers/current.js'
import type { Reader, View } from '../readers/reader.js'
import { readStats } from '../readers/stats.js'
import { findOverdueTurn } from '../readers/turn-overdue.js'

/** Prometheus gives a scrape up after ten seconds, and a store that is not reachable may take longer to say so. */
const GAUGES_MS_MAX = 5 * SECOND_MS

type StoreTime = { readonly now: () => number }

/** undefined: the store does not answer. */
export async function readGauges(clock: StoreTime, reader: Reader) {
  const stats = await within(GAUGES_MS_MAX, readStats({ clock }, reader))
  if (stats === undefined) return undefined
  const { sequence, lag_ms, turn_overdue_ms, unfolded_segment_count, unfolded_event_count } = stats
  return { sequence, lag_ms, turn_overdue_ms, unfolded_segments: unfolded_segment_count, unfolded_events: unfolded_event_count }
}

async function within<T>(limit_ms: number, reading: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, limit_ms, undefined)
  })
  try {
    return await Promise.race([reading, late])
  } catch (error) {
    if (isOperatingError(error)) return undefined
    throw error
  } finally {
    clearTimeout(timer)
  }
}

export async function readReadiness(current: Current, clock: StoreTime): Promise<readonly Readiness[]> {
  try {
    const view = await current.latest()
    if (view === undefined) {
      const detail = 'Nothing is published yet: the first turn does it. Is `servo automation` running?'
      return [{ name: 'store', needed: true, ok: false, detail }]
    }
    return [{ name: 'store', needed: true, ok: true, detail: `revision ${view.sequence}` }, readinessOfTurns(view, clock.now())]
  } catch (error) {
    return [{ name: 'store', needed: true, ok: false, detail: messageOf(error) }]
  }
}

function readinessOfTurns(view: View, now: number): Readiness {
  const what = { name: 'automation', needed: false }
  const overdue = findOverdueTurn(view, now)
  if (overdue === undefined) return { ...what, ok: true, detail: 'turns are taken when they are due' }
  const seconds = Math.floor(overdue.overdue_ms / SECOND_MS)
  const detail =
    `A turn was due at ${overdue.wake_at}, ${seconds} s ago, and has not come: schedules do not fire, and runs do not go on. ` +
    'Start `servo automation`, or look into its log and at Temporal. What is accepted meanwhile is carried out later.'
  return { ...what, ok: false, detail }
}
