// Why a task is not running, in words.

import { instantText } from '../core/time.js'
import { EXPLAINERS } from '../readers/why/explainers.js'
import { readOne, taskParams } from './contract/run.js'
import { taskWhy } from './contract/why.js'
import type { Api, RouteDeps } from './http/deps.js'
import { viewFor } from './http/views.js'
import { orRefuse, problems } from './problems.js'

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
      const view = await viewFor(deps, request.query, reply)
      const why = orRefuse(await EXPLAINERS.TASK(view, request.params, { now: deps.clock.now(), askWorker: deps.askWorker }))
      const { since_at, due_at, upstream, full_pools } = why
      return reply.code(200).send({
        run_id,
        task_key,
        ...why,
        since_at: textOf(since_at),
        due_at: textOf(due_at),
        upstream: [...upstream],
        full_pools: [...full_pools],
      })
    },
  )
}

const textOf = (at: number | null): string | null => (at === null ? null : instantText(at))
