// Running again what a run that is over selected: all of it, or what did not succeed.

import { submitClaimed } from '../commands/claims.js'
import { isProblem } from '../commands/problem.js'
import { planRerun } from '../commands/rerun/rerun.js'
import { findRun } from '../readers/found.js'
import { idempotencyHeader } from './contract/page.js'
import { rerunAsked, runAccepted, runParams, runQuery } from './contract/run.js'
import { claimOf, requestOf } from './http/claimed.js'
import type { Api, RouteDeps } from './http/deps.js'
import { planned } from './http/views.js'
import { orRefuse, problems } from './problems.js'
import { acceptedRun, runPlan } from './runs.js'

const ROUTE = 'POST /runs/{run_id}/rerun'

export function addRerunRoutes(app: Api, deps: RouteDeps): void {
  app.post(
    '/runs/:run_id/rerun',
    {
      schema: {
        operationId: 'rerunRun',
        tags: ['runs'],
        summary: 'Ask for a run that is over to be run again',
        description:
          'A new run with parent_run_id, by the definitions that are current now. From failure, it has of each asset the partitions of the tasks that did not succeed, and nothing that succeeded in the parent runs again; its `partitions` are those of all of its assets.',
        headers: idempotencyHeader,
        params: runParams,
        querystring: runQuery,
        body: rerunAsked,
        response: { 202: runAccepted, ...problems(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { body, params, query } = request
      const claimed = orRefuse(
        await submitClaimed(deps, claimOf(request, ROUTE, body), requestOf(body, params), async () => {
          const plan = await planned(deps, async (view) => {
            const found = await findRun(view, params.run_id)
            return isProblem(found) ? found : planRerun(deps, found, body, deps.appender.now())
          })
          return isProblem(plan) ? plan : runPlan(deps, plan)
        }),
      )
      return reply.code(202).send(await acceptedRun(deps, claimed, query))
    },
  )
}
