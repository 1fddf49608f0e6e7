// Pools: how full they are, the cap that holds, and commands that set a cap or take it away.

import { submitClaimed } from '../commands/claims.js'
import { poolDefinedDraft, poolRemovedDraft, removeProblem } from '../commands/pool.js'
import type { Problem } from '../commands/problem.js'
import { compareText } from '../core/order.js'
import { instantText } from '../core/time.js'
import type { Draft } from '../events/draft.js'
import { findPool } from '../readers/found.js'
import { describePool, listPools, type Pool, readPools } from '../readers/pools.js'
import type { View } from '../readers/reader.js'
import { countWaiting } from '../readers/waiting.js'
import { idempotencyHeader } from './contract/page.js'
import { pool, poolAccepted, poolListQuery, poolPage, poolParams, poolQuery, poolReadQuery, poolRemoved, poolSet } from './contract/pool.js'
import { claimOf, requestOf, waited } from './http/claimed.js'
import { readCursor, writeCursor } from './http/cursor.js'
import type { Api, RouteDeps } from './http/deps.js'
import { planned, viewFor } from './http/views.js'
import { orRefuse, problems } from './problems.js'

const TAGS = ['pools']

export function addPoolRoutes(app: Api, deps: RouteDeps): void {
  app.get(
    '/pools',
    {
      schema: {
        operationId: 'listPools',
        tags: TAGS,
        summary: 'Pools, by key: the workspace, those that assets name, locations, tags with a cap',
        querystring: poolListQuery,
        response: { 200: poolPage, ...problems() },
      },
    },
    async (request, reply) => {
      const { limit, cursor, waiting } = request.query
      const after = readCursor('pools', cursor, 1)?.[0]
      const view = await viewFor(deps, request.query, reply)
      const all = listPools(await readPools(view))
      const left = after === undefined ? all : all.filter(({ pool_key }) => compareText(pool_key, String(after)) > 0)
      const shown = left.slice(0, limit)
      const last = left.length > shown.length ? shown.at(-1) : undefined
      const counts = waiting === true ? await countWaiting(view, deps.clock.now()) : undefined
      return reply.code(200).send({
        pools: shown.map((each) => documentOf(each, counts)),
        next_cursor: last === undefined ? null : writeCursor('pools', [last.pool_key]),
      })
    },
  )
  app.get(
    '/pools/:pool_key',
    {
      schema: {
        operationId: 'getPool',
        tags: TAGS,
        summary: 'One pool',
        params: poolParams,
        querystring: poolReadQuery,
        response: { 200: pool, ...problems(404) },
      },
    },
    async (request, reply) => {
      const { pool_key } = request.params
      const view = await viewFor(deps, request.query, reply)
      const { pools } = orRefuse(await findPool(view, pool_key))
      const counts = request.query.waiting === true ? await countWaiting(view, deps.clock.now()) : undefined
      return reply.code(200).send(documentOf(describePool(pools, pool_key), counts))
    },
  )
  addPoolCommands(app, deps)
}

type Counts = Awaited<ReturnType<typeof countWaiting>>

function documentOf({ pool_key, kind, in_use, max_running, cap }: Pool, counts: Counts | undefined) {
  return {
    pool_key,
    kind,
    in_use,
    max_running,
    cap: cap === null ? null : { ...cap, set_at: cap.set_at === null ? null : instantText(cap.set_at) },
    waiting: counts === undefined || kind === 'TAG' ? null : (counts.get(pool_key) ?? 0),
  }
}

function addPoolCommands(app: Api, deps: RouteDeps): void {
  const common = { tags: TAGS, headers: idempotencyHeader, params: poolParams, querystring: poolQuery }
  app.route({
    method: 'PUT',
    url: '/pools/:pool_key',
    schema: {
      ...common,
      operationId: 'setPool',
      summary: 'Set the cap of a pool',
      description: 'It holds from the next turn on. A lower cap stops nothing that runs.',
      body: poolSet,
      response: { 202: poolAccepted, ...problems(422) },
    },
    handler: async (request, reply) => {
      const { body, query, params } = request
      const { pool_key } = params
      const { max_running } = body
      const accepted = await submitCap(deps, {
        claim: claimOf(request, 'PUT /pools/{pool_key}', body),
        request: requestOf(body, params),
        pool_key,
        max_running,
        draftOf: async (request_id) => poolDefinedDraft(pool_key, max_running, body, request_id),
        query,
      })
      return reply.code(202).send(accepted)
    },
  })
  app.route({
    method: 'DELETE',
    url: '/pools/:pool_key',
    schema: {
      ...common,
      operationId: 'removePool',
      summary: 'Take the cap of a pool away',
      description:
        'What held before it was set holds again: the slots of a location, the cap for each value of a tag, or none. global always has one.',
      body: poolRemoved,
      response: { 202: poolAccepted, ...problems(404, 409, 422) },
    },
    handler: async (request, reply) => {
      const { body, query, params } = request
      const { pool_key } = params
      const accepted = await submitCap(deps, {
        claim: claimOf(request, 'DELETE /pools/{pool_key}', body),
        request: requestOf(body, params),
        pool_key,
        max_running: null,
        draftOf: (request_id) =>
          planned<Draft>(
            deps,
            async (view: View | undefined) => (await removeProblem(view, pool_key)) ?? poolRemovedDraft(pool_key, body, request_id),
          ),
        query,
      })
      return reply.code(202).send(accepted)
    },
  })
}

type CapAsked = {
  readonly claim: ReturnType<typeof claimOf>
  readonly request: object
  readonly pool_key: string
  readonly max_running: number | null
  readonly draftOf: (request_id: string) => Promise<Draft | Problem>
  readonly query: { readonly wait?: boolean | undefined; readonly wait_ms?: number | undefined }
}

async function submitCap(deps: RouteDeps, { claim, request, pool_key, max_running, draftOf, query }: CapAsked) {
  const claimed = orRefuse(
    await submitClaimed(deps, claim, request, async (request_id) => {
      const draft = await draftOf(request_id)
      if ('problem' in draft) return draft
      return {
        drafts: [draft],
        source: 'servo/api',
        answerOf: ([event]) => ({ status: 202, body: { pool_key, max_running, accepted_event_id: event?.event_id } }),
      }
    }),
  )
  return waited<{ readonly pool_key: string; readonly max_running: number | null; readonly accepted_event_id: string }>(
    deps,
    claimed,
    query,
  )
}
