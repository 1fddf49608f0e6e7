// What the API counts, and how far the tables are behind the ledger, which is looked up when somebody asks for it.

import { addWriterMetrics, openRegistry } from './metrics.js'

type Gauges = {
  readonly sequence: number
  readonly lag_ms: number
  readonly turn_overdue_ms: number
  readonly unfolded_segments: number
  readonly unfolded_events: number
}

/** What is served while the store does not answer. An old value or a zero would look like a workspace that is well; comparisons
 *  with NaN are false, and the rule of the store fires. */
const UNKNOWN: Gauges = {
  sequence: Number.NaN,
  lag_ms: Number.NaN,
  turn_overdue_ms: Number.NaN,
  unfolded_segments: Number.NaN,
  unfolded_events: Number.NaN,
}

export type ApiMetrics = ReturnType<typeof createApiMetrics>

/** `readGauges` answers undefined where the store does not answer. */
export function createApiMetrics(readGauges: () => Promise<Gauges | undefined>) {
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
  const store = registry.gauge(
    'servo_store_reachable',
    '1: the store answered when it was last read, a minute ago at most; 0: it did not answer this scrape, and the other gauges of the workspace are NaN.',
  )
  const sequence = registry.gauge('servo_revision_sequence', 'The newest published revision.')
  const lag = registry.gauge('servo_compaction_lag_seconds', 'Age of the oldest segment that no revision has folded; 0: there is none.')
  const overdue = registry.gauge(
    'servo_turn_overdue_seconds',
    'Time since a turn is overdue that the newest revision wanted, or that accepted events have waited for more than 10 s for; 0: none is.',
  )
  const unfolded_segments = registry.gauge('servo_unfolded_segments', 'Segments that no revision has folded.')
  const unfolded_events = registry.gauge('servo_unfolded_events', 'Events in the segments that no revision has folded.')
  return {
    ...addWriterMetrics(registry),
    /** As Prometheus reads it. */
    async text(): Promise<string> {
      const found = await readGauges()
      const gauges = found ?? UNKNOWN
      store(found === undefined ? 0 : 1)
      sequence(gauges.sequence)
      lag(gauges.lag_ms / 1_000)
      overdue(gauges.turn_overdue_ms / 1_000)
      unfolded_segments(gauges.unfolded_segments)
      unfolded_events(gauges.unfolded_events)
      return registry.text()
    },
    request: (route: string, method: string, status: number, duration_ms: number): void =>
      requests({ route, method, status: `${Math.floor(status / 100)}xx` }, duration_ms),
    fresh: ({ is_fresh, waited_ms }: { readonly is_fresh: boolean; readonly waited_ms: number }): void =>
      fresh({ outcome: is_fresh ? 'fresh' : 'stale' }, waited_ms),
  }
}
