// Schedules: what there is, how each stands, and what became of their instants.

import { scheduleDocument, tickDocument } from '../readers/schedule-document.js'
import { readNewestTicks, readRunsOfTicks, SCHEDULE_READS, type Schedule, scheduleFilter } from '../readers/schedules.js'
import { schedule, scheduleListQuery, schedulePage, scheduleParams, scheduleReadQuery } from './contract/schedule.js'
import { tickListQuery, tickPage } from './contract/schedule-tick.js'
import { addNounHistory, addNounReads } from './definitions/reads.js'
import type { Api, RouteDeps } from './http/deps.js'

export const SCHEDULE_TAGS = ['schedules']

const NOUN = {
  word: 'schedule',
  plural: 'schedules',
  label: 'Schedule',
  tags: SCHEDULE_TAGS,
  params: scheduleParams,
  find: SCHEDULE_READS.find,
} as const

export function addScheduleRoutes(app: Api, deps: RouteDeps): void {
  addNounReads<Schedule>(app, deps, {
    ...NOUN,
    list: {
      summary: 'Schedules, by name',
      query: scheduleListQuery,
      page: schedulePage,
      read: SCHEDULE_READS.readAll,
      filter: scheduleFilter,
    },
    show: {
      summary: 'One schedule, by id or by name',
      description: 'An id wins over a name that looks like it. A schedule that was removed is found by its id.',
      query: scheduleReadQuery,
      document: schedule,
    },
    placeOf: ({ definition: { schedule_name, schedule_id } }) => [schedule_name, schedule_id],
    documentOf: scheduleDocument,
  })
  addNounHistory(app, deps, NOUN, {
    member: 'ticks',
    operation: 'listScheduleTicks',
    summary: 'What became of the instants of a schedule, newest first',
    description:
      'A row for each instant that was to run, and one, with counts, for those of a decision that were skipped. As with runs, a page reads the ticks of the last hour that fit, then, where they are too few, those of a day, of a month, then all.',
    query: tickListQuery,
    page: tickPage,
    read: (view, { definition }: Schedule, filter, limit, after) => readNewestTicks(view, definition.schedule_id, filter, limit, after),
    placeOf: ({ scheduled_for, tick_id }) => [scheduled_for, tick_id],
    async documentsOf(view, rows, { definition }) {
      const runs = await readRunsOfTicks(view, rows)
      return rows.map((row) => tickDocument(row, runs.get(row.tick_id) ?? [], definition.timezone))
    },
  })
}
