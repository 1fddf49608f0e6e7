// Spans of what is asked of the API. A command begins a trace, or goes on with the caller's; a read is traced where its caller
// is, and so is what a worker says of an attempt. Who has no token begins nothing, because that is looked at before.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isProblem, type Problem } from '../../commands/problem.js'
import type { TokenClaims } from '../../core/token.js'
import { readTraceparent } from '../../core/traceparent.js'
import { type Span, type Tracing, within } from '../../telemetry/tracing.js'
import type { ApiDeps } from './deps.js'

type Hooks = Pick<FastifyInstance, 'addHook'>

/** After the body is read: what is called back when a socket has bytes is below no span. */
export function traceRequests(app: Hooks, { tracing, clock }: Pick<ApiDeps, 'tracing' | 'clock'>): void {
  if (tracing === undefined) return
  const spans = new WeakMap<FastifyRequest, Span>()
  app.addHook('preValidation', (request, reply, done) => {
    const { method, routeOptions, headers } = request
    const parent = traceparentIn(headers)
    if (method === 'GET' && parent === undefined) return done()
    const attributes = { 'http.request.method': method, 'http.route': routeOptions.url ?? '', 'servo.request_id': request.id }
    const at = clock.now() - reply.elapsedTime
    const span = tracing.start(`${method} ${routeOptions.url ?? ''}`, {
      kind: 'server',
      parent,
      is_root: parent === undefined,
      at,
      attributes,
    })
    spans.set(request, span)
    span.within(done)
  })
  app.addHook('onResponse', async (request, { statusCode }) => {
    const span = spans.get(request)
    span?.add({ 'http.response.status_code': statusCode })
    span?.end(statusCode >= 500 ? { fault: String(statusCode) } : {})
  })
}

export const traceparentIn = ({ traceparent }: FastifyRequest['headers']): string | undefined => readTraceparent(traceparent)

/** Beats and logs have no span: there is no bound to how many of them an attempt has. */
export async function inCallbackSpan<Answer extends object>(
  tracing: Tracing | undefined,
  callback: 'started' | 'completed',
  { claims, traceparent }: { readonly claims: TokenClaims; readonly traceparent: string | undefined },
  work: () => Promise<Answer | Problem>,
): Promise<Answer | Problem> {
  const parent = readTraceparent(traceparent)
  if (tracing === undefined || parent === undefined) return work()
  const { run_id, task_key, attempt } = claims
  const attributes = { 'servo.run_id': run_id, 'servo.task_key': task_key, 'servo.attempt': attempt }
  return within(tracing.start(`callback ${callback}`, { kind: 'server', parent, attributes }), async (span) => {
    const answer = await work()
    if (isProblem(answer)) span.add({ 'servo.problem': answer.problem })
    return answer
  })
}
