// From events a second to what a busy system does with them: how many segments, publishes and merges there are a second. Pure.

import { MERGE_DUE_DELTAS, MERGE_DUE_ROWS, MERGE_FEW_SHARE } from '../../src/core/limits.js'
import type { Coefficients, PublishCoefficients } from './measure.js'

/** What the model is asked about. */
export type Load = {
  readonly events_per_s: number
  /** Tasks of a run; each is three events, of which the turn says one, and the run is two more, of which it says one. */
  readonly tasks_per_run: number
  /** Seconds of one write and one read of the store, and between two publishes. */
  readonly put_s: number
  readonly get_s: number
  readonly publish_s: number
}

export type Flow = {
  readonly events_per_s: number
  readonly segments_per_s: number
  /** Of those the ones that a turn reads: it has its own. */
  readonly foreign_segments_per_s: number
  readonly segment_bytes_per_event: number
  readonly publishes_per_s: number
  readonly merges_per_s: number
  readonly start_entries_per_s: number
  readonly claims_per_s: number
  /** Of the API: callbacks of one moment share one. */
  readonly pointer_reads_per_s: number
  readonly publish: PublishCoefficients
}

/** Work that comes at random, one at a time: what comes while one is under way goes together in the next, as appends,
 *  publishes and reads of the pointer do. Answers how many there are a second. */
export function grouped(arrivals_per_s: number, busy_s: number): number {
  if (arrivals_per_s === 0) return 0
  return 1 / (busy_s + Math.exp(-arrivals_per_s * busy_s) / arrivals_per_s)
}

/** Attempts that one publish dispatched start at the same time, in one entry of their log: 1,080 entries at 979 publishes, of a
 *  soak of four minutes with 300 events a second and one location. Each location more has a log of its own. */
const START_ENTRIES_A_PUBLISH = 1.1

/** Of a run: what workers and callers say, and what the turn says. */
const saidOutside = (tasks: number): number => (1 + 2 * tasks) / (2 + 3 * tasks)

export function flowOf(load: Load, coefficients: Coefficients): Flow {
  const { events_per_s, tasks_per_run, put_s, get_s, publish_s } = load
  const outside = events_per_s * saidOutside(tasks_per_run)
  const foreign_segments_per_s = grouped(outside, put_s)
  const publishes_per_s = grouped(outside, publish_s)
  // What the turn decides in one round is a segment; a publish has one such round at most.
  const own_segments_per_s = Math.min(publishes_per_s, events_per_s - outside)
  const segments_per_s = foreign_segments_per_s + own_segments_per_s
  const per_segment = events_per_s / segments_per_s
  const publish = publishOf(coefficients, events_per_s / publishes_per_s)
  const starts_per_s = (events_per_s * tasks_per_run) / (2 + 3 * tasks_per_run)
  return {
    events_per_s,
    segments_per_s,
    foreign_segments_per_s,
    segment_bytes_per_event: segmentBytes(coefficients, per_segment),
    publishes_per_s,
    merges_per_s: mergesOf(publishes_per_s, publish.l0_rows),
    start_entries_per_s: Math.min(starts_per_s, publishes_per_s * START_ENTRIES_A_PUBLISH),
    claims_per_s: events_per_s / (2 + 3 * tasks_per_run),
    pointer_reads_per_s: grouped(outside, get_s),
    publish,
  }
}

/** What all events of a segment share is written once. */
export function segmentBytes({ event_alone_bytes, event_together_bytes }: Coefficients, events_per_segment: number): number {
  return event_together_bytes + (event_alone_bytes - event_together_bytes) / Math.max(1, events_per_segment)
}

/** Due by deltas or by rows; and each look by the clock takes what is not little. */
export function mergesOf(publishes_per_s: number, rows_a_publish: number, look_s = 600): number {
  const due_s = Math.ceil(Math.min(MERGE_DUE_DELTAS, MERGE_DUE_ROWS / rows_a_publish)) / publishes_per_s
  if (due_s <= look_s) return 1 / due_s
  const isLittle =
    look_s * publishes_per_s < MERGE_DUE_DELTAS * MERGE_FEW_SHARE &&
    look_s * publishes_per_s * rows_a_publish < MERGE_DUE_ROWS * MERGE_FEW_SHARE
  return isLittle ? 1 / Math.min(due_s, (MERGE_DUE_DELTAS * MERGE_FEW_SHARE) / publishes_per_s) : 1 / look_s
}

/** Between what was measured, by the logarithm of the events. */
export function publishOf({ publish }: Coefficients, events: number): PublishCoefficients {
  const above = publish.findIndex((each) => each.events >= events)
  const [low, high] = above <= 0 ? [publish.at(above), publish.at(above)] : [publish[above - 1], publish[above]]
  if (low === undefined || high === undefined) throw new Error('No publish was measured.')
  const share = low === high ? 0 : Math.log(events / low.events) / Math.log(high.events / low.events)
  const between = (of: Exclude<keyof PublishCoefficients, 'events'>): number => low[of] + share * (high[of] - low[of])
  // Beyond what was measured rows and bytes grow with the events, and files do not.
  const beyond = above === -1 ? events / low.events : 1
  return {
    events,
    l0_files: between('l0_files'),
    l0_bytes: between('l0_bytes') * beyond,
    l0_rows: between('l0_rows') * beyond,
    revision_bytes: between('revision_bytes'),
  }
}
