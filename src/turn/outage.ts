// Whether somebody may be silent because nobody could be heard: the store was out of reach, a process has just begun and does
// not know what was before it, or the API does not answer. Deadlines are held back for it (controllers/hold.ts).

import { isOperatingError } from '../core/errors.js'
import { TURN_GAP_MS_MAX } from '../core/limits.js'
import { instantMs, SECOND_MS } from '../core/time.js'
import type { WorkingSet } from '../projections/working-set.js'
import type { Revision } from '../tables/revision.js'

/** The API, where workers speak, has not answered; or it did not, and does again. */
export type Unheard = {
  /** Since it began. */
  readonly for_ms: number
  /** Since it was over: 0 where it is not. */
  readonly over_for_ms: number
  /** For so long it may hold deadlines back yet. */
  readonly left_ms: number
}

type Outages = {
  /** How long turns of this process had not reached the store before one that begins now: 0 where they had. */
  readonly before: (revision: Revision | undefined, server_time: number, elapsed: number) => number
  /** This is the first turn of the process, and comes after a silence: what was before it nobody can tell it, and that nobody
   *  published may be because nobody could. A hold that is on record was the answer to that already. */
  readonly isBlind: (revision: Revision | undefined, server_time: number) => boolean
  /** A turn has ended well. */
  readonly reached: () => void
  readonly failed: (error: unknown, began: number) => void
}

export function createOutages(): Outages {
  /** When the first of those turns began that did not reach the store, and after which none has ended well. */
  let unreached_since: number | undefined
  let isFirst = true
  return {
    before(revision, server_time, elapsed) {
      if (unreached_since === undefined) return 0
      const outage_ms = elapsed - unreached_since
      // Whoever published meanwhile has reached it: then it was this process alone that did not. By a second at least, for two
      // processes may know the server's time to a second each: what was published just before has reached nothing.
      const published_at = revision === undefined ? 0 : instantMs(revision.published_at)
      return published_at > server_time - outage_ms + SECOND_MS ? 0 : outage_ms
    },
    isBlind(revision, server_time) {
      if (!isFirst || revision === undefined || revision.watermarks.hold_until !== null) return false
      return server_time - instantMs(revision.published_at) > TURN_GAP_MS_MAX
    },
    reached() {
      unreached_since = undefined
      isFirst = false
    },
    failed(error, began) {
      if (isOperatingError(error, 'unavailable')) unreached_since ??= began
    },
  }
}

/** A beat may be folded a moment after it was heard. */
const HEARD_LATE_MS = 5 * SECOND_MS
/** Whoever asks whether the API is there may be told so a moment after workers were heard by it again. */
const HEARD_AGAIN_MS = 3 * SECOND_MS
/** Twice the longest pause between two tries of a worker that lives (`RETRY_LONGEST_MS` of the SDK): an API that answered others for
 *  this long without a break was there for its tries as well. */
const HEARD_SPAN_MS_MIN = 10 * SECOND_MS
/** Between two beats that are further apart the API may have been away: one that flaps is back within seconds. */
const HEARD_GAP_MS_MAX = 2 * SECOND_MS

/** For how long deadlines may be held back because workers could not speak; 0: they could. Workers may reach an API that this process
 *  cannot: then their beats go on to be folded, and the silence is the worker's own. A single beat is no proof of that. A flapping API
 *  may be open for a second between two health checks, and only some workers try within it (ADR 0079). */
export function unheardHoldMs(unheard: Unheard | undefined, rows: WorkingSet, now: number): number {
  if (unheard === undefined) return 0
  const { for_ms, over_for_ms, left_ms } = unheard
  const since = now - for_ms + HEARD_LATE_MS
  const until = now - over_for_ms - HEARD_AGAIN_MS
  return isHeardSteadily(rows, since, until) ? 0 : left_ms
}

/** Tells whether workers spoke after `since` and until `until` for long enough without a gap. */
function isHeardSteadily(rows: WorkingSet, since: number, until: number): boolean {
  if (until - since < HEARD_SPAN_MS_MIN) return false
  const heard = rows
    .hotRows('tasks')
    .flatMap(({ state, started_at, last_heartbeat_at }) => (state === 'RUNNING' ? [started_at, last_heartbeat_at] : []))
    .filter((at): at is number => at !== null && at > since && at <= until)
    .toSorted((left, right) => left - right)
  let steady_since = heard[0] ?? 0
  let before = steady_since
  return heard.some((at) => {
    if (at - before > HEARD_GAP_MS_MAX) steady_since = at
    before = at
    return at - steady_since >= HEARD_SPAN_MS_MIN
  })
}
