import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { type AttemptDeps, sayAlive, sayCompleted, sayStarted } from '../commands/attempt.js'
import { type DeployAsked, planDeploy } from '../commands/deploy.js'
import { isProblem, type Problem } from '../commands/problem.js'
import { planRunRequest, type RunAsked, type RunDeps } from '../commands/run-request.js'
import { submitDrafts } from '../commands/submit.js'
import { newUlid } from '../core/ulid.js'
import { readToken, type TokenClaims } from '../core/token.js'
import type { Reader } from '../readers/reader.js'
import { completedRequest, heartbeatRequest, startedRequest } from './contract/worker.js'

export type ApiDeps = AttemptDeps &
  RunDeps & {
    readonly version: string
    readonly reader: Reader
    readonly api_token: string | undefined
    readonly rate_limit_per_minute: number
    readonly log: false | object
    readonly readiness: () => Promise<readonly { name: string; ok: boolean; detail: string }[]>
    readonly metrics: () => Promise<string>
  }
const STATUS: Record<string, number> = {
  'bad-input': 400,
  'not-found': 404,
  conflict: 409,
  'run-key-conflict': 409,
  'attempt-over': 409,
  unauthorized: 401,
  'too-large': 413,
  'key-reused': 422,
  'not-ready': 503,
}

export async function createApi(deps: ApiDeps): Promise<FastifyInstance> {
  const app = Fastify({ bodyLimit: 8 << 20 })
  const send = (reply: FastifyReply, answer: object, ok = 200) => {
    if (!isProblem(answer)) return reply.code(ok).send(answer)
    const p = answer as Problem
    return reply
      .code(STATUS[p.problem] ?? 500)
      .type('application/problem+json')
      .send({ title: p.problem, detail: p.detail, status: STATUS[p.problem], errors: p.faults })
  }
  const P = '/api/v1/orchestration'
  const claimsOf = (header: string | undefined): TokenClaims | Problem => {
    const answer = readToken(deps.secrets, (header ?? '').replace(/^Bearer /, ''), deps.appender.now())
    return answer.kind === 'valid' ? answer.claims : { problem: 'unauthorized', detail: answer.problem }
  }
  app.post(`${P}/attempts/:id/started`, async (q, r) => {
    const claims = claimsOf(q.headers.authorization)
    return send(r, isProblem(claims) ? claims : await sayStarted(deps, claims, startedRequest.parse(q.body)))
  })
  app.post(`${P}/attempts/:id/heartbeat`, async (q, r) => {
    const claims = claimsOf(q.headers.authorization)
    return send(r, isProblem(claims) ? claims : await sayAlive(deps, claims, heartbeatRequest.parse(q.body) as never))
  })
  app.post(`${P}/attempts/:id/completed`, async (q, r) => {
    const claims = claimsOf(q.headers.authorization)
    return send(r, isProblem(claims) ? claims : await sayCompleted(deps, claims, completedRequest.parse(q.body) as never))
  })
  app.post(`${P}/attempts/:id/logs`, async (_q, r) => r.send({ bytes_left: 1_000_000 }))
  app.post(`${P}/runs`, async (q, r) => {
    const view = await deps.current.latest()
    if (view === undefined) return send(r, { problem: 'not-ready', detail: 'no revision' })
    const planned = await planRunRequest(deps, view, q.body as RunAsked, newUlid(deps.appender.now(), deps.random))
    if (isProblem(planned)) return send(r, planned)
    const { events } = await submitDrafts(deps, [planned.draft], 'servo/api')
    return r.code(202).send({ run_id: planned.run_id, run_key: planned.run_key, accepted_event_id: events[0]?.event_id })
  })
  app.get(`${P}/runs/:id`, async (q, r) => {
    const view = await deps.current.latest()
    const row = await view?.row('runs', [(q.params as { id: string }).id])
    return row === undefined ? send(r, { problem: 'not-found', detail: 'no run' }) : r.send(row)
  })
  app.post(`${P}/code-locations/:name/deploy`, async (q, r) => {
    const view = await deps.current.latest()
    const planned = await planDeploy(
      view,
      { ...(q.body as DeployAsked), location_name: (q.params as { name: string }).name },
      newUlid(deps.appender.now(), deps.random),
    )
    if (isProblem(planned)) return send(r, planned)
    if (planned.drafts.length > 0) await submitDrafts(deps, planned.drafts, 'servo/deploy')
    return r.send(planned)
  })
  app.get('/readyz', async (_q, r) => {
    const checks = await deps.readiness()
    return r.code(checks.every((c) => c.ok) ? 200 : 503).send({ checks })
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
  return app
}
