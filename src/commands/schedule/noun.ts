// Schedules, as a noun that is defined (commands/definitions).

import { definitionIn } from '../../events/fields.js'
import { SCHEDULE_FIELDS, type ScheduleDefinition } from '../../events/schedule-definition.js'
import { SCHEDULE_READS, type Schedule } from '../../readers/schedules.js'
import { defineNoun, type Entity } from '../definitions/noun.js'
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
  event_label: 'Schedule',
  plural: 'schedules',
  id_member: 'schedule_id',
  name_member: 'schedule_name',
  fields: SCHEDULE_FIELDS,
  entities: async (view) => (await SCHEDULE_READS.readAll(view)).map(scheduleEntity),
  async find(view, id_or_name) {
    const found = await SCHEDULE_READS.find(view, id_or_name)
    return isProblem(found) ? found : scheduleEntity(found)
  },
  faults: scheduleFaults,
  warnings: scheduleWarnings,
  sentences: {
    owned: 'Here it can be paused, resumed and triggered.',
    moved: 'it has ticked',
    resumed: 'fire again',
  },
})
