// The automation process: it runs the loops of one workspace, the turns that they call for, and the hand-over of what the
// turns publish. Its port, its metrics and its store stay; what hangs on Temporal is a session, opened again whenever it ends.

import { BACKSTOP_IDLE_MS_MAX, BACKSTOP_MS } from '../core/limits.js'
import { MINUTE_MS } from '../core/time.js'
import { createAutomationMetrics } from '../telemetry/automation-metrics.js'
import { createHealth, type HealthReport } from '../telemetry/health.js'
import { serveMetrics } from '../telemetry/listener.js'
import { TALLIED } from '../turn/watch.js'
import type { LoopTimings } from '../workflows/contract.js'
import { createClosers } from './closers.js'
import type { AutomationConfig } from './config.js'
import { openDeps } from './deps.js'
import { openDispatch } from './dispatch.js'
import { openSession } from './session.js'
import { supervise } from './supervisor.js'
import { attributesOf, openTracing } from './tracing.js'
import type { Workflows } from './workers.js'

type Automation = {
  /** Ends what is under way, and leaves the loops to the process that comes next. */
  readonly stop: () => Promise<void>
  /** Resolves when it has ended because it was stopped; rejects when it could not go on. */
  readonly ended: Promise<void>
  /** Resolves when it works for the first time, or has ended before that. */
  readonly working: Promise<void>
  readonly health: () => HealthReport
}

export type AutomationOptions = {
  readonly log: (message: string) => void
  readonly timings?: LoopTimings
  readonly workflows?: Workflows
}

const TIMINGS: LoopTimings = { backstop_ms: BACKSTOP_MS, backstop_ms_max: BACKSTOP_IDLE_MS_MAX, maintenance_ms: 10 * MINUTE_MS }

/** Rejects where the settings cannot be used on this machine. What is missing elsewhere is waited for. */
export async function startAutomation(
  config: AutomationConfig,
  { log, timings = TIMINGS, workflows }: AutomationOptions,
): Promise<Automation> {
  const { store } = config.workspace
  const closers = createClosers()
  try {
    const deps = await openDeps(config.workspace)
    closers.add(deps.close)
    const { scope, clock } = deps
    const tracing = await openTracing({ ...config, service_name: 'servo-automation', attributes: attributesOf(scope), log })
    closers.add(async () => tracing?.close())
    const metrics = createAutomationMetrics(TALLIED)
    const health = createHealth(clock.now, metrics.health)
    const listener = config.metrics && (await serveMetrics({ ...config.metrics, text: metrics.text, health: health.now, log }))
    closers.add(async () => listener?.close())
    const dispatching = await openDispatch(config.dispatch, { clock, worker_secrets: config.worker_secrets, log })
    closers.add(dispatching.close)
    const stopping = new AbortController()
    let noteWorking: () => void = () => undefined
    const firstWork = new Promise<void>((resolve) => {
      noteWorking = resolve
    })
    const parts = { config, deps, port: dispatching.port, metrics, health, tracing, timings, workflows, log }
    const supervised = supervise({
      open: () => openSession(parts),
      clock,
      random: () => drawn(deps.random(4)),
      stopping: stopping.signal,
      health,
      log,
      onWorking() {
        noteWorking()
        const { tenant_id, workspace_id } = scope
        log(`automation: workspace ${workspace_id} of ${tenant_id} in ${store}, loops in Temporal at ${config.temporal.address}`)
      },
      onLost: ({ needs }) => metrics.sessionLost(needs),
    })
    const ended = supervised.finally(closers.closeAll)
    // Its caller learns of a fault from `ended`.
    const over = ended.catch(() => undefined)
    return {
      ended,
      working: Promise.race([firstWork, over]),
      health: health.now,
      async stop() {
        stopping.abort()
        await ended
      },
    }
  } catch (error) {
    await closers.closeAll()
    throw error
  }
}

/** From 0 to below 1. */
const drawn = (bytes: Uint8Array): number => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0) / 2 ** 32
