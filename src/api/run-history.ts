// What happened to a run: its timeline, and what its attempts logged.

import { problem } from '../commands/problem.js'
import { instantText } from '../core/time.js'
import { type FailedAttempt, readFailure } from '../readers/attempts.js'
import { readLogs } from '../readers/logs.js'
import { readAll } from '../readers/pages.js'
import type { View } from '../readers/reader.js'
import { type TimelineRows, timelineOf } from '../readers/run-timeline.js'
import { readRefusalsOfRun } from '../readers/runs.js'
import { logPage, logQuery, runParams, taskParams, timelinePage, timelineQuery } from './contract/run.js'
import { readCursor, writeCursor } from './http/cursor.js'
import type { Api, RouteDeps } from './http/deps.js'
import { viewFor } from './http/views.js'
import { problems, RefusedError } from './problems.js'
import { noRun, noTask } from './runs.js'

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
      const view = await viewFor(deps, request.query, reply)
      const rows = view === undefined ? undefined : await timelineRows(view, run_id)
      if (rows === undefined) throw noRun(run_id)
      const entries = timelineOf(rows)
      const end = Number(skipped) + limit
      const events = entries.slice(Number(skipped), end).map(({ at, ...entry }) => ({ ...entry, at: instantText(at) }))
      return reply.code(200).send({ events: events, next_cursor: end < entries.length ? writeCursor('events', [end]) : null })
    },
  )
  addLogRoute(app, deps)
}

async function timelineRows(view: View, run_id: string): Promise<TimelineRows | undefined> {
  const run = await view.row('runs', [run_id])
  if (run === undefined) return undefined
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
      const { end, ...found } = await attemptOf(view, run_id, task_key, request.query.attempt)
      const { lines, next, is_last } = await readLogs(
        deps.store,
        { run_id, ...found },
        { from: { chunk: Number(chunk), line: Number(line) }, limit },
      )
      const next_after = writeCursor('logs', [next.chunk, next.line])
      return reply.code(200).send({ ...found, lines: lines as never, next_after, is_last, end })
    },
  )
}

type FoundAttempt = { readonly attempt: number; readonly attempt_id: string; readonly end: AttemptEnd | null }
type AttemptEnd = Pick<FailedAttempt, 'outcome' | 'reason' | 'error'> & { readonly finished_at: string }

async function attemptOf(view: View | undefined, run_id: string, task_key: string, asked: number | undefined): Promise<FoundAttempt> {
  const task = await view?.row('tasks', [run_id, task_key])
  if (view === undefined || task === undefined) throw noTask(run_id, task_key)
  const attempt = asked ?? Number(task['attempt'])
  const key = [run_id, task_key, attempt]
  const [failure, dispatch] = await Promise.all([readFailure(view, key), view.row('dispatch_outbox', key)])
  // The outbox forgets attempts after a while.
  const attempt_id = attempt === task['attempt'] ? task['attempt_id'] : (failure?.attempt_id ?? dispatch?.['attempt_id'])
  if (typeof attempt_id === 'string') return { attempt, attempt_id, end: failure === undefined ? null : endOf(failure) }
  throw new RefusedError(
    problem(
      'not-found',
      attempt === 0
        ? `${task_key} has no attempt yet, and so no log.`
        : `${task_key} has no attempt ${attempt}; the newest is ${String(task['attempt'])}.`,
    ),
  )
}

const endOf = ({ outcome, reason, error, finished_at }: FailedAttempt): AttemptEnd => ({
  outcome,
  reason,
  error,
  finished_at: instantText(finished_at),
})
