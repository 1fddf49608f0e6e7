// Ticks: what was decided of a schedule's instants, each once, and which runs and conflicts came of them.

import { instantMs } from '../core/time.js'
import type { EventOf } from '../events/event.js'
import type { Skipped, Tick } from '../events/schedule.js'
import { liveRow, type Moment, type Refusal, refusal } from './outcome.js'
import { skippedTickExpiry } from './retention.js'
import { putState, stateOf } from './schedule.js'
import { isOwed, owedAfter } from './schedule-owed.js'
import type { ScheduleDefinitionRow, ScheduleStateRow, ScheduleTickRow } from './schedule-table.js'
import type { KeyedRow } from './tables.js'
import { triggerRow } from './trigger-row.js'
import type { WorkingSet } from './working-set.js'

type Ticked = EventOf<'ScheduleTicked'>

const keyOfTick = (schedule_id: string, tick_id: string): KeyedRow => ({ table: 'schedule_ticks', key: [schedule_id, tick_id] })

export function keysOfScheduleTicked({ payload: { schedule_id, ticks, skipped } }: Ticked): readonly KeyedRow[] {
  const tick_ids = [...ticks.map(({ tick_id }) => tick_id), ...(skipped === undefined ? [] : [skipped.tick_id])]
  return tick_ids.map((tick_id) => keyOfTick(schedule_id, tick_id))
}

export function foldScheduleTicked(rows: WorkingSet, event: Ticked, moment: Moment): Refusal | undefined {
  const { payload } = event
  const { schedule_id, kind, ticks, skipped } = payload
  const definition = rows.get('schedule_definitions', schedule_id)
  if (definition === undefined) return refusal('UNKNOWN_ENTITY', { schedule_id })
  const state = stateOf(rows, schedule_id)
  if (state.status === 'REMOVED') return refusal('TERMINAL', { schedule_id, status: state.status })
  const stale = staleDecision(event, definition, state)
  if (stale !== undefined) return stale
  const known = keysOfScheduleTicked(event).find(({ key }) => liveRow(rows, moment.context, 'schedule_ticks', ...key) !== undefined)
  if (known !== undefined) return refusal('ILLEGAL_TRANSITION', { tick_id: String(known.key[1]) })

  const put = (row: ScheduleTickRow) => rows.put('schedule_ticks', row)
  for (const tick of ticks) put({ ...newTick(event, definition, moment), ...columnsOfTick(tick) })
  if (skipped !== undefined) put({ ...newTick(event, definition, moment), ...columnsOfSkipped(skipped, moment) })
  // A manual one moves no floor and counts in no row of failures; but who decided without knowing of it decides again.
  putState(rows, kind === 'MANUAL' ? state : decided(state, payload, moment), moment)
  return undefined
}

/** A decision of the clock rests on the state, and covers nothing that was decided or cut off before. */
function staleDecision(
  { payload, basis }: Ticked,
  { definition_version }: ScheduleDefinitionRow,
  state: ScheduleStateRow,
): Refusal | undefined {
  const { schedule_id, kind, from, to, ticks } = payload
  if (kind === 'MANUAL') {
    if (!('definition_version' in basis))
      return refusal('BASIS_MISSING', { schedule_id, message: 'A MANUAL tick names definition_version.' })
    return basis.definition_version === definition_version ? undefined : refusal('STALE_BASIS', { schedule_id, definition_version })
  }
  const { state_version, last_event_id, floor_at, owed } = state
  if (!('expected_state_version' in basis))
    return refusal('BASIS_MISSING', { schedule_id, message: 'A CRON tick names expected_state_version.' })
  const { expected_state_version, state_event_id = last_event_id } = basis
  if (expected_state_version !== state_version || state_event_id !== last_event_id)
    return refusal('STALE_BASIS', { schedule_id, state_version })
  if (instantMs(from) >= floor_at) return undefined
  // What a change cut off is counted, and never runs.
  if (isOwed(owed, from, to) && ticks.length === 0) return undefined
  return refusal('ILLEGAL_TRANSITION', { schedule_id, from, floor_at })
}

