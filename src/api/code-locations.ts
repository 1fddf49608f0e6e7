// Code locations, and deploys of them. A deploy is told what it changes before it changes anything, and what became of it
// after: two at once are one that wins whole, and one that is told.

import { type Claimed, submitClaimed } from '../commands/claims.js'
import { type DeployDiff, planDeploy } from '../commands/deploy.js'
import { readKeyChanges } from '../commands/deploy-keys.js'
import { unfoldable } from '../commands/foldable.js'
import { isProblem, type Problem, problem } from '../commands/problem.js'
import { DEPLOY_REQUEST_BYTES_MAX } from '../core/limits.js'
import { documentOf, readPage } from '../readers/document.js'
import { findLocation } from '../readers/found.js'
import { readBatchRefusal } from '../readers/wait.js'
import {
  codeLocation,
  deployAnswer,
  deployAsked,
  deployQuery,
  locationListQuery,
  locationPage,
  locationParams,
} from './contract/code-location.js'
import { idempotencyHeader } from './contract/page.js'
import { readOne } from './contract/run.js'
import { claimOf, outcomeOf, requestOf, waitMsOf } from './http/claimed.js'
import { readCursor, writeCursor } from './http/cursor.js'
import type { Api, RouteDeps } from './http/deps.js'
import { readFreshFor, viewFor } from './http/views.js'
import { orRefuse, problems, RefusedError } from './problems.js'

const TAGS = ['code locations']

export function addCodeLocationRoutes(app: Api, deps: RouteDeps): void {
  app.get(
    '/code-locations',
    {
      schema: {
        operationId: 'listCodeLocations',
        tags: TAGS,
        summary: 'Code locations, by name',
        querystring: locationListQuery,
        response: { 200: locationPage, ...problems() },
      },
    },
    async (request, reply) => {
      const { limit, cursor } = request.query
      const after = readCursor('code-locations', cursor, 1)
      const { documents, next } = await readPage(await viewFor(deps, request.query, reply), 'code_locations', { where: [], after, limit })
      const next_cursor = next === undefined ? null : writeCursor('code-locations', next)
      return reply.code(200).send({ code_locations: documents, next_cursor })
    },
  )
  app.get(
    '/code-locations/:location_name',
    {
      schema: {
        operationId: 'getCodeLocation',
        tags: TAGS,
        summary: 'One code location',
        params: locationParams,
        querystring: readOne,
        response: { 200: codeLocation, ...problems(404) },
      },
    },
    async (request, reply) => {
      const found = orRefuse(await findLocation(await viewFor(deps, request.query, reply), request.params.location_name))
      return reply.code(200).send(documentOf('code_locations', found.location))
    },
  )
  addDeploy(app, deps)
}

type DeployBody = {
  readonly dry_run: boolean
  readonly diff: DeployDiff
  readonly location_version: number
  readonly accepted_event_id?: string
}

function addDeploy(app: Api, deps: RouteDeps): void {
  app.post(
    '/code-locations/:location_name/deploy',
    {
      bodyLimit: DEPLOY_REQUEST_BYTES_MAX,
      schema: {
        operationId: 'deployCodeLocation',
        tags: TAGS,
        summary: 'Deploy a code location, whole',
        description:
          'What a deploy does not contain any more is removed. 202: it is accepted. 200: nothing was, because it is a dry run or changes nothing.',
        headers: idempotencyHeader,
        params: locationParams,
        querystring: deployQuery,
        body: deployAsked,
        response: { 200: deployAnswer, 202: deployAnswer, ...problems(409, 413, 422) },
      },
    },
    async (request, reply) => {
      const { body, query, params } = request
      const asked = { ...body, ...params }
      if (query.dry_run) {
        const [view, now] = [await freshView(deps), deps.appender.now()]
        const { diff, location_version } = orRefuse(await planDeploy(view, asked, { request_id: '', now }))
        const keys = await readKeyChanges(view, diff.changed, now)
        const changed = diff.changed.map((change) => {
          const partition_keys = keys.get(change.asset_key)
          return partition_keys === undefined ? change : { ...change, partition_keys }
        })
        return reply.code(200).send({ dry_run: true, diff: { ...diff, changed }, location_version })
      }
      const claimed = orRefuse(
        await submitClaimed(
          deps,
          claimOf(request, 'POST /code-locations/{location_name}/deploy', body),
          requestOf(body, params),
          async (request_id) => {
            const view = await freshView(deps)
            const plan = await planDeploy(view, asked, { request_id, now: deps.appender.now() })
            if (isProblem(plan)) return plan
            const { drafts, diff, location_version } = plan
            const notYet = unfoldable(view, drafts)
            if (notYet !== undefined) return notYet
            return {
              drafts,
              source: 'servo/deploy',
              answerOf: ([event]) => ({
                status: event === undefined ? 200 : 202,
                body: { dry_run: false, diff, location_version, ...(event === undefined ? {} : { accepted_event_id: event.event_id }) },
              }),
            }
          },
        ),
      )
      const answer = claimed.body as DeployBody
      if (answer.accepted_event_id === undefined) return reply.code(200).send(answer)
      const outcome = query.wait ? await outcomeOf(deps, claimed, waitMsOf(query)) : undefined
      if (outcome === undefined) return reply.code(202).send(answer)
      if (outcome.kind === 'refused') throw new RefusedError(await deployRefused(deps, claimed, outcome.sequence))
      const applied = outcome.kind === 'applied' ? 1 : 0
      return reply.code(202).send({ ...answer, location_version: answer.location_version + applied, outcome })
    },
  )
}

const freshView = async (deps: RouteDeps) => (await readFreshFor(deps)).view

/** The batch is refused whole: the reason is the one of the part that was wrong. */
async function deployRefused({ current }: RouteDeps, { events }: Claimed, sequence: number): Promise<Problem> {
  const view = await current.atLeast(sequence, 0)
  const refusal = view === undefined ? undefined : await readBatchRefusal(view, events)
  const { reason, detail } = refusal ?? { reason: 'STALE_LOCATION', detail: null }
  const named = (detail ?? {}) as Readonly<Record<string, unknown>>
  const members = { reason, ...named }
  if (reason === 'OWNED_ELSEWHERE') {
    const sentence = `${String(named['asset_key'])} belongs to the code location ${String(named['location_name'])}, which was deployed meanwhile.`
    return problem('conflict', `Nothing was deployed. ${sentence} Remove it there first, or give this one another key.`, { members })
  }
  if (reason === 'NAME_TAKEN') {
    const sentence = `The name ${String(named['schedule_name'])} belongs to the schedule ${String(named['schedule_id'])}, which got it meanwhile.`
    return problem('conflict', `Nothing was deployed. ${sentence} Choose another, or rename that one first.`, { members })
  }
  return problem(
    'conflict',
    `Nothing was deployed: somebody else deployed first${reason === 'STALE_LOCATION' ? '' : ` (${reason})`}. Look at the difference again, and deploy anew.`,
    { members },
  )
}
