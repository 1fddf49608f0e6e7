// When there is something to decide about a schedule: what it owes, a cron that cannot be read, or its next instant. Known
// for as long as its rows are the same, so that a turn over thousands of schedules opens no cron.

import type { Ticks } from '../core/cron/schedule-ticks.js'
import { instantMs, SECOND_MS } from '../core/time.js'
import type { OwedSpan, ScheduleDefinitionRow, ScheduleStateRow } from '../projections/schedule-table.js'
import { ticksOf } from '../projections/schedule-ticks.js'
import type { WorkingSet } from '../projections/working-set.js'

type Due = {
  /** What is owed is due at once. */
  readonly at: number
} & (
  | { readonly kind: 'OWED'; readonly span: OwedSpan; readonly ticks: Ticks }
  | { readonly kind: 'UNREADABLE'; readonly problem: string }
  | { readonly kind: 'TICKS'; readonly ticks: Ticks }
)

type Known = { readonly definition: ScheduleDefinitionRow; readonly due: Due | null }

// Memory of a pure function, as long as the row of the state is held: each change of it is another row.
const known = new WeakMap<ScheduleStateRow, Known>()

/** null: nothing, until its rows change. */
export function dueOf(definition: ScheduleDefinitionRow, state: ScheduleStateRow): Due | null {
  const found = known.get(state)
  if (found !== undefined && found.definition === definition) return found.due
  const due = findDue(definition, state)
  known.set(state, { definition, due })
  return due
}

function findDue(definition: ScheduleDefinitionRow, state: ScheduleStateRow): Due | null {
  if (state.status === 'REMOVED') return null
  // The oldest first, and all of it before anything else: a later decision would count as one of what is older, too.
  const owed = firstOwed(state.owed)
  if (owed !== undefined || state.status === 'PAUSED') return owed ?? null
  const ticks = ticksOf(definition)
  if ('problem' in ticks) {
    return isTold(definition, state) ? null : { kind: 'UNREADABLE', at: nextSecond(state.floor_at), problem: ticks.problem }
  }
  const at = ticks.next(state.floor_at)
  return at === null ? null : { kind: 'TICKS', at, ticks }
}

/** A cron that cannot be read has no instants to count; the definition that replaced it fires for itself. */
function firstOwed(owed: readonly OwedSpan[]): Due | undefined {
  for (const span of owed) {
    const ticks = ticksOf(span)
    if ('problem' in ticks) continue
    const first = ticks.next(instantMs(span.from))
    if (first !== null && first <= instantMs(span.to)) return { kind: 'OWED', at: 0, span, ticks }
  }
  return undefined
}

/** Once for each cron: the next edit may mend it, and time does not. */
const isTold = ({ cron_changed_at }: ScheduleDefinitionRow, { last_scheduled_for }: ScheduleStateRow): boolean =>
  last_scheduled_for !== null && last_scheduled_for > cron_changed_at

const nextSecond = (at: number): number => (Math.floor(at / SECOND_MS) + 1) * SECOND_MS

export type DueSchedule = { readonly definition: ScheduleDefinitionRow; readonly state: ScheduleStateRow; readonly due: Due }

/** All that have something to decide now or later, in no order. */
export function* schedulesToCome(rows: WorkingSet): Iterable<DueSchedule> {
  for (const state of rows.hotRows('schedule_state')) {
    if (state.status === 'REMOVED') continue
    const definition = rows.get('schedule_definitions', state.schedule_id) as ScheduleDefinitionRow
    const due = dueOf(definition, state)
    if (due !== null) yield { definition, state, due }
  }
}

/** The earliest instant after now at which a schedule fires; infinity: there is none. What is due already was decided, or
 *  could not be: as a wish it would call for turn after turn. */
export function nextScheduleAt(rows: WorkingSet, now: number): number {
  let earliest = Number.POSITIVE_INFINITY
  for (const { due } of schedulesToCome(rows)) if (due.at > now) earliest = Math.min(earliest, due.at)
  return earliest
}
