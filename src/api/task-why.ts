// Why a task is not running, in words.

import { instantText } from '../core/time.js'
import { loadWhy } from '../readers/why/load.js'
import { whyOf, workerToAsk } from '../readers/why/why.js'
import { readOne, taskParams } from './contract/run.js'
import { taskWhy } from './contract/why.js'
import type { Api, RouteDeps } from './http/deps.js'
import { viewFor } from './http/views.js'
import { problems } from './problems.js'
import { noRun, noTask } from './runs.js'

export function addWhyRoute(app: Api, deps: RouteDeps): void {
  app.get(
    '/runs/:run_id/tasks/:task_key/why',
    {
      schema: {
        operationId: 'whyTask',
        tags: ['runs'],
        summary: 'Why a task is not running',
        params: taskParams,
        querystring: readOne,
        response: { 200: taskWhy, ...problems(404) },
      },
    },
    async (request, reply) => {
      const { run_id, task_key } = request.params
      const now = deps.clock.now()
      const rows = await loadWhy(await viewFor(deps, request.query, reply), run_id, task_key, now)
      if (rows === 'no_run') throw noRun(run_id)
      if (rows === 'no_task') throw noTask(run_id, task_key)
      const worker_url = workerToAsk(rows, now)
      const worker = worker_url === undefined ? undefined : await deps.askWorker?.(worker_url)
      const { since_at, due_at, upstream, full_pools, ...said } = whyOf(rows, now, worker)
      return reply.code(200).send({
        run_id,
        task_key,
        state: rows.task?.state ?? null,
        ...said,
        since_at: textOf(since_at),
        due_at: textOf(due_at),
        upstream: [...upstream],
        full_pools: [...full_pools],
      })
    },
  )
}

const textOf = (at: number | null): string | null => (at === null ? null : instantText(at))
