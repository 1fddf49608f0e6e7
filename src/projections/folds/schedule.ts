// The events of schedules. Definitions, states and names are in memory as a whole; ticks are looked up.

import type { EventOf } from '../../events/event.js'
import type { ScheduleEvent } from '../../events/schedule.js'
import type { ListReference } from '../../events/value.js'
import { listReferenceOf } from '../partition.js'
import { foldScheduleDefined, foldScheduleRemoved, foldScheduleStatusChanged } from '../schedule.js'
import { foldScheduleTicked, keysOfScheduleTicked } from '../schedule-tick.js'
import type { Entity, FoldsOf } from './event-fold.js'

const scheduleOf = ({ payload }: ScheduleEvent): Entity => ({ entity_kind: 'SCHEDULE', entity_id: payload.schedule_id })

export const SCHEDULE_FOLDS = {
  ScheduleDefined: { entity: scheduleOf, fold: foldScheduleDefined },
  ScheduleRemoved: { entity: scheduleOf, fold: foldScheduleRemoved },
  ScheduleStatusChanged: { entity: scheduleOf, fold: foldScheduleStatusChanged },
  ScheduleTicked: { entity: scheduleOf, keys: keysOfScheduleTicked, lists: listsOfTicked, fold: foldScheduleTicked },
} satisfies FoldsOf<ScheduleEvent>

function listsOfTicked({ payload: { assets, ticks } }: EventOf<'ScheduleTicked'>): readonly ListReference[] {
  const partitions = ticks.flatMap((tick) => listReferenceOf(tick.partitions))
  return 'list' in assets ? [assets.list, ...partitions] : partitions
}
