// Schedules: what they are, whether they fire, and who has which name. A removed one stays as a tombstone.

import { assert } from '../core/errors.js'
import { OWED_SPANS_KEPT_MAX } from '../core/limits.js'
import type { EventOf } from '../events/event.js'
import { rowMembers } from '../events/fields.js'
import { hasSameTimes, SCHEDULE_FIELDS } from '../events/schedule-definition.js'
import { judgeDefinition, type NounDefinition, releaseName, statusChangedBy, takeName } from './definitions.js'
import { type Moment, notBefore, type Refusal, refusal } from './outcome.js'
import { isOwedFull, owedWith } from './schedule-owed.js'
import type { ScheduleDefinitionRow, ScheduleStateRow, ScheduleStatus } from './schedule-table.js'
import { nextStates, SCHEDULE_MACHINE, type ScheduleCause } from './state-machine.js'
import type { WorkingSet } from './working-set.js'

type Defined = EventOf<'ScheduleDefined'>

export const SCHEDULE_DEFINITION: NounDefinition = {
  name_kind: 'SCHEDULE',
  id_member: 'schedule_id',
  name_member: 'schedule_name',
  defined_type: 'ScheduleDefined',
  removed_type: 'ScheduleRemoved',
  find(rows, schedule_id) {
    const definition = rows.get('schedule_definitions', schedule_id)
    if (definition === undefined) return undefined
    const { schedule_name: name, location_name, definition_version } = definition
    const state = stateOf(rows, schedule_id)
    const refusal = isOwedFull(state) ? tooMuchOwed(schedule_id) : undefined
    return { name, location_name, definition_version, is_removed: state.status === 'REMOVED', refusal }
  },
}

const nameOf = ({ schedule_id, schedule_name }: Pick<ScheduleDefinitionRow, 'schedule_id' | 'schedule_name'>) =>
  ({ kind: 'SCHEDULE', name: schedule_name, entity_id: schedule_id }) as const

export function foldScheduleDefined(rows: WorkingSet, event: Defined, moment: Moment): Refusal | undefined {
  const { payload } = event
  const { schedule_id, location_name } = payload
  if (location_name !== undefined && rows.get('code_locations', location_name) === undefined)
    return refusal('UNKNOWN_ENTITY', { location_name })
  const refused = judgeDefinition(SCHEDULE_DEFINITION, rows, event)
  if (refused !== undefined) return refused
  const known = rows.get('schedule_definitions', schedule_id)
  if (known === undefined) {
    rows.put('schedule_definitions', newDefinitionRow(payload, moment))
    rows.put('schedule_state', newStateRow(payload, moment))
  } else {
    redefine(rows, known, payload, moment)
    if (known.schedule_name !== payload.schedule_name) releaseName(rows, nameOf(known), moment)
  }
  takeName(rows, nameOf(payload), moment)
  return undefined
}

function redefine(rows: WorkingSet, known: ScheduleDefinitionRow, payload: Defined['payload'], moment: Moment): void {
  const { schedule_id, schedule_name, definition } = payload
  const state = stateOf(rows, schedule_id)
  const isSame = known.definition_hash === payload.definition_hash
  const isMoved = !isSame && !hasSameTimes(known, definition)
  const owed = isMoved ? owedWith(state, known, 'SUPERSEDED', moment.at) : state.owed
  // Of a writer whose clock is behind what was decided: from there on the new cron counts.
  const floor_at = isMoved ? Math.max(state.floor_at, moment.at) : state.floor_at
  const updated_at = notBefore(moment, known.updated_at)
  const described = { schedule_name, description: definition.description ?? null, updated_at, last_event_id: moment.event_id }
  rows.put('schedule_definitions', {
    ...known,
    ...(isSame
      ? {}
      : {
          ...columnsOf(payload),
          definition_version: known.definition_version + 1,
          cron_changed_at: isMoved ? floor_at : known.cron_changed_at,
        }),
    ...described,
  })
  putState(rows, { ...state, schedule_name, owed, floor_at }, moment)
}

const tooMuchOwed = (schedule_id: string): Refusal =>
  refusal('CAP_REACHED', {
    schedule_id,
    message: `${OWED_SPANS_KEPT_MAX} changes of this schedule wait to be counted. Start the automation, and change it again.`,
  })

const columnsOf = ({ definition_hash, definition }: Defined['payload']) => {
  const { description: _description, ...columns } = rowMembers(SCHEDULE_FIELDS, definition)
  return { definition_hash, ...columns }
}

