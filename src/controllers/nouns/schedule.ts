// What schedules bring to the turn: decisions about their instants.

import { SCHEDULE_TALLY } from '../../projections/tallies/schedule.js'
import { nextScheduleAt } from '../schedule-due.js'
import { reconcileSchedules } from '../schedules.js'
import type { Noun } from './noun.js'

export const SCHEDULE = {
  reconcile: reconcileSchedules,
  wakeAt: ({ rows, now }) => nextScheduleAt(rows, now),
  changed: (rows) => [...rows.changesOf('schedule_definitions'), ...rows.changesOf('schedule_state')].map(({ after }) => after.schedule_id),
  tally: SCHEDULE_TALLY,
} satisfies Noun
