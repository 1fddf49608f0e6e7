// Decides every schedule that is due, all together: one batch each, its tick first and then the runs that it requests. It
// reads rows alone, counts instants and never walks over them, and says the same for the same rows and the same second.

import { scheduleTickedKey, tickId } from '../core/keys.js'
import { SCHEDULE_ROUND_EVENTS_MAX } from '../core/limits.js'
import { compareText } from '../core/order.js'
import { instantText, SECOND_MS } from '../core/time.js'
import type { Draft } from '../events/draft.js'
import type { EventOf } from '../events/event.js'
import { type AssetGraph, assetGraphOf } from '../projections/asset-selection.js'
import { type RequestDraft, type RunIdentity, triggerBatch } from '../projections/run-request.js'
import type { ScheduleDefinitionRow } from '../projections/schedule-table.js'
import { openTick, requestRunOfTick, type TickAssets, type TickFault } from '../projections/tick-request.js'
import type { WorkingSet } from '../projections/working-set.js'
import type { Decision, ReconcileState } from './decision.js'
import { type DecidedTick, type DecisionContext, decideSchedule, firstRunOf, type ScheduleDecision } from './schedule-decision.js'
import { type DueSchedule, schedulesToCome } from './schedule-due.js'

/** Of each schedule one decision a round: the next one rests on the version that this one leaves. */
export function reconcileSchedules({ rows, now }: Pick<ReconcileState, 'rows' | 'now'>, identity: RunIdentity): readonly Decision[] {
  const due = [...schedulesToCome(rows)].filter((schedule) => schedule.due.at <= now).sort(inDueOrder)
  if (due.length === 0) return []
  const context = contextOf(rows, now)
  const decisions: Decision[] = []
  let events = 0
  for (const schedule of due) {
    if (events >= SCHEDULE_ROUND_EVENTS_MAX) break
    const decided = decideSchedule(schedule, context)
    if (decided === undefined) continue
    const decision = say(schedule, decided, identity)
    events += decision.drafts.length
    decisions.push(decision)
  }
  return decisions
}

const inDueOrder = (left: DueSchedule, right: DueSchedule): number =>
  left.due.at - right.due.at || compareText(left.state.schedule_id, right.state.schedule_id)

/** The assets are looked at when something is due alone, and what many schedules select once. */
function contextOf(rows: WorkingSet, now: number): DecisionContext {
  let graph: AssetGraph | undefined
  const opened = new Map<string, TickAssets | TickFault>()
  return {
    now,
    openTick(definition) {
      const { asset_selection, partition_mapping } = definition
      const key = JSON.stringify([asset_selection, partition_mapping])
      const known = opened.get(key)
      if (known !== undefined) return known
      graph ??= graphOf(rows)
      const tick = openTick(definition, graph)
      opened.set(key, tick)
      return tick
    },
    activeRunOf: (schedule_id) => firstRunOf([...rows.openRunsOf(schedule_id)]),
  }
}

function graphOf(rows: WorkingSet): AssetGraph {
  const current = [...rows.hotRows('asset_definitions')].filter(({ state }) => state === 'CURRENT')
  return assetGraphOf(current.sort((left, right) => compareText(left.asset_key, right.asset_key)))
}

function say({ definition, state }: DueSchedule, decided: ScheduleDecision, identity: RunIdentity): Decision {
  const { schedule_id, state_version, last_event_id } = state
  const { tick } = decided
  const requests = decided.ticks.map(({ at, runs }) => requestsOf(definition, tick, { at, runs }, identity))
  const ticked: Draft = {
    event_type: 'ScheduleTicked',
    idempotency_key: scheduleTickedKey(schedule_id, epochOf(decided.to)),
    basis: { expected_state_version: state_version, state_event_id: last_event_id },
    payload: {
      schedule_id,
      kind: 'CRON',
      from: instantText(decided.from),
      to: instantText(decided.to),
      ticks: decided.ticks.map((each, index) => tickOf(schedule_id, each, requests[index] ?? [])),
      ...(decided.skipped === undefined ? {} : { skipped: skippedOf(schedule_id, decided.skipped) }),
      definition_hash: definition.definition_hash,
      definition_version: definition.definition_version,
      assets: tick?.assets ?? { keys: [] },
    },
  }
  const lists = tick?.long_list === undefined ? [] : [tick.long_list]
  const [first] = decided.ticks
  const decision = { said_by: 'schedules', drafts: triggerBatch(ticked, requests.flat()), lists }
  // Of what is owed it is none: that follows from events, and not from time.
  return first === undefined ? decision : { ...decision, due: { by: 'time', at: first.at } }
}

const epochOf = (at: number): number => at / SECOND_MS

function requestsOf(
  definition: ScheduleDefinitionRow,
  tick: TickAssets | undefined,
  { at, runs }: Pick<DecidedTick, 'at' | 'runs'>,
  identity: RunIdentity,
): readonly RequestDraft[] {
  if (tick === undefined) return []
  const tick_id = tickId(definition.schedule_id, epochOf(at))
  return runs.map(({ run_key, partitions }) => requestRunOfTick({ run_key, partitions, tick, definition, tick_id }, identity))
}

type TickedPayload = EventOf<'ScheduleTicked'>['payload']

function tickOf(
  schedule_id: string,
  { at, partitions, fault }: DecidedTick,
  requests: readonly RequestDraft[],
): TickedPayload['ticks'][number] {
  const first = requests[0]?.payload
  return {
    tick_id: tickId(schedule_id, epochOf(at)),
    scheduled_for: instantText(at),
    status: fault === undefined ? 'TRIGGERED' : 'FAILED',
    partitions,
    run_count: requests.length,
    ...(first === undefined ? {} : { run_key: first.run_key, request_fingerprint: first.request_fingerprint }),
    ...(fault === undefined ? {} : { error: fault }),
  }
}

const skippedOf = (
  schedule_id: string,
  { count, first, last, reasons, active_run_id }: NonNullable<ScheduleDecision['skipped']>,
): NonNullable<TickedPayload['skipped']> => ({
  tick_id: tickId(schedule_id, epochOf(last)),
  count,
  first_scheduled_for: instantText(first),
  last_scheduled_for: instantText(last),
  reasons,
  ...(active_run_id === undefined ? {} : { active_run_id }),
})
