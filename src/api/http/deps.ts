// What the API is given, and what its parts pass each other.

import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyServerOptions,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { AttemptDeps } from '../../commands/attempt.js'
import type { LogCounts } from '../../commands/logs.js'
import type { RunDeps } from '../../commands/run-request.js'
import type { Submit } from '../../commands/submit.js'
import type { Clock } from '../../core/time.js'
import type { Secrets } from '../../core/token.js'
import type { OidcVerifier } from '../../oidc/verifier.js'
import type { Current } from '../../readers/current.js'
import type { FreshDeps } from '../../readers/fresh.js'
import type { Reader } from '../../readers/reader.js'
import type { WorkerState } from '../../readers/why/worker.js'
import type { ApiMetrics } from '../../telemetry/api-metrics.js'
import type { ApiTypes } from './compilers.js'

/** `needed`: without it nothing can be answered. What is missing otherwise makes the process degraded, and is waited for. */
export type Readiness = { readonly name: string; readonly ok: boolean; readonly needed: boolean; readonly detail: string }

export type ApiDeps = Submit &
  AttemptDeps &
  RunDeps & {
    readonly version: string
    readonly reader: Reader
    readonly current: Current
    readonly clock: Clock
    readonly secrets: Secrets
    /** Each of them opens everything. None: whoever reaches the port may do everything (listeningFault keeps it on loopback). */
    readonly api_tokens: readonly string[]
    /** Names beside loopback that people and workers reach this API by. */
    readonly allowed_hosts: readonly string[]
    readonly rate_limit_per_minute: number
    /** Asked of each callback beside the token of its attempt; undefined: that token is enough. */
    readonly callback_proof?: OidcVerifier | undefined
    /** Options of pino, or false for silence. */
    readonly log: FastifyServerOptions['logger']
    readonly readiness: () => Promise<readonly Readiness[]>
    readonly metrics: Pick<ApiMetrics, 'text' | 'request'>
    readonly tail?: FreshDeps['tail']
    readonly onFresh?: FreshDeps['onFresh']
    /** Asks a worker for its health answer, to say why a task does not run; left out: no worker is asked. */
    readonly askWorker?: (worker_url: string) => Promise<WorkerState>
    /** Where people look at runs; without it answers name no page. */
    readonly ui_url?: string
  }

export type RouteDeps = ApiDeps & {
  readonly log_counts: LogCounts
  /** The OpenAPI document, made for the first who asks. */
  readonly document: () => Promise<object>
}

export type Api = FastifyInstance<RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression, FastifyBaseLogger, ApiTypes>

/** Whatever a route answers: headers are set alike on all. */
export type AnyReply = Pick<FastifyReply, 'header'>
