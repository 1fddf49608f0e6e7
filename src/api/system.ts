// For whoever operates Servo: is it alive, is it ready, what does it count, what does it understand.

import { z } from 'zod'
import { problem } from '../commands/problem.js'
import type { Api, RouteDeps } from './http/deps.js'
import { hasApiToken, requireApiToken } from './http/principal.js'
import { problems, RefusedError } from './problems.js'

const TAGS = ['system']
/** Probes come from machines that have no token, as often as they like. */
const OPEN = { rateLimit: false } as const

const health = z.object({ ok: z.boolean(), version: z.string() }).meta({ id: 'Health' })
const check = z.object({
  name: z.string(),
  ok: z.boolean(),
  needed: z.boolean().meta({ description: 'false: what is asked for is accepted without it, and carried out when it is back.' }),
  detail: z.string().optional().meta({ description: 'For callers with the API token, where one is needed.' }),
})
const readiness = z
  .object({
    ready: z.boolean(),
    degraded: z.boolean().meta({ description: 'true: it answers, and something that it does not need is missing.' }),
    checks: z.array(check),
  })
  .meta({ id: 'Readiness' })

/** As often as they like, like OPEN: an operator must see what a flood of requests does. Only a wrong token counts, because its
 *  caller may be guessing one. */
const openToAllButGuesses = ({ api_tokens }: Pick<RouteDeps, 'api_tokens'>) => ({
  rateLimit: {
    allowList: (request: Parameters<typeof hasApiToken>[0]) =>
      request.headers.authorization === undefined || hasApiToken(request, api_tokens),
  },
})

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
      config: openToAllButGuesses(deps),
      schema: {
        operationId: 'getReadiness',
        tags: TAGS,
        security: [],
        summary: 'What it needs is there',
        description: '503 says what is missing. Details are for callers with the API token, where one is needed.',
        response: { 200: readiness, ...problems() },
      },
    },
    async (request, reply) => {
      const found = await deps.readiness()
      const isTold = hasApiToken(request, deps.api_tokens)
      const checks = found.map(({ name, ok, needed, detail }) => ({ name, ok, needed, ...(isTold ? { detail } : {}) }))
      const missing = found.filter(({ ok, needed }) => !ok && needed)
      if (missing.length > 0) {
        const why = isTold
          ? missing.map(({ name, detail }) => `${name}: ${detail}`).join(' ')
          : `${missing.map(({ name }) => name).join(', ')}. Ask with the API token for what is wrong.`
        throw new RefusedError(problem('not-ready', `Not ready: ${why}`, { members: { checks } }))
      }
      return reply.code(200).send({ ready: true, degraded: found.some(({ ok }) => !ok), checks })
    },
  )
  app.get(
    '/metrics',
    {
      config: openToAllButGuesses(deps),
      schema: {
        operationId: 'getMetrics',
        tags: TAGS,
        summary: 'What it counts, as Prometheus reads it',
        response: { 200: { description: 'Metrics.', content: { 'text/plain': { schema: z.string() } } }, ...problems() },
      },
    },
    async (request, reply) => {
      requireApiToken(request, deps.api_tokens)
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
    async (_request, reply) => reply.code(200).send({ ...(await deps.document()) }),
  )
}