const newDefinitionRow = (payload: Defined['payload'], { at, event_id }: Moment): ScheduleDefinitionRow => ({
  schedule_id: payload.schedule_id,
  schedule_name: payload.schedule_name,
  location_name: payload.location_name ?? null,
  definition_version: 1,
  ...columnsOf(payload),
  description: payload.definition.description ?? null,
  created_at: at,
  updated_at: at,
  cron_changed_at: at,
  removed_at: null,
  row_version: 0,
  last_event_id: event_id,
})

/** It does not fire what lies before it. */
const newStateRow = ({ schedule_id, schedule_name, definition }: Defined['payload'], { at, event_id }: Moment): ScheduleStateRow => ({
  schedule_id,
  schedule_name,
  status: definition.default_status,
  state_version: 1,
  enabled_at: at,
  paused_at: definition.default_status === 'PAUSED' ? at : null,
  status_changed_by: null,
  status_reason: null,
  floor_at: at,
  last_scheduled_for: null,
  last_tick_id: null,
  last_tick_status: null,
  last_run_key: null,
  last_decided_at: null,
  consecutive_failures: 0,
  owed: [],
  row_version: 0,
  last_event_id: event_id,
})

export function stateOf(rows: WorkingSet, schedule_id: string): ScheduleStateRow {
  const state = rows.get('schedule_state', schedule_id)
  assert(state, `The schedule ${schedule_id} is defined and has no state.`)
  return state
}

/** Each change makes what was decided before it stale. */
export function putState(rows: WorkingSet, state: ScheduleStateRow, { event_id }: Moment): void {
  rows.put('schedule_state', { ...state, state_version: state.state_version + 1, last_event_id: event_id })
}

export function foldScheduleRemoved(rows: WorkingSet, { payload }: EventOf<'ScheduleRemoved'>, moment: Moment): Refusal | undefined {
  const { schedule_id } = payload
  const known = rows.get('schedule_definitions', schedule_id)
  if (known === undefined) return refusal('UNKNOWN_ENTITY', { schedule_id })
  const state = stateOf(rows, schedule_id)
  const status = nextStatus(state, 'REMOVED')
  if (status === undefined) return refusal('TERMINAL', { schedule_id, status: state.status })
  const removed_at = notBefore(moment, known.updated_at)
  rows.put('schedule_definitions', { ...known, removed_at, updated_at: removed_at, last_event_id: moment.event_id })
  putState(rows, { ...state, status, ...statusChangedBy(payload), owed: [] }, moment)
  releaseName(rows, nameOf(known), moment)
  return undefined
}

const nextStatus = ({ status }: ScheduleStateRow, by: ScheduleCause): ScheduleStatus | undefined =>
  nextStates(SCHEDULE_MACHINE, status, by)[0]

export function foldScheduleStatusChanged(
  rows: WorkingSet,
  { payload, basis }: EventOf<'ScheduleStatusChanged'>,
  moment: Moment,
): Refusal | undefined {
  const { schedule_id, to } = payload
  const definition = rows.get('schedule_definitions', schedule_id)
  if (definition === undefined) return refusal('UNKNOWN_ENTITY', { schedule_id })
  const state = stateOf(rows, schedule_id)
  if (state.status === 'REMOVED') return refusal('TERMINAL', { schedule_id, status: state.status })
  if (basis !== undefined && basis.expected_state_version !== state.state_version)
    return refusal('STALE_BASIS', { schedule_id, state_version: state.state_version })
  const status = nextStatus(state, to === 'PAUSED' ? 'PAUSED' : 'RESUMED')
  if (status === undefined) return refusal('ILLEGAL_TRANSITION', { schedule_id, status: state.status })
  if (to === 'ACTIVE' && !definition.catch_up_on_resume && isOwedFull(state)) return tooMuchOwed(schedule_id)
  const changed = { ...state, status, ...statusChangedBy(payload) }
  if (to === 'PAUSED') putState(rows, { ...changed, paused_at: moment.at }, moment)
  // What was missed meanwhile is caught up with as after any other gap: the floor stays.
  else if (definition.catch_up_on_resume) putState(rows, { ...changed, paused_at: null }, moment)
  else {
    const owed = owedWith(state, definition, 'PAUSED', moment.at)
    const floor_at = Math.max(state.floor_at, moment.at)
    putState(rows, { ...changed, paused_at: null, enabled_at: moment.at, floor_at, owed }, moment)
  }
  return undefined
}
