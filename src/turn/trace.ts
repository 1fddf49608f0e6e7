// What a turn leaves in the traces of those whose events it folded: one span in each, told of when the publish has happened,
// so that a turn is the same with it and without. However much it folds, what it keeps and sends for it is bounded.

import type { Clock } from '../core/time.js'
import { readTraceparent, traceIdOf } from '../core/traceparent.js'
import type { Attributes, Tracing } from '../telemetry/tracing.js'

/** By trace id. */
export type Traces = ReadonlyMap<string, { readonly traceparents: readonly string[]; readonly event_count: number }>

export const NO_TRACES: Traces = new Map()

/** Of one publish. Requests come one by one and turns several times a second: beyond this, what is sent would be a load of
 *  its own, and the traces that are left out have all of their other spans. */
const TRACES_MAX = 64
/** Of one trace: a run whose tasks end together has as many callbacks. */
const TRACEPARENTS_MAX = 32

export function withTrace(traces: Traces, given: string): Traces {
  const traceparent = readTraceparent(given)
  if (traceparent === undefined) return traces
  const trace_id = traceIdOf(traceparent)
  const known = traces.get(trace_id)
  if (known === undefined && traces.size >= TRACES_MAX) return traces
  const { traceparents, event_count } = known ?? { traceparents: [], event_count: 0 }
  const isNew = traceparents.length < TRACEPARENTS_MAX && !traceparents.includes(traceparent)
  const all = isNew ? [...traceparents, traceparent] : traceparents
  return new Map(traces).set(trace_id, { traceparents: all, event_count: event_count + 1 })
}

type TraceDeps = { readonly tracing?: Tracing | undefined; readonly clock: Clock }

/** What was folded since the last publish, and has been published now. */
type Compacted = { readonly traces: Traces; readonly segments: readonly unknown[]; readonly first_folded_at: number | null }

/** Below the request whose event was folded first, and linked to the others of the same trace. */
export function traceCompaction({ tracing, clock }: TraceDeps, compacted: Compacted, turn: Attributes): void {
  const { traces, segments, first_folded_at } = compacted
  if (tracing === undefined || traces.size === 0) return
  const at = clock.now()
  const began_at = first_folded_at === null ? at : at - (clock.elapsed() - first_folded_at)
  for (const { traceparents, event_count } of traces.values()) {
    const [parent, ...links] = traceparents
    const attributes = { ...turn, 'servo.event_count': event_count, 'servo.segment_count': segments.length }
    tracing.start('compaction', { parent, links, at: began_at, attributes }).end({ at })
  }
}
