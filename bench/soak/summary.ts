// What a soak comes to, computed from its samples alone: medians of the first minutes after a warm-up, and of the last.

import { median, percentile } from '../report.js'
import { type Objects, totalOf } from './objects.js'
import { PROCESSES, type ProcessName, type Sample } from './sample.js'

/** The compared minutes at either end; of a short soak a quarter of it. */
const WINDOW_S = 300
const WINDOW_SHARE = 0.25
/** Until the minutes that a turn lists are all filled: five of slack, the one that runs, and one for what compiles. Of a short
 *  soak a tenth of it. */
const WARM_UP_S = 420
const WARM_UP_SHARE = 0.1
/** With room for both ends after a warm-up. */
const LONG_S = WARM_UP_S + 2 * WINDOW_S
const MILLION = 1_000_000

export type SoakSummary = {
  readonly suite: 'soak'
  readonly commit: string
  readonly minutes: number
  /** Asked for, and folded a second between the end of the warm-up and the end of the load. */
  readonly events_per_s_wanted: number
  readonly events_per_s: number
  readonly events: number
  readonly runs: number
  readonly runs_over: number
  readonly request_failures: number
  readonly warm_up_s: number
  readonly window_s: number
  readonly turn_first_ms: number
  readonly turn_last_ms: number
  readonly soak_turn_drift: number
  readonly turn_p95_ms: number
  readonly lag_median_ms: number
  readonly lag_max_ms: number
  readonly rss_first_mb: Readonly<Record<ProcessName, number>>
  readonly rss_last_mb: Readonly<Record<ProcessName, number>>
  readonly rss_peak_mb: Readonly<Record<ProcessName, number>>
  readonly soak_rss_drift: Readonly<Record<ProcessName, number>>
  /** Seconds of processor time a second. */
  readonly cores: Readonly<Record<ProcessName, number>>
  readonly publishes_per_s: number
  readonly objects: Readonly<Record<string, number>>
  readonly object_count: number
  readonly object_bytes: number
  readonly files_per_million_events: number
  readonly drain_s: number
}

type Facts = {
  readonly commit: string
  readonly minutes: number
  readonly events_per_s: number
  readonly runs: number
  readonly request_failures: number
  readonly drain_s: number
}

/** `samples`: those of the load, and one after everything is over, which has the objects. */
export function summaryOf(samples: readonly Sample[], facts: Facts): SoakSummary {
  const load_s = facts.minutes * 60
  const warm_up_s = load_s >= LONG_S ? WARM_UP_S : load_s * WARM_UP_SHARE
  const window_s = Math.min(WINDOW_S, load_s * WINDOW_SHARE)
  const loaded = samples.filter(({ at_s }) => at_s <= load_s)
  const warm = loaded.filter(({ at_s }) => at_s > warm_up_s)
  const first = warm.filter(({ at_s }) => at_s <= warm_up_s + window_s)
  const last = warm.filter(({ at_s }) => at_s > load_s - window_s)
  const [begin, end] = [warm[0], warm.at(-1)]
  const after = samples.at(-1)
  if (begin === undefined || end === undefined || after?.objects === undefined) {
    throw new Error('There are too few samples for a summary: the soak was too short, or it ended before its load did.')
  }
  const values = (some: readonly Sample[], of: (sample: Sample) => number | null) => some.flatMap((sample) => of(sample) ?? [])
  const turn = (sample: Sample) => sample.turn_ms
  const rss = (some: readonly Sample[], of: (values: readonly number[]) => number) =>
    eachProcess((name) => of(values(some, (sample) => sample.rss_mb[name])))
  const seconds = end.at_s - begin.at_s
  const [turn_first_ms, turn_last_ms] = [median(values(first, turn)), median(values(last, turn))]
  const [rss_first_mb, rss_last_mb] = [rss(first, median), rss(last, median)]
  const objects = after.objects as unknown as Objects
  const { count, bytes } = totalOf(objects)
  return {
    suite: 'soak',
    commit: facts.commit,
    minutes: facts.minutes,
    events_per_s_wanted: facts.events_per_s,
    events_per_s: (end.events - begin.events) / seconds,
    events: after.events,
    runs: facts.runs,
    runs_over: after.runs_over,
    request_failures: facts.request_failures,
    warm_up_s,
    window_s,
    turn_first_ms,
    turn_last_ms,
    soak_turn_drift: turn_last_ms / turn_first_ms,
    turn_p95_ms: percentile(values(warm, turn), 0.95),
    lag_median_ms: median(values(warm, ({ lag_ms }) => lag_ms)),
    lag_max_ms: Math.max(...values(warm, ({ lag_ms }) => lag_ms)),
    rss_first_mb,
    rss_last_mb,
    rss_peak_mb: rss(samples, (found) => Math.max(...found)),
    soak_rss_drift: eachProcess((name) => rss_last_mb[name] / rss_first_mb[name]),
    cores: eachProcess((name) => (end.cpu_s[name] - begin.cpu_s[name]) / seconds),
    publishes_per_s: (end.publishes - begin.publishes) / seconds,
    objects: Object.fromEntries(Object.entries(objects).map(([kind, counted]) => [kind, counted.count])),
    object_count: count,
    object_bytes: bytes,
    files_per_million_events: (count * MILLION) / after.events,
    drain_s: facts.drain_s,
  }
}

const eachProcess = (of: (name: ProcessName) => number): Record<ProcessName, number> =>
  Object.fromEntries(PROCESSES.map((name) => [name, of(name)])) as Record<ProcessName, number>
