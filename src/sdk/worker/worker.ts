// A worker: serves the assets of one code location over HTTP, and tells the API what becomes of each attempt.

import { once, setMaxListeners } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { WorkerHealth } from '../../api/contract/worker.js'
import { prefetchOf } from '../../core/limits.js'
import type { Secret } from '../../core/run-id.js'
import { MINUTE_MS, SECOND_MS } from '../../core/time.js'
import type { RandomBytes } from '../../core/ulid.js'
import type { Identity } from '../../oidc/identity.js'
import type { OidcVerifier } from '../../oidc/verifier.js'
import type { Tracing } from '../../telemetry/tracing.js'
import type { CodeLocation } from '../code-location.js'
import { startAttempt, type WorkerClock } from './attempt.js'
import { type CallbackLine, createCallbackLine } from './callback-line.js'
import { deliver } from './delivery.js'
import { createWorkerMetrics } from './metrics.js'
import { refuseAttempt } from './refusal.js'
import { createRoster } from './roster.js'
import { createWorkerServer } from './server.js'

export type WorkerOptions = {
  readonly location: CodeLocation
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** Attempts whose code runs at the same time. */
  readonly slots: number
  /** Attempts that it keeps beyond them until a slot is free; 0: none, so that each waits for a publish. */
  readonly prefetch?: number
  /** Those of the location, by which dispatches are verified; none: whoever reaches the port may dispatch. */
  readonly secrets: readonly Secret[]
  /** The API that attempts are reported to, by each URL that the automation may name. */
  readonly api_urls: readonly string[]
  /** Names beside loopback that a worker without secrets is called by. */
  readonly allowed_hosts?: readonly string[]
  /** Who may deliver; undefined: no token is asked for. */
  readonly proof?: OidcVerifier | undefined
  /** The token that callbacks carry beside that of their attempt; undefined: none. */
  readonly identity?: Identity | undefined
  /** Why newer code than that of `location` could not be loaded; undefined: what is served is the newest. */
  readonly codeProblem?: () => string | undefined
  readonly worker_id: string
  /** For `/metrics`, so that people see which version each worker runs. */
  readonly version?: string
  readonly clock: WorkerClock
  readonly random: RandomBytes
  readonly log: (message: string) => void
  /** How long a drain lets code finish, and how long code has after it was told to stop. */
  readonly grace_ms?: number
  readonly stop_grace_ms?: number
  readonly call_timeout_ms?: number
  readonly completed_within_ms?: number
  readonly tracing?: Tracing | undefined
}

export type Worker = {
  readonly url: string
  /** Takes nothing new, lets what runs finish within the grace, reports the rest as cancelled, and closes. */
  readonly drain: () => Promise<void>
  /** At once: what runs is told to stop, and nothing is reported. */
  readonly close: () => Promise<void>
}

const GRACE_MS = 30 * SECOND_MS
const STOP_GRACE_MS = 5 * SECOND_MS
const CALL_TIMEOUT_MS = 15 * SECOND_MS
const COMPLETED_WITHIN_MS = 2 * MINUTE_MS

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { location, clock, slots, host, port, log, secrets, api_urls, allowed_hosts = [] } = options
  const { call_timeout_ms = CALL_TIMEOUT_MS, completed_within_ms = COMPLETED_WITHIN_MS } = options
  const { grace_ms = GRACE_MS, stop_grace_ms = STOP_GRACE_MS } = options
  const closed = new AbortController()
  // Each attempt and each call listens, as many as there are slots.
  setMaxListeners(0, closed.signal)
  const lines = new Map<string, CallbackLine>()
  const lineTo = (callbacks_url: string | undefined): CallbackLine | undefined => {
    if (callbacks_url === undefined) return undefined
    const line =
      lines.get(callbacks_url) ?? createCallbackLine(callbacks_url, { call_timeout_ms, closed: closed.signal, identity: options.identity })
    lines.set(callbacks_url, line)
    return line
  }
  const metrics = createWorkerMetrics(options.version ?? 'unknown')
  const onHeartbeat = metrics.countHeartbeat
  const deps = { ...options, call_timeout_ms, completed_within_ms, lineTo, onHeartbeat, closed: closed.signal }
  const { prefetch = prefetchOf(slots) } = options
  const roster = createRoster({ location, slots, prefetch, start: (dispatch, asset) => startAttempt(deps, dispatch, asset) })
  const server = createWorkerServer({
    secrets,
    api_urls,
    allowed_hosts,
    proof: options.proof,
    now: clock.now,
    log,
    onDispatch: ({ dispatches }) => ({ answers: dispatches.map(roster.take) }),
    onCancel: ({ attempt_ids }) => ({ attempt_ids: roster.cancel(attempt_ids) }),
    onDelivery: (request) => deliver({ roster, refuse: (dispatch, error) => refuseAttempt(deps, dispatch, error) }, request),
    health: (): WorkerHealth => {
      const code_problem = options.codeProblem?.()
      return {
        status: roster.isDraining() ? 'draining' : 'ok',
        location_name: location.name,
        running: roster.running(),
        waiting: roster.waiting(),
        slots,
        prefetch,
        ...(code_problem === undefined ? {} : { code_problem }),
      }
    },
    metrics: () => metrics.text({ slots, running: roster.running(), waiting: roster.waiting() }),
  })
  server.listen(port, host)
  // Rejects with what `error` says, such as a port that is taken.
  await once(server, 'listening')

  const close = async (): Promise<void> => {
    closed.abort()
    const isClosed = once(server, 'close')
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await isClosed
  }
  return {
    url: urlOf(server.address() as AddressInfo),
    close: async () => {
      closed.abort()
      await roster.drain({ grace_ms: 0, stop_grace_ms: 0 })
      await close()
    },
    async drain() {
      await roster.drain({ grace_ms, stop_grace_ms })
      await close()
    },
  }
}

const urlOf = ({ address, port, family }: AddressInfo): string => `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
