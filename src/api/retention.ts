// How long the workspace keeps what: the settings that hold, a change of some of them, and what a change would do.

import { submitClaimed } from '../commands/claims.js'
import { isProblem } from '../commands/problem.js'
import { askedIn, noSetting, planRetentionChange } from '../commands/retention.js'
import { instantText } from '../core/time.js'
import type { Draft } from '../events/draft.js'
import type { AsOfReach, RetentionEffect } from '../readers/retention/effect.js'
import { foreseeChange } from '../readers/retention/foresee.js'
import { readSettings } from '../readers/retention/settings.js'
import { idempotencyHeader } from './contract/page.js'
import {
  retention,
  retentionAccepted,
  retentionDryRunQuery,
  retentionEffect,
  retentionPatch,
  retentionPatchQuery,
  retentionQuery,
} from './contract/retention.js'
import { claimOf, requestOf, waited } from './http/claimed.js'
import type { Api, RouteDeps } from './http/deps.js'
import { planned, viewFor } from './http/views.js'
import { orRefuse, problems, RefusedError } from './problems.js'

const TAGS = ['retention']

export function addRetentionRoutes(app: Api, deps: RouteDeps): void {
  app.get(
    '/retention',
    {
      schema: {
        operationId: 'getRetention',
        tags: TAGS,
        summary: 'How long the workspace keeps what, since when and by whom',
        querystring: retentionQuery,
        response: { 200: retention, ...problems() },
      },
    },
    async (request, reply) => {
      const view = await viewFor(deps, request.query, reply)
      const settings = await readSettings(view)
      return reply.code(200).send({
        settings: settings.map(({ changed_at, ...rest }) => ({ ...rest, changed_at: maybeText(changed_at) })),
      })
    },
  )
  app.get(
    '/retention/dry-run',
    {
      schema: {
        operationId: 'dryRunRetention',
        tags: TAGS,
        summary: 'What a change would do to what is there: rows, files, how far back as_of reaches',
        description: 'Nothing of it is kept. It counts rows, so it may take seconds in a large workspace.',
        querystring: retentionDryRunQuery,
        response: { 200: retentionEffect, ...problems() },
      },
    },
    async (request, reply) => {
      const asked = askedIn(request.query)
      if (Object.keys(asked).length === 0) throw new RefusedError(noSetting())
      const view = await viewFor(deps, request.query, reply)
      return reply.code(200).send(documentOf(await foreseeChange(deps.reader.tables, view, asked)))
    },
  )
  addChange(app, deps)
}

function addChange(app: Api, deps: RouteDeps): void {
  app.route({
    method: 'PATCH',
    url: '/retention',
    schema: {
      tags: TAGS,
      headers: idempotencyHeader,
      querystring: retentionPatchQuery,
      operationId: 'changeRetention',
      summary: 'Change how long the workspace keeps things: the settings that are given, and no others',
      description: 'It holds from the next turn on. What had expired by then does not come back.',
      body: retentionPatch,
      response: { 202: retentionAccepted, ...problems(422) },
    },
    handler: async (request, reply) => {
      const { body, query } = request
      const claimed = orRefuse(
        await submitClaimed(deps, claimOf(request, 'PATCH /retention', body), requestOf(body), async (request_id) => {
          const draft = await planned<Draft>(deps, async (view) => planRetentionChange(view, body, body, request_id))
          if (isProblem(draft)) return draft
          return {
            drafts: [draft],
            source: 'servo/api',
            answerOf: ([event]) => ({ status: 202, body: { settings: askedIn(body), accepted_event_id: event?.event_id } }),
          }
        }),
      )
      type Accepted = { readonly settings: ReturnType<typeof askedIn>; readonly accepted_event_id: string }
      return reply.code(202).send(await waited<Accepted>(deps, claimed, query))
    },
  })
}

const maybeText = (at: number | null): string | null => (at === null ? null : instantText(at))

function documentOf({ counted_at, expiring, moving, as_of, ...rest }: RetentionEffect) {
  const reach = ({ revisions, oldest_at }: AsOfReach) => ({ revisions, oldest_at: maybeText(oldest_at) })
  return {
    ...rest,
    counted_at: instantText(counted_at),
    changes: [...rest.changes],
    warnings: [...rest.warnings],
    expiring: expiring.map((effect) => ({
      ...effect,
      expired_before: instantText(effect.expired_before),
      would_expire_before: instantText(effect.would_expire_before),
    })),
    moving: moving.map((effect) => ({ ...effect, before: instantText(effect.before) })),
    as_of: as_of === null ? null : { now: reach(as_of.now), then: reach(as_of.then) },
  }
}
