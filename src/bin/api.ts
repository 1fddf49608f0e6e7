// The API process: it appends what people and workers say, reads what turns have published, and pokes. It decides nothing,
// and works while Temporal does not.

import { createPoker } from '../activities/poke.js'
import { createApi } from '../api/app.js'
import { createCurrent } from '../readers/current.js'
import { createOldestUnfolded } from '../readers/oldest-unfolded.js'
import { createApiMetrics } from '../telemetry/api-metrics.js'
import { openGauges, readReadiness } from './api-health.js'
import { clockUntil } from './clock.js'
import type { ApiConfig } from './config.js'
import { openDeps, openPatientAppender, openReader } from './deps.js'
import { openVerifier } from './oidc-config.js'
import { onDemand } from './on-demand.js'
import { openTail } from './tail.js'
import { attributesOf, openTracing } from './tracing.js'
import { askWorker } from './worker-health.js'

type Api = { readonly url: string; readonly stop: () => Promise<void> }

type ApiOptions = {
  readonly log: (message: string) => void
  /** Where the line of each request goes; standard output where it is left out. */
  readonly request_log?: { readonly write: (line: string) => void } | undefined
  readonly version: string
}

export async function startApi(config: ApiConfig, { log, request_log, version }: ApiOptions): Promise<Api> {
  const { tenant_id, workspace_id } = config.workspace
  const scope = { tenant_id, workspace_id }
  const deps = await openDeps(config.workspace)
  const temporal = onDemand(async () => (await import('./api-temporal.js')).openApiTemporal(config.temporal, scope))
  const reader = openReader(deps, log)
  const metrics = createApiMetrics(() => readGauges())
  const tracing = await openTracing({ ...config, service_name: 'servo-api', attributes: attributesOf(scope), log })
  const closing = new AbortController()
  const closed = closing.signal
  const clock = clockUntil(deps.clock, closed)
  const appender = await openPatientAppender({ ...deps, clock, closed, tracing }, log, metrics.append)
  const current = createCurrent({ reader, clock: deps.clock })
  const poke = createPoker({ signal: async () => (await temporal.get()).signal(), clock, closed, log, onPoke: metrics.poke })
  const unfolded = createOldestUnfolded({ reader, clock: deps.clock, now: appender.now, onLate: () => poke('now') })
  const readGauges = openGauges({ reader, clock: deps.clock, now: appender.now, unfolded })
  // Read while the app is made, so that the first answer need not; where that fails, who asks is told.
  void current.latest().catch(() => undefined)
  const app = await createApi({
    ...deps,
    scope,
    appender,
    poke,
    executions: new Map(),
    start_logs: new Map(),
    reader,
    current,
    secrets: config.secrets,
    api_tokens: config.api_tokens,
    allowed_hosts: config.allowed_hosts,
    rate_limit_per_minute: config.rate_limit_per_minute,
    callback_proof: config.callback_oidc === undefined ? undefined : await openVerifier(config.callback_oidc, deps.clock),
    version,
    log: config.log_level === 'silent' ? false : { level: config.log_level, ...(request_log === undefined ? {} : { stream: request_log }) },
    readiness: async () =>
      (
        await Promise.all([readReadiness(current, appender, unfolded), temporal.get().then(async ({ readiness }) => [await readiness()])])
      ).flat(),
    metrics,
    tracing,
    tail: openTail(deps, reader, appender, log),
    onFresh: metrics.fresh,
    askWorker,
  })
  // Behind the first answer, because loading holds up all else for half a second; and not with the first poke, which would
  // come too late by that. Where it fails, who needs it is told.
  app.server.once('request', (_request, response) => response.once('close', () => void temporal.get().catch(() => undefined)))
  const url = await app.listen({ host: config.host, port: config.port })
  return {
    url,
    async stop() {
      await app.close()
      closing.abort()
      await (await temporal.made())?.close()
      await tracing?.close()
      await deps.close()
    },
  }
}
