// The attempts of a run, with why each ended that did not succeed.

import { instantText } from '../core/time.js'
import { type Attempt, type AttemptPlace, readAttempts } from '../readers/attempts.js'
import { findRun, findTask } from '../readers/found.js'
import { attemptPage, attemptQuery } from './contract/attempt.js'
import { runParams } from './contract/run.js'
import { readCursor, writeCursor } from './http/cursor.js'
import type { Api, RouteDeps } from './http/deps.js'
import { viewFor } from './http/views.js'
import { orRefuse, problems } from './problems.js'

export function addRunAttemptRoutes(app: Api, deps: RouteDeps): void {
  app.get(
    '/runs/:run_id/attempts',
    {
      schema: {
        operationId: 'listAttempts',
        tags: ['runs'],
        summary: 'The attempts of a run, by task and number',
        description:
          'Each attempt that did not succeed, with its error and stack, whatever came of the next ones; and of each task the newest one. Of attempts that ended before this version of Servo, the newest of each task alone is there.',
        params: runParams,
        querystring: attemptQuery,
        response: { 200: attemptPage, ...problems(404) },
      },
    },
    async (request, reply) => {
      const { run_id } = request.params
      const { limit, cursor, task_key } = request.query
      const after = readCursor('attempts', cursor, 2) as AttemptPlace | undefined
      const { view } = orRefuse(await findRun(await viewFor(deps, request.query, reply), run_id))
      if (task_key !== undefined) orRefuse(await findTask(view, run_id, task_key))
      const { attempts, next } = await readAttempts(view, { run_id, task_key, after, limit })
      const next_cursor = next === undefined ? null : writeCursor('attempts', next)
      return reply.code(200).send({ attempts: attempts.map(documentOfAttempt), next_cursor })
    },
  )
}

const documentOfAttempt = ({ dispatched_at, started_at, finished_at, ...attempt }: Attempt) => ({
  ...attempt,
  dispatched_at: textOf(dispatched_at),
  started_at: textOf(started_at),
  finished_at: textOf(finished_at),
})

const textOf = (at: number | null): string | null => (at === null ? null : instantText(at))
