// Runs: asking for one, and looking at runs and their tasks.

import { type Claimed, type Plan, submitClaimed } from '../commands/claims.js'
import { isProblem, type Problem } from '../commands/problem.js'
import { planRunRequest, type RunPlanned, runKeyConflict } from '../commands/run-request.js'
import { instantMs } from '../core/time.js'
import { documentOf, readPage } from '../readers/document.js'
import { findRun, findTask } from '../readers/found.js'
import { runDocument, runDocuments } from '../readers/run-document.js'
import { readNewestRuns } from '../readers/runs.js'
import type { Outcome } from '../readers/wait.js'
import { idempotencyHeader } from './contract/page.js'
import {
  readOne,
  run,
  runAccepted,
  runAsked,
  runListQuery,
  runPage,
  runParams,
  runQuery,
  task,
  taskListQuery,
  taskPage,
  taskParams,
} from './contract/run.js'
import { claimOf, outcomeOf, requestOf, waitMsOf } from './http/claimed.js'
import { readCursor, writeCursor } from './http/cursor.js'
import type { Api, RouteDeps } from './http/deps.js'
import { planned, viewFor } from './http/views.js'
import { orRefuse, problems, RefusedError } from './problems.js'
import { openRunFilter } from './run-filter.js'

const TAGS = ['runs']

export function addRunRoutes(app: Api, deps: RouteDeps): void {
  app.post(
    '/runs',
    {
      schema: {
        operationId: 'requestRun',
        tags: TAGS,
        summary: 'Ask for a run',
        headers: idempotencyHeader,
        querystring: runQuery,
        body: runAsked,
        response: { 202: runAccepted, ...problems(409, 413, 422) },
      },
    },
    async (request, reply) => {
      const { body, query } = request
      const claimed = orRefuse(
        await submitClaimed(deps, claimOf(request, 'POST /runs', body), requestOf(body), async (request_id) => {
          const plan = await planned(deps, (view) => planRunRequest(deps, view, body, { request_id, now: deps.appender.now() }))
          return isProblem(plan) ? plan : runPlan(deps, plan)
        }),
      )
      return reply.code(202).send(await acceptedRun(deps, claimed, query))
    },
  )
  addRunLists(app, deps)
  addTaskRoutes(app, deps)
}

/** What is answered to a request for a run, once it is claimed. */
export async function acceptedRun(
  deps: RouteDeps,
  claimed: Claimed,
  query: { readonly wait?: boolean | undefined; readonly wait_ms?: number | undefined },
): Promise<RunBody & { readonly outcome?: Outcome }> {
  // The conflict was recorded: whoever waits learns no more than this.
  if (claimed.status !== 202) throw new RefusedError(claimed.body as Problem)
  const accepted = claimed.body as RunBody
  if (query.wait !== true) return accepted
  const outcome = await outcomeOf(deps, claimed, waitMsOf(query))
  const holder = holderOf(outcome)
  if (holder !== undefined) throw new RefusedError(runKeyConflict(accepted.run_key, holder))
  return { ...accepted, ...(outcome === undefined ? {} : { outcome }) }
}

type RunBody = { readonly run_id: string; readonly run_key: string; readonly accepted_event_id: string; readonly asset_count: number }

export function runPlan({ ui_url }: RouteDeps, { drafts, run_id, run_key, asset_count, conflict }: RunPlanned): Plan {
  const ui = ui_url === undefined ? {} : { ui: `${ui_url}/runs/${run_id}` }
  return {
    drafts,
    source: 'servo/api',
    answerOf: (events) =>
      conflict === undefined
        ? { status: 202, body: { run_id, run_key, accepted_event_id: events.at(-1)?.event_id, asset_count, ...ui } }
        : { status: 409, body: conflict },
  }
}

/** The run that had the key before this request was folded. */
function holderOf(outcome: Outcome | undefined): string | undefined {
  if (outcome?.kind !== 'refused' || outcome.reason !== 'RUN_KEY_CONFLICT') return undefined
  return String((outcome.detail as { readonly run_id?: unknown }).run_id)
}

function addRunLists(app: Api, deps: RouteDeps): void {
  app.get(
    '/runs',
    {
      schema: {
        operationId: 'listRuns',
        tags: TAGS,
        summary: 'Runs, newest first',
        description:
          'Rows are kept by run_id, which says nothing of time: a page reads the runs of the last hour that fit, then, where they are too few, those of a day, of a month, then all. `from` bounds what it costs.',
        querystring: runListQuery,
        response: { 200: runPage, ...problems() },
      },
    },
    async (request, reply) => {
      const { limit, cursor, state, ...filter } = request.query
      const after = readCursor('runs', cursor, 2)
      const place = after === undefined ? undefined : { at_ms: Number(after[0]), id: String(after[1]) }
      const view = await viewFor(deps, request.query, reply)
      const states = state === undefined ? undefined : [state]
      const { rows, more } = await readNewestRuns(view, { ...(await openRunFilter(view, filter)), states }, limit, place)
      const runs = view === undefined ? [] : await runDocuments(view, rows)
      const last = runs.at(-1)
      const next_cursor = more && last !== undefined ? writeCursor('runs', [instantMs(last.requested_at), last.run_id]) : null
      return reply.code(200).send({ runs, next_cursor })
    },
  )
  app.get(
    '/runs/:run_id',
    {
      schema: {
        operationId: 'getRun',
        tags: TAGS,
        summary: 'One run',
        params: runParams,
        querystring: readOne,
        response: { 200: run, ...problems(404) },
      },
    },
    async (request, reply) => {
      const found = orRefuse(await findRun(await viewFor(deps, request.query, reply), request.params.run_id))
      return reply.code(200).send(await runDocument(found.view, found.run))
    },
  )
}

function addTaskRoutes(app: Api, deps: RouteDeps): void {
  app.get(
    '/runs/:run_id/tasks',
    {
      schema: {
        operationId: 'listTasks',
        tags: TAGS,
        summary: 'The tasks of a run, by key',
        params: runParams,
        querystring: taskListQuery,
        response: { 200: taskPage, ...problems(404) },
      },
    },
    async (request, reply) => {
      const { run_id } = request.params
      const { limit, cursor, state } = request.query
      const after = readCursor('tasks', cursor, 2)
      const { view } = orRefuse(await findRun(await viewFor(deps, request.query, reply), run_id))
      const where = [
        { column: 'run_id', is: '=', value: run_id } as const,
        ...(state === undefined ? [] : [{ column: 'state', is: '=', value: state } as const]),
      ]
      const { documents, next } = await readPage(view, 'tasks', { where, after, limit })
      return reply.code(200).send({ tasks: documents, next_cursor: next === undefined ? null : writeCursor('tasks', next) })
    },
  )
  app.get(
    '/runs/:run_id/tasks/:task_key',
    {
      schema: {
        operationId: 'getTask',
        tags: TAGS,
        summary: 'One task',
        params: taskParams,
        querystring: readOne,
        response: { 200: task, ...problems(404) },
      },
    },
    async (request, reply) => {
      const { run_id, task_key } = request.params
      const found = orRefuse(await findTask(await viewFor(deps, request.query, reply), run_id, task_key))
      return reply.code(200).send(documentOf('tasks', found.task))
    },
  )
}
