// What becomes of each instant of one decision: it runs, it FAILED, or it is counted as skipped, with the reason. Newest
// first, because what there is no room for is what is older. Nothing here is said yet: a preview asks the same.

import { scheduleRunKey } from '../core/keys.js'
import { TICK_MESSAGE_CHARACTERS_MAX } from '../core/limits.js'
import { compareText } from '../core/order.js'
import { cutText } from '../core/text.js'
import { floorTo, instantMs, SECOND_MS } from '../core/time.js'
import type { SkipReason } from '../events/schedule.js'
import type { Selector } from '../events/value.js'
import type { RunRow } from '../projections/run-table.js'
import type { ScheduleDefinitionRow, SkipReasons } from '../projections/schedule-table.js'
import { type AskedRun, isTickFault, type TickAssets, type TickFault } from '../projections/tick-request.js'
import { createTickRoom, tooManyRuns } from '../projections/tick-room.js'
import type { DueSchedule } from './schedule-due.js'
import { addCounted, type Counted, countedIn, type Interval, intervalOf } from './schedule-interval.js'

export type DecidedTick = {
  readonly at: number
  readonly partitions: Selector
  /** None: it FAILED. */
  readonly runs: readonly (AskedRun & { readonly run_key: string })[]
  readonly fault?: TickFault
}

export type ScheduleDecision = {
  readonly from: number
  readonly to: number
  /** In order. */
  readonly ticks: readonly DecidedTick[]
  readonly skipped: (Counted & { readonly reasons: SkipReasons; readonly active_run_id?: string }) | undefined
  /** undefined: nothing runs. */
  readonly tick: TickAssets | undefined
}

export type DecisionContext = {
  readonly now: number
  /** What ticks of this definition ask for. */
  readonly openTick: (definition: ScheduleDefinitionRow) => TickAssets | TickFault
  /** The run of the schedule that began first and is not over. */
  readonly activeRunOf: (schedule_id: string) => string | undefined
}

/** Whatever order they come in: in memory it is that of their arrival, which differs between processes. */
export const firstRunOf = (runs: readonly RunRow[]): string | undefined =>
  [...runs].sort((left, right) => left.requested_at - right.requested_at || compareText(left.run_id, right.run_id))[0]?.run_id

/** undefined: there is nothing to decide yet. */
export function decideSchedule(schedule: DueSchedule, context: DecisionContext): ScheduleDecision | undefined {
  const { definition, state, due } = schedule
  if (due.at > context.now) return undefined
  switch (due.kind) {
    case 'OWED': {
      const [from, to] = [instantMs(due.span.from), instantMs(due.span.to)]
      const counted = countedIn(due.ticks, from, to) as Counted
      const skipped = { ...counted, reasons: { [due.span.reason]: counted.count } }
      return { from, to: counted.last, ticks: [], skipped, tick: undefined }
    }
    case 'UNREADABLE': {
      const ticks = [failedAt(due.at, { code: 'BAD_CRON', message: due.problem })]
      return { from: state.floor_at, to: due.at, ticks, skipped: undefined, tick: undefined }
    }
    case 'TICKS': {
      // Crons fire at whole seconds: two turns within one look back as far, and say the same.
      const interval = intervalOf(due.ticks, state.floor_at, floorTo(context.now, SECOND_MS), definition)
      return interval === undefined ? undefined : decideInterval(schedule, interval, context)
    }
  }
}

function decideInterval({ definition, state }: DueSchedule, { to, newest, older }: Interval, context: DecisionContext): ScheduleDecision {
  const skipped = createSkipped()
  skipped.add('CATCH_UP', older)
  const active_run_id = definition.overlap_policy === 'SKIP' ? context.activeRunOf(definition.schedule_id) : undefined
  const tick = active_run_id === undefined && newest.length > 0 ? context.openTick(definition) : undefined
  const ticks: DecidedTick[] = []
  const room = createTickRoom(tick, definition.tags)
  for (const at of newest.toReversed()) {
    const only = { count: 1, first: at, last: at }
    // What would begin now would run beside the newest.
    const isBeside = definition.overlap_policy === 'SKIP' && ticks.some(({ runs }) => runs.length > 0)
    if (active_run_id !== undefined || isBeside || tick === undefined) {
      skipped.add('OVERLAP', only)
      continue
    }
    const decided = tickAt(definition, tick, at)
    if (decided === undefined) skipped.add('NO_PARTITION', only)
    else if (room.take(decided)) ticks.unshift(decided)
    else if (ticks.length > 0) skipped.add('CATCH_UP', only)
    else ticks.unshift(failedAt(at, tooManyRuns(decided.runs.length)))
  }
  return {
    from: state.floor_at,
    to,
    ticks,
    skipped: skipped.all(active_run_id),
    tick: tick === undefined || isTickFault(tick) ? undefined : tick,
  }
}

/** undefined: no partition is there to ask for. */
function tickAt({ schedule_id }: ScheduleDefinitionRow, tick: TickAssets | TickFault, at: number): DecidedTick | undefined {
  if (isTickFault(tick)) return failedAt(at, tick)
  const asks = tick.asksAt(at)
  if ('none' in asks) return undefined
  if (isTickFault(asks)) return failedAt(at, asks)
  const runs = asks.runs.map((run) => ({ ...run, run_key: scheduleRunKey(schedule_id, at / SECOND_MS, run.suffix) }))
  return { at, partitions: asks.partitions, runs }
}

const failedAt = (at: number, { code, message }: TickFault): DecidedTick => ({
  at,
  partitions: null,
  runs: [],
  fault: { code, message: cutText(message, TICK_MESSAGE_CHARACTERS_MAX) },
})

function createSkipped() {
  let counted: Counted | undefined
  const reasons: Partial<Record<SkipReason, number>> = {}
  return {
    add(reason: SkipReason, more: Counted | undefined): void {
      if (more === undefined) return
      counted = addCounted(counted, more)
      reasons[reason] = (reasons[reason] ?? 0) + more.count
    },
    all: (active_run_id: string | undefined): ScheduleDecision['skipped'] =>
      counted === undefined ? undefined : { ...counted, reasons, ...(active_run_id === undefined ? {} : { active_run_id }) },
  }
}
