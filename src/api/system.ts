// For whoever operates Servo: is it alive, is it ready, what does it count, what does it understand.

import { z } from 'zod'
import { problem } from '../commands/problem.js'
import { requireApiToken } from './http/principal.js'
import type { Api, RouteDeps } from './http/deps.js'
import { problems, RefusedError } from './problems.js'

const TAGS = ['system']
/** Probes come from machines that have no token, as often as they like. */
const OPEN = { rateLimit: false } as const

const health = z.object({ ok: z.boolean(), version: z.string() }).meta({ id: 'Health' })
const readiness = z
  .object({ ready: z.boolean(), checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })) })
  .meta({ id: 'Readiness' })

export function addSystemRoutes(app: Api, deps: RouteDeps): void {
  const { version } = deps
  app.get(
    '/healthz',
    {
      config: OPEN,
      schema: {
        operationId: 'getHealth',
        tags: TAGS,
        security: [],
        summary: 'The process answers',
        response: { 200: health, ...problems() },
      },
    },
    async (_request, reply) => reply.code(200).send({ ok: true, version }),
  )
  app.get(
    '/readyz',
    {
      config: OPEN,
      schema: {
        operationId: 'getReadiness',
        tags: TAGS,
        security: [],
        summary: 'What it needs is there',
        response: { 200: readiness, ...problems() },
      },
    },
    async (_request, reply) => {
      const checks = await deps.readiness()
      const missing = checks.filter(({ ok }) => !ok)
      if (missing.length > 0) {
        const detail = `Not ready: ${missing.map((check) => `${check.name}: ${check.detail}`).join(' ')}`
        throw new RefusedError(problem('not-ready', detail, { members: { checks } }))
      }
      return reply.code(200).send({ ready: true, checks })
    },
  )
  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'getMetrics',
        tags: TAGS,
        summary: 'What it counts, as Prometheus reads it',
        response: { 200: { description: 'Metrics.', content: { 'text/plain': { schema: z.string() } } }, ...problems() },
      },
    },
    async (request, reply) => {
      requireApiToken(request, deps.api_token)
      return reply
        .code(200)
        .type('text/plain; version=0.0.4; charset=utf-8')
        .send(await deps.metrics.text())
    },
  )
  app.get(
    '/openapi.json',
    {
      schema: {
        operationId: 'getOpenApi',
        tags: TAGS,
        security: [],
        summary: 'This document',
        response: { 200: z.record(z.string(), z.unknown()), ...problems() },
      },
    },
    async (_request, reply) => reply.code(200).send({ ...app.swagger() }),
  )
}
