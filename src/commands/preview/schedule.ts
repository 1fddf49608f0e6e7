// What a schedule would do at an instant, if nothing else happened until then: the controller's own decisions, one after the
// other as turns would make them, and nothing is said.

import {
  type DecidedTick,
  type DecisionContext,
  decideSchedule,
  firstRunOf,
  type ScheduleDecision,
} from '../../controllers/schedule-decision.js'
import { dueOf } from '../../controllers/schedule-due.js'
import { OWED_SPANS_KEPT_MAX } from '../../core/limits.js'
import { instantText } from '../../core/time.js'
import { OPEN_RUNS } from '../../projections/run-table.js'
import { owedAfter } from '../../projections/schedule-owed.js'
import type { ScheduleStateRow } from '../../projections/schedule-table.js'
import { ticksOf } from '../../projections/schedule-ticks.js'
import { openTick } from '../../projections/tick-request.js'
import { readAssetGraph } from '../../readers/assets.js'
import type { View } from '../../readers/reader.js'
import type { Schedule } from '../../readers/schedules.js'

type SchedulePreview = {
  readonly decisions: readonly PreviewedDecision[]
  /** Instants up to then that a pause holds back: a resume counts them as skipped, or catches up with them. */
  readonly held_count: number
}

type PreviewedDecision = {
  readonly from: string
  readonly to: string
  readonly ticks: readonly PreviewedTick[]
  readonly skipped: {
    readonly count: number
    readonly first_ms: number
    readonly last_ms: number
    readonly reasons: NonNullable<ScheduleDecision['skipped']>['reasons']
    readonly active_run_id: string | null
  } | null
}

type PreviewedTick = {
  readonly at_ms: number
  readonly status: 'TRIGGERED' | 'FAILED'
  readonly asset_keys: readonly string[]
  readonly partitions: DecidedTick['partitions']
  readonly run_keys: readonly string[]
  readonly error: { readonly code: string; readonly message: string } | null
}

/** Each of them moves on: what is owed, span by span, then what is due. */
const DECISIONS_MAX = OWED_SPANS_KEPT_MAX + 2

export async function previewSchedule(view: View, schedule: Schedule, at_ms: number): Promise<SchedulePreview> {
  const { definition } = schedule
  const context = await contextOf(view, schedule, at_ms)
  const decisions: PreviewedDecision[] = []
  let { state } = schedule
  while (decisions.length < DECISIONS_MAX) {
    const due = dueOf(definition, state)
    const decided = due === null ? undefined : decideSchedule({ definition, state, due }, context)
    if (decided === undefined) break
    decisions.push(previewed(decided))
    state = leftBy(state, decided)
  }
  return { decisions, held_count: heldCount(schedule, at_ms) }
}

async function contextOf(view: View, { definition }: Schedule, now: number): Promise<DecisionContext> {
  const graph = await readAssetGraph(view)
  const { schedule_id, overlap_policy } = definition
  const where = [{ column: 'schedule_id', is: '=', value: schedule_id } as const, { column: OPEN_RUNS.column, in: OPEN_RUNS.values }]
  const active = overlap_policy === 'SKIP' ? await view.few('runs', where) : []
  const run_id = firstRunOf(active)
  return { now, openTick: (row) => openTick(row, graph), activeRunOf: () => run_id }
}

/** As far as the next decision looks at it. */
function leftBy(state: ScheduleStateRow, { to, ticks }: ScheduleDecision): ScheduleStateRow {
  const failed = ticks.some(({ fault }) => fault !== undefined)
  return {
    ...state,
    floor_at: Math.max(state.floor_at, to),
    owed: owedAfter(state.owed, instantText(to)),
    last_scheduled_for: to,
    last_tick_status: failed ? 'FAILED' : 'TRIGGERED',
  }
}

const previewed = ({ from, to, ticks, skipped, tick }: ScheduleDecision): PreviewedDecision => ({
  from: instantText(from),
  to: instantText(to),
  ticks: ticks.map(({ at, partitions, runs, fault }) => ({
    at_ms: at,
    status: fault === undefined ? 'TRIGGERED' : 'FAILED',
    asset_keys: tick?.asset_keys ?? [],
    partitions,
    run_keys: runs.map(({ run_key }) => run_key),
    error: fault ?? null,
  })),
  skipped:
    skipped === undefined
      ? null
      : {
          count: skipped.count,
          first_ms: skipped.first,
          last_ms: skipped.last,
          reasons: skipped.reasons,
          active_run_id: skipped.active_run_id ?? null,
        },
})

function heldCount({ definition, state }: Schedule, at_ms: number): number {
  if (state.status !== 'PAUSED') return 0
  const ticks = ticksOf(definition)
  return 'problem' in ticks ? 0 : ticks.count(state.floor_at + 1, at_ms + 1)
}
