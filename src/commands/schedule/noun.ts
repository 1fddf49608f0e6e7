// Schedules, as a noun that is defined (commands/definitions).

import { definitionHash, deployedScheduleId, scheduleDefinedKey, scheduleRemovedKey, scheduleStatusKey } from '../../core/keys.js'
import { definitionIn } from '../../events/fields.js'
import { SCHEDULE_FIELDS, type ScheduleDefinition } from '../../events/schedule-definition.js'
import { findSchedule } from '../../readers/found.js'
import { readSchedules, type Schedule } from '../../readers/schedules.js'
import { by } from '../by.js'
import { defineNoun, type Entity, type StatusRequest } from '../definitions/noun.js'
import { isProblem } from '../problem.js'
import { scheduleFaults, scheduleWarnings } from './definition.js'

export const scheduleEntity = ({ definition, state }: Schedule): Entity<ScheduleDefinition> => {
  const { schedule_id, schedule_name, location_name, definition_version } = definition
  const { status, state_version, paused_at, status_changed_by, status_reason } = state
  return {
    id: schedule_id,
    name: schedule_name,
    definition: definitionIn(SCHEDULE_FIELDS, definition),
    location_name,
    definition_version,
    status,
    state_version,
    paused_at,
    status_changed_by,
    status_reason,
  }
}

export const SCHEDULE_NOUN = defineNoun<typeof SCHEDULE_FIELDS>({
  word: 'schedule',
  plural: 'schedules',
  id_member: 'schedule_id',
  name_member: 'schedule_name',
  fields: SCHEDULE_FIELDS,
  entities: async (view) => (await readSchedules(view)).map(scheduleEntity),
  async find(view, id_or_name) {
    const found = await findSchedule(view, id_or_name)
    return isProblem(found) ? found : scheduleEntity(found)
  },
  deployedId: deployedScheduleId,
  faults: scheduleFaults,
  warnings: scheduleWarnings,
  drafts: {
    defined: ({ id: schedule_id, name, location_name, definition, expected, asked }, request_id) => ({
      event_type: 'ScheduleDefined',
      idempotency_key: scheduleDefinedKey({ schedule_id }, request_id),
      basis: { expected_definition_version: expected },
      payload: {
        schedule_id,
        schedule_name: name,
        ...(location_name === undefined ? {} : { location_name }),
        definition_hash: definitionHash(definition),
        definition,
        ...by(asked),
      },
    }),
    removed: (schedule_id, asked, request_id) => ({
      event_type: 'ScheduleRemoved',
      idempotency_key: scheduleRemovedKey({ schedule_id }, request_id),
      payload: { schedule_id, ...by(asked) },
    }),
    statusChanged: scheduleStatusDraft,
  },
  sentences: {
    owned: 'Here it can be paused, resumed and triggered.',
    moved: 'it has ticked',
    resumed: 'fire again',
  },
})

/** For signals of its loop as well, which are appended unseen: what cannot be is refused by the fold. */
export function scheduleStatusDraft(schedule_id: string, asked: StatusRequest, request_id: string) {
  const { to, expected_state_version } = asked
  return {
    event_type: 'ScheduleStatusChanged' as const,
    idempotency_key: scheduleStatusKey({ schedule_id }, request_id),
    ...(expected_state_version === undefined ? {} : { basis: { expected_state_version } }),
    payload: { schedule_id, to, ...by(asked) },
  }
}