const newTick = ({ payload }: Ticked, { schedule_name }: ScheduleDefinitionRow, { at, event_id }: Moment) => ({
  schedule_id: payload.schedule_id,
  schedule_name,
  kind: payload.kind,
  skipped_count: null,
  first_scheduled_for: null,
  skip_reasons: null,
  active_run_id: null,
  definition_version: payload.definition_version,
  definition_hash: payload.definition_hash,
  assets: payload.assets,
  partitions: null,
  run_count: 0,
  run_key: null,
  run_id: null,
  conflict_count: 0,
  request_fingerprint: null,
  error: null,
  requested_by: payload.requested_by ?? null,
  decided_at: at,
  expires_at: null,
  row_version: 0,
  last_event_id: event_id,
})

const columnsOfTick = (tick: Tick) => ({
  tick_id: tick.tick_id,
  scheduled_for: instantMs(tick.scheduled_for),
  status: tick.status,
  partitions: tick.partitions,
  run_count: tick.run_count,
  run_key: tick.run_key ?? null,
  request_fingerprint: tick.request_fingerprint ?? null,
  error: tick.error ?? null,
})

const columnsOfSkipped = (skipped: Skipped, { context }: Moment) => ({
  tick_id: skipped.tick_id,
  scheduled_for: instantMs(skipped.last_scheduled_for),
  status: 'SKIPPED' as const,
  skipped_count: skipped.count,
  first_scheduled_for: instantMs(skipped.first_scheduled_for),
  skip_reasons: skipped.reasons,
  active_run_id: skipped.active_run_id ?? null,
  expires_at: skippedTickExpiry(context.fold_time, context.retention),
})

type Last = Pick<ScheduleStateRow, 'last_scheduled_for' | 'last_tick_id' | 'last_tick_status'>

function decided(state: ScheduleStateRow, { ticks, skipped, to }: Ticked['payload'], { at }: Moment): ScheduleStateRow {
  const inOrder = [...ticks].sort((left, right) => instantMs(left.scheduled_for) - instantMs(right.scheduled_for))
  let { consecutive_failures, last_run_key } = state
  for (const { status, run_key } of inOrder) {
    consecutive_failures = status === 'FAILED' ? consecutive_failures + 1 : 0
    last_run_key = run_key ?? last_run_key
  }
  const last = lastOf(state, inOrder.at(-1), skipped)
  const floor_at = Math.max(state.floor_at, last.last_scheduled_for ?? 0)
  return { ...state, ...last, floor_at, last_run_key, consecutive_failures, last_decided_at: at, owed: owedAfter(state.owed, to) }
}

function lastOf(state: Last, tick: Tick | undefined, skipped: Skipped | undefined): Last {
  const newest: Last[] = []
  if (tick !== undefined)
    newest.push({ last_scheduled_for: instantMs(tick.scheduled_for), last_tick_id: tick.tick_id, last_tick_status: tick.status })
  if (skipped !== undefined)
    newest.push({ last_scheduled_for: instantMs(skipped.last_scheduled_for), last_tick_id: skipped.tick_id, last_tick_status: 'SKIPPED' })
  return newest.reduce((best, each) => ((each.last_scheduled_for ?? 0) > (best.last_scheduled_for ?? 0) ? each : best), {
    last_scheduled_for: state.last_scheduled_for,
    last_tick_id: state.last_tick_id,
    last_tick_status: state.last_tick_status,
  })
}

/** A tick names the first of its runs; the others name the tick. */
export const TICK_TRIGGER = triggerRow(
  'schedule_ticks',
  ({ schedule_id, tick_id }) => (schedule_id === undefined || tick_id === undefined ? undefined : [schedule_id, tick_id]),
  (tick, outcome) =>
    outcome.kind === 'started'
      ? { run_id: tick.run_id ?? outcome.run_id }
      : { conflict_count: tick.conflict_count + 1, ...failedByConflict(tick) },
)

/** Nothing runs for it: other requests have all of its run keys. Which runs those are is in the rows of the conflicts. */
function failedByConflict({ run_id, run_count, conflict_count }: ScheduleTickRow): Partial<ScheduleTickRow> {
  if (run_id !== null || conflict_count + 1 < run_count) return {}
  const whose = run_count === 1 ? 'The run key of this tick belongs' : 'All run keys of this tick belong'
  const message = `${whose} to a run that was asked for with other assets, partitions or tags. That run stands: see the conflicts.`
  return { status: 'FAILED', error: { code: 'RUN_KEY_CONFLICT', message } }
}
