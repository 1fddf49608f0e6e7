// What a process counts, for whoever watches it. Labels come from small sets that are known ahead: a label that grew with
// the data would cost more than what it measures.

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = {
  /** As Prometheus reads it. */
  readonly text: () => Promise<string>
  readonly request: (route: string, method: string, status: number, duration_ms: number) => void
  readonly poke: (outcome: 'sent' | 'failed') => void
}

/** What is looked up when it is asked for: nothing is counted between two questions. */
export type Gauges = () => Promise<{ readonly sequence: number; readonly lag_ms: number; readonly unfolded_segments: number } | undefined>

const DURATION_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export function createMetrics(gauges: Gauges): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'servo_process_' })
  const requests = new Histogram({
    name: 'servo_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer, by route, method and class of status.',
    labelNames: ['route', 'method', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  })
  const pokes = new Counter({
    name: 'servo_pokes_total',
    help: 'Pokes of the workspace loop. One that failed costs time until the loop looks by itself.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const sequence = new Gauge({ name: 'servo_revision_sequence', help: 'The newest published revision.', registers: [registry] })
  const lag = new Gauge({ name: 'servo_lag_seconds', help: 'Age of the oldest segment that is not folded.', registers: [registry] })
  const unfolded = new Gauge({ name: 'servo_unfolded_segments', help: 'Segments that no revision has folded.', registers: [registry] })
  return {
    async text() {
      const now = await gauges()
      if (now !== undefined) {
        sequence.set(now.sequence)
        lag.set(now.lag_ms / 1_000)
        unfolded.set(now.unfolded_segments)
      }
      return registry.metrics()
    },
    request: (route, method, status, duration_ms) =>
      requests.observe({ route, method, status: `${Math.floor(status / 100)}xx` }, duration_ms / 1_000),
    poke: (outcome) => pokes.inc({ outcome }),
  }
}
