// Cancelling: one run by its id, or the open runs that fit a filter, in one batch.

import { cancelDraft, cancelProblem } from '../commands/cancel.js'
import { submitClaimed } from '../commands/claims.js'
import { isProblem } from '../commands/problem.js'
import { CANCELLED_RUNS_MAX } from '../core/limits.js'
import { findRun } from '../readers/found.js'
import { readNewestRuns } from '../readers/runs.js'
import { idempotencyHeader } from './contract/page.js'
import { cancelAccepted, cancelAsked, cancelManyAccepted, cancelManyAsked, runParams, runQuery } from './contract/run.js'
import { claimOf, outcomeOf, requestOf, waitMsOf } from './http/claimed.js'
import type { Api, RouteDeps } from './http/deps.js'
import { planned, readFreshFor } from './http/views.js'
import { orRefuse, problems } from './problems.js'
import { openRunFilter } from './run-filter.js'

const TAGS = ['runs']
/** A run that is being cancelled already needs no second request. */
const CANCELLABLE = ['PENDING', 'PLANNED', 'RUNNING'] as const

export function addCancelRoutes(app: Api, deps: RouteDeps): void {
  app.post(
    '/runs/:run_id/cancel',
    {
      schema: {
        operationId: 'cancelRun',
        tags: TAGS,
        summary: 'Ask for a run to be cancelled',
        headers: idempotencyHeader,
        params: runParams,
        querystring: runQuery,
        body: cancelAsked,
        response: { 202: cancelAccepted, ...problems(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { body, query, params } = request
      const { run_id } = params
      const claimed = orRefuse(
        await submitClaimed(deps, claimOf(request, 'POST /runs/{run_id}/cancel', body), requestOf(body, params), (request_id) =>
          planned(deps, async (view) => {
            const found = await findRun(view, run_id)
            if (isProblem(found)) return found
            const refused = cancelProblem(found.run)
            if (refused !== undefined) return refused
            return {
              drafts: [cancelDraft(run_id, body, request_id)],
              source: 'servo/api',
              answerOf: ([event]) => ({ status: 202, body: { run_id, accepted_event_id: event?.event_id } }),
            }
          }),
        ),
      )
      const accepted = claimed.body as { readonly run_id: string; readonly accepted_event_id: string }
      const outcome = query.wait === true ? await outcomeOf(deps, claimed, waitMsOf(query)) : undefined
      return reply.code(202).send({ ...accepted, ...(outcome === undefined ? {} : { outcome }) })
    },
  )
  addCancelMany(app, deps)
}

type CancelledMany = {
  readonly run_ids: readonly string[]
  readonly matched_count: number
  readonly more: boolean
  readonly accepted_event_id?: string
}

function addCancelMany(app: Api, deps: RouteDeps): void {
  app.post(
    '/runs/cancel',
    {
      schema: {
        operationId: 'cancelRuns',
        tags: TAGS,
        summary: 'Ask for all open runs that fit to be cancelled',
        description: `At most ${CANCELLED_RUNS_MAX} a call, the newest first: \`more\` says whether to ask again.`,
        headers: idempotencyHeader,
        querystring: runQuery,
        body: cancelManyAsked,
        response: { 202: cancelManyAccepted, ...problems(422) },
      },
    },
    async (request, reply) => {
      const { body, query } = request
      const claimed = orRefuse(
        await submitClaimed(deps, claimOf(request, 'POST /runs/cancel', body), requestOf(body), async (request_id) => {
          const { state, ...filter } = body.filter
          // What was asked for a moment ago is meant too.
          const { view } = await readFreshFor(deps)
          const states = state === undefined ? CANCELLABLE : [state]
          const { rows, more } = await readNewestRuns(view, { ...(await openRunFilter(view, filter)), states }, CANCELLED_RUNS_MAX)
          const run_ids = rows.map(({ run_id }) => run_id)
          return {
            drafts: run_ids.map((run_id) => cancelDraft(run_id, body, request_id)),
            source: 'servo/api',
            answerOf: ([event]) => ({
              status: 202,
              body: {
                run_ids,
                matched_count: run_ids.length,
                more,
                ...(event === undefined ? {} : { accepted_event_id: event.event_id }),
              },
            }),
          }
        }),
      )
      // They are one batch, which is folded within one revision: when the first is, all are.
      const outcome = query.wait === true ? await outcomeOf(deps, claimed, waitMsOf(query)) : undefined
      return reply.code(202).send({ ...(claimed.body as CancelledMany), ...(outcome === undefined ? {} : { outcome }) })
    },
  )
}
