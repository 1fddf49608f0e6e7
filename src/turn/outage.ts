// Whether somebody may be silent because nobody could be heard: the store was out of reach, a process has just begun and does
// not know what was before it, or the API does not answer. Deadlines are held back for it (controllers/hold.ts).

import { isOperatingError } from '../core/errors.js'
import { TURN_GAP_MS_MAX } from '../core/limits.js'
import { instantMs, SECOND_MS } from '../core/time.js'
import type { WorkingSet } from '../projections/working-set.js'
import type { Revision } from '../tables/revision.js'

/** The API, where workers speak, does not answer since so many milliseconds; or it did not, and does again. */
export type Unheard = { readonly for_ms: number; readonly is_over: boolean }

export type Outages = {
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
      // Whoever published meanwhile has reached it: then it was this process alone that did not. By a second at least, for the
      // server's time may have no fraction: what was published just before has reached nothing.
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

/** What this process cannot reach others may: then their beats go on to be folded, and who is silent is so by himself. */
export function isUnheard(unheard: Unheard | undefined, rows: WorkingSet, now: number): boolean {
  if (unheard === undefined) return false
  const heard_since = now - unheard.for_ms + HEARD_LATE_MS
  const isHeard = () =>
    rows
      .hotRows('tasks')
      .some((task) => task.state === 'RUNNING' && Math.max(task.started_at ?? 0, task.last_heartbeat_at ?? 0) > heard_since)
  return unheard.is_over || !isHeard()
}
