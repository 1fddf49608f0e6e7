// What happened to a run: its timeline, and what its attempts logged.

import { instantText } from '../core/time.js'
import { type FailedAttempt, findAttempt } from '../readers/attempts.js'
import { findRun } from '../readers/found.js'
import { readLogs } from '../readers/logs.js'
import { readAll } from '../readers/pages.js'
import type { View } from '../readers/reader.js'
import { type TimelineRows, timelineOf } from '../readers/run-timeline.js'
import { readRefusalsOfRun } from '../readers/runs.js'
import { logPage, logQuery, runParams, taskParams, timelinePage, timelineQuery } from './contract/run.js'
import { readCursor, writeCursor } from './http/cursor.js'
import type { Api, RouteDeps } from './http/deps.js'
import { viewFor } from './http/views.js'
import { orRefuse, problems } from './problems.js'

const TAGS = ['runs']

export function addRunHistoryRoutes(app: Api, deps: RouteDeps): void {
  app.get(
    '/runs/:run_id/events',
    {
      schema: {
        operationId: 'listRunEvents',
        tags: TAGS,
        summary: 'What happened to a run, oldest first',
        description:
          'Made of the rows of the run: of heartbeats the newest is there. Each attempt that did not succeed has its start and its end, with the error.',
        params: runParams,
        querystring: timelineQuery,
        response: { 200: timelinePage, ...problems(404) },
      },
    },
    async (request, reply) => {
      const { run_id } = request.params
      const { limit, cursor } = request.query
      // The history of a run only grows at its end, so a place in it is a number.
      const [skipped = 0] = readCursor('events', cursor, 1) ?? []
      const { view, run } = orRefuse(await findRun(await viewFor(deps, request.query, reply), run_id))
      const entries = timelineOf(await timelineRows(view, run))
      const end = Number(skipped) + limit
      const events = entries.slice(Number(skipped), end).map(({ at, ...entry }) => ({ ...entry, at: instantText(at) }))
      return reply.code(200).send({ events: events, next_cursor: end < entries.length ? writeCursor('events', [end]) : null })
    },
  )
  addLogRoute(app, deps)
}

async function timelineRows(view: View, run: TimelineRows['run']): Promise<TimelineRows> {
  const { run_id } = run
  const where = [{ column: 'run_id', is: '=', value: run_id }] as const
  const [tasks, outbox, failures, refusals] = await Promise.all([
    readAll(view, 'tasks', { where }),
    readAll(view, 'dispatch_outbox', { where }),
    readAll(view, 'failed_attempts', { where }),
    readRefusalsOfRun(view, run_id),
  ])
  return { run, tasks, outbox, failures, refusals }
}

function addLogRoute(app: Api, deps: RouteDeps): void {
  app.get(
    '/runs/:run_id/tasks/:task_key/logs',
    {
      schema: {
        operationId: 'readTaskLogs',
        tags: TAGS,
        summary: 'What an attempt logged',
        description: 'And how it ended, where it did not succeed.',
        params: taskParams,
        querystring: logQuery,
        response: { 200: logPage, ...problems(404) },
      },
    },
    async (request, reply) => {
      const { run_id, task_key } = request.params
      const { after, limit } = request.query
      const [chunk = 0, line = 0] = readCursor('logs', after, 2) ?? []
      const view = await viewFor(deps, request.query, reply)
      const { failure, ...found } = orRefuse(await findAttempt(view, { run_id, task_key, attempt: request.query.attempt }))
      const { lines, next, is_last } = await readLogs(
        deps.store,
        { run_id, ...found },
        { from: { chunk: Number(chunk), line: Number(line) }, limit },
      )
      const next_after = writeCursor('logs', [next.chunk, next.line])
      return reply
        .code(200)
        .send({ ...found, lines: lines as never, next_after, is_last, end: failure === undefined ? null : endOf(failure) })
    },
  )
}

type AttemptEnd = Pick<FailedAttempt, 'outcome' | 'reason' | 'error'> & { readonly finished_at: string }

const endOf = ({ outcome, reason, error, finished_at }: FailedAttempt): AttemptEnd => ({
  outcome,
  reason,
  error,
  finished_at: instantText(finished_at),
})
