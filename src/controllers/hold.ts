// Whether deadlines are held back: where a turn comes much later than something was due, or the store or the API was out of
// reach, the answers to it may be under way, because workers could not speak. Once for every such gap, and never for long:
// but for as long as the API is away, since nothing could begin anew meanwhile. The grace of a cancel is never held back.

import { TURN_GAP_HOLD_MS_MAX, TURN_GAP_MS_MAX } from '../core/limits.js'
import type { TaskRow } from '../projections/run-table.js'
import type { WorkingSet } from '../projections/working-set.js'
import { type ArmedDeadline, earliestHeld } from './lost.js'

/** What the last revision recorded; how long the store was out of reach before this turn, 0 where it was not; and for how
 *  long it may be held back because workers find no API to speak to, or found none until a moment ago, 0 where they do. */
export type Recorded = {
  readonly wake_at: number | null
  readonly hold_until: number | null
  readonly outage_ms: number
  readonly unheard_hold_ms: number
}

/** Until when no deadline is acted on; null: they are. */
export function holdUntil(rows: WorkingSet, now: number, { wake_at, hold_until, outage_ms, unheard_hold_ms }: Recorded): number | null {
  if (hold_until !== null && now < hold_until) return hold_until
  // A deadline that comes right after an outage would find workers that had no time to speak yet.
  const hold_ms = outage_ms > TURN_GAP_MS_MAX ? TURN_GAP_HOLD_MS_MAX : unheard_hold_ms
  if (hold_ms > 0) return heldBy(now, periodsOf(rows, Number.POSITIVE_INFINITY), hold_ms)
  const due_at = dueSince(rows, now, wake_at)
  if (due_at === null || now - due_at <= TURN_GAP_MS_MAX) return null
  // The end of a hold is an instant to wake at, too: who comes late for that has been held back already.
  if (hold_until !== null && due_at <= hold_until) return null
  return heldBy(now, periodsOf(rows, now))
}

/** Since when a turn was due that looks at the deadlines which have passed. The instant that is on record may be of a retry that
 *  waits for room: turns looked at that, maybe of other processes, and recorded nothing. */
function dueSince(rows: WorkingSet, now: number, wake_at: number | null): number | null {
  if (wake_at === null) return null
  const first = rows
    .hotRows('tasks')
    .reduce((earliest, task) => Math.min(earliest, earliestHeld(task)?.deadline_at ?? earliest), Number.POSITIVE_INFINITY)
  return first > now ? null : Math.max(wake_at, first)
}

const heldBy = (now: number, periods: readonly number[], hold_ms = TURN_GAP_HOLD_MS_MAX): number | null =>
  periods.length === 0 ? null : now + Math.min(TURN_GAP_HOLD_MS_MAX, hold_ms, Math.max(...periods))

/** Of attempts whose deadline is not later than this. Only attempts are held back: a retry that is due loses nothing. */
function periodsOf(rows: WorkingSet, latest: number): readonly number[] {
  return rows.hotRows('tasks').flatMap((task) => {
    const armed = earliestHeld(task)
    return armed === null || armed.deadline_at > latest ? [] : [periodOf(task, armed)]
  })
}

function periodOf(task: TaskRow, { reason }: ArmedDeadline): number {
  switch (reason) {
    case 'START_DEADLINE':
      return task.start_timeout_ms
    case 'HEARTBEAT':
      return task.heartbeat_timeout_ms
    case 'TIMEOUT':
      return task.timeout_ms ?? 0
    case 'CANCEL_GRACE':
    case 'HANDOVER_REFUSED':
      return 0
  }
}
