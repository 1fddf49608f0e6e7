// Run keys that two different requests asked for, and outcomes of whatever was appended.

import { readPage } from '../readers/document.js'
import { type Asked, waitForOutcome } from '../readers/wait.js'
import { conflictPage } from './contract/conflict.js'
import { outcomeQuery, outcomeResponse } from './contract/outcome.js'
import { timelineQuery } from './contract/run.js'
import { readCursor, writeCursor } from './http/cursor.js'
import type { Api, RouteDeps } from './http/deps.js'
import { viewFor } from './http/views.js'
import { problems } from './problems.js'

export function addConflictRoutes(app: Api, deps: RouteDeps): void {
  app.get(
    '/run-key-conflicts',
    {
      schema: {
        operationId: 'listRunKeyConflicts',
        tags: ['runs'],
        summary: 'Requests whose run key belongs to another request, by run key',
        querystring: timelineQuery,
        response: { 200: conflictPage, ...problems() },
      },
    },
    async (request, reply) => {
      const { limit, cursor } = request.query
      const after = readCursor('conflicts', cursor, 2)
      const view = await viewFor(deps, request.query, reply)
      const { documents, next } = await readPage(view, 'run_key_conflicts', { where: [], after, limit })
      return reply.code(200).send({ conflicts: documents, next_cursor: next === undefined ? null : writeCursor('conflicts', next) })
    },
  )
  app.get(
    '/outcomes',
    {
      schema: {
        operationId: 'getOutcome',
        tags: ['events'],
        summary: 'What became of an event',
        querystring: outcomeQuery,
        response: { 200: outcomeResponse, ...problems() },
      },
    },
    async (request, reply) => {
      const { wait_ms, idempotency_key, event_id } = request.query
      const asked = {
        ...(idempotency_key === undefined ? {} : { idempotency_key }),
        ...(event_id === undefined ? {} : { event_id }),
      } as Asked
      const poke = () => deps.poke('now')
      const outcome = await waitForOutcome({ reader: deps.current, clock: deps.clock, poke }, asked, wait_ms)
      return reply.code(200).send({ outcome })
    },
  )
}
