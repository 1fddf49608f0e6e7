// Schedules: what there is, how each stands, and what became of their instants.

import { scheduleOrProblem } from '../commands/schedule/target.js'
import { compareText } from '../core/order.js'
import { scheduleDocument, tickDocument } from '../readers/schedule-document.js'
import { readNewestTicks, readRunsOfTicks, readSchedules, type Schedule, scheduleFilter } from '../readers/schedules.js'
import { schedule, scheduleListQuery, schedulePage, scheduleParams, scheduleReadQuery } from './contract/schedule.js'
import { tickListQuery, tickPage } from './contract/schedule-tick.js'
import { readCursor, writeCursor } from './http/cursor.js'
import type { Api, RouteDeps } from './http/deps.js'
import { viewFor } from './http/views.js'
import { orRefuse, problems } from './problems.js'

export const SCHEDULE_TAGS = ['schedules']

export function addScheduleRoutes(app: Api, deps: RouteDeps): void {
  app.get(
    '/schedules',
    {
      schema: {
        operationId: 'listSchedules',
        tags: SCHEDULE_TAGS,
        summary: 'Schedules, by name',
        querystring: scheduleListQuery,
        response: { 200: schedulePage, ...problems() },
      },
    },
    async (request, reply) => {
      const { limit, cursor, ...filter } = request.query
      const after = readCursor('schedules', cursor, 2)
      const view = await viewFor(deps, request.query, reply)
      const fits = await scheduleFilter(view, filter)
      const left = (await readSchedules(view)).filter((each) => fits(each) && (after === undefined || isAfter(each, after)))
      const shown = left.slice(0, limit)
      const last = left.length > shown.length ? shown.at(-1)?.definition : undefined
      const now = deps.clock.now()
      return reply.code(200).send({
        schedules: shown.map((each) => scheduleDocument(each, now)),
        next_cursor: last === undefined ? null : writeCursor('schedules', [last.schedule_name, last.schedule_id]),
      })
    },
  )
  app.get(
    '/schedules/:schedule',
    {
      schema: {
        operationId: 'getSchedule',
        tags: SCHEDULE_TAGS,
        summary: 'One schedule, by id or by name',
        description: 'An id wins over a name that looks like it. A schedule that was removed is found by its id.',
        params: scheduleParams,
        querystring: scheduleReadQuery,
        response: { 200: schedule, ...problems(404) },
      },
    },
    async (request, reply) => {
      const view = await viewFor(deps, request.query, reply)
      const found = orRefuse(await scheduleOrProblem(view, request.params.schedule))
      return reply.code(200).send(scheduleDocument(found, deps.clock.now()))
    },
  )
  addTickRoute(app, deps)
}

const isAfter = ({ definition }: Schedule, [name, id]: readonly (string | number)[]): boolean =>
  (compareText(definition.schedule_name, String(name)) || compareText(definition.schedule_id, String(id))) > 0

function addTickRoute(app: Api, deps: RouteDeps): void {
  app.get(
    '/schedules/:schedule/ticks',
    {
      schema: {
        operationId: 'listScheduleTicks',
        tags: SCHEDULE_TAGS,
        summary: 'What became of the instants of a schedule, newest first',
        description:
          'A row for each instant that was to run, and one, with counts, for those of a decision that were skipped. As with runs, a page reads the ticks of the last hour that fit, then, where they are too few, those of a day, of a month, then all.',
        params: scheduleParams,
        querystring: tickListQuery,
        response: { 200: tickPage, ...problems(404) },
      },
    },
    async (request, reply) => {
      const { limit, cursor, ...filter } = request.query
      const after = readCursor('ticks', cursor, 2)
      const place = after === undefined ? undefined : { at_ms: Number(after[0]), id: String(after[1]) }
      const view = await viewFor(deps, request.query, reply)
      const { definition } = orRefuse(await scheduleOrProblem(view, request.params.schedule))
      const { rows, more } = await readNewestTicks(view, definition.schedule_id, filter, limit, place)
      const runs = await readRunsOfTicks(view, rows)
      const last = rows.at(-1)
      return reply.code(200).send({
        ticks: rows.map((row) => tickDocument(row, runs.get(row.tick_id) ?? [], definition.timezone)),
        next_cursor: more && last !== undefined ? writeCursor('ticks', [last.scheduled_for, last.tick_id]) : null,
      })
    },
  )
}
