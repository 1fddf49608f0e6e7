// What the API counts, and how far the tables are behind the ledger, which is looked up when somebody asks for it.

import { addWriterMetrics, openRegistry } from './metrics.js'

/** undefined: the store does not answer, and what was there before is told again. */
type Gauges = () => Promise<
  | {
      readonly sequence: number
      readonly lag_ms: number
      readonly unfolded_segments: number
      readonly unfolded_events: number
    }
  | undefined
>

export type ApiMetrics = ReturnType<typeof createApiMetrics>

export function createApiMetrics(gauges: Gauges) {
  const registry = openRegistry()
  const requests = registry.seconds(
    'servo_http_request_duration_seconds',
    'Time from the first byte of a request to the last of its answer, by route, method and class of status.',
    [],
    ['route', 'method', 'status'],
  )
  const fresh = registry.seconds(
    'servo_fresh_read_duration_seconds',
    'Time until a fresh read sees everything acknowledged before it, folded by the API itself or published; stale: there was too much to fold, and it was not published in time.',
    [{ outcome: 'fresh' }, { outcome: 'stale' }],
  )
  const sequence = registry.gauge('servo_revision_sequence', 'The newest published revision.')
  const lag = registry.gauge('servo_compaction_lag_seconds', 'Age of the oldest segment that no revision has folded; 0: there is none.')
  const unfolded_segments = registry.gauge('servo_unfolded_segments', 'Segments that no revision has folded.')
  const unfolded_events = registry.gauge('servo_unfolded_events', 'Events in the segments that no revision has folded.')
  return {
    ...addWriterMetrics(registry),
    /** As Prometheus reads it. */
    async text(): Promise<string> {
      const now = await gauges()
      if (now !== undefined) {
        sequence(now.sequence)
        lag(now.lag_ms / 1_000)
        unfolded_segments(now.unfolded_segments)
        unfolded_events(now.unfolded_events)
      }
      return registry.text()
    },
    request: (route: string, method: string, status: number, duration_ms: number): void =>
      requests({ route, method, status: `${Math.floor(status / 100)}xx` }, duration_ms),
    fresh: ({ is_fresh, waited_ms }: { readonly is_fresh: boolean; readonly waited_ms: number }): void =>
      fresh({ outcome: is_fresh ? 'fresh' : 'stale' }, waited_ms),
  }
}
