// What the files of a soak come to if it went on for a year, by the growth model: with the rates that were measured, so that its
// lines begin where the measured ones end. Half an hour shows no kind turning flat; this shows when each does.

import { LISTING_WINDOW_LOCAL_MS } from '../../src/core/limits.js'
import { SECOND_MS } from '../../src/core/time.js'
import { type Flow, publishOf } from '../growth/flow.js'
import { GCS_SETTING, type Kind, type Setting, stockAfter } from '../growth/model.js'
import { readCoefficients } from '../growth/recorded.js'
import type { Point } from '../plot/svg.js'
import type { ObjectKind } from './objects.js'
import type { Soak } from './result.js'

const FOLDER_SETTING: Setting = { ...GCS_SETTING, listing_window_s: LISTING_WINDOW_LOCAL_MS / SECOND_MS, requests_a_get: 1 }
const MINUTE_S = 60
const YEAR_S = 365 * 86_400
const POINTS_A_DECADE = 12

export type Forecast = {
  /** Minutes and files: what was counted, and what the model says of that time and of all after it. */
  readonly measured: (kind: ObjectKind) => readonly Point[]
  readonly expected: (kind: Kind) => readonly Point[]
}

export function forecastOf({ samples, summary }: Soak): Forecast {
  const load_s = summary.minutes * MINUTE_S
  const counted = samples.flatMap(({ at_s, objects }) => (objects === undefined || at_s > load_s ? [] : [{ at_s, objects }]))
  const [first, last] = [counted[0], counted.at(-1)]
  if (first === undefined || last === undefined || first === last) throw new Error('The files were counted once: there is no rate.')
  const per_s = (kind: ObjectKind): number =>
    ((last.objects[kind]?.count ?? 0) - (first.objects[kind]?.count ?? 0)) / (last.at_s - first.at_s)
  const coefficients = readCoefficients()
  const { publishes_per_s, events_per_s } = summary
  const publish = { ...publishOf(coefficients, events_per_s / publishes_per_s), l0_files: per_s('l0') / publishes_per_s }
  const flow: Flow = {
    events_per_s,
    segments_per_s: per_s('segments'),
    foreign_segments_per_s: per_s('segments'),
    segment_bytes_per_event: coefficients.event_together_bytes,
    publishes_per_s,
    // A soak in which none was due is too short for a forecast of them.
    merges_per_s: Math.max(per_s('checkpoints'), 1 / load_s),
    start_entries_per_s: per_s('starts'),
    claims_per_s: per_s('claims'),
    pointer_reads_per_s: 0,
    publish,
  }
  const decades = Math.log10(YEAR_S / MINUTE_S)
  const times_s = Array.from({ length: Math.ceil(decades * POINTS_A_DECADE) + 1 }, (_, i) => MINUTE_S * 10 ** (i / POINTS_A_DECADE))
  const minutesAnd = (seconds: number, count: number): Point => [seconds / MINUTE_S, count]
  return {
    measured: (kind) =>
      counted
        .filter(({ objects }) => (objects[kind]?.count ?? 0) > 0)
        .map(({ at_s, objects }) => minutesAnd(at_s, objects[kind]?.count ?? 0)),
    expected: (kind) =>
      times_s
        .map((seconds) => minutesAnd(seconds, stockAfter(flow, coefficients, FOLDER_SETTING, seconds)[kind].count))
        .filter(([, count]) => count >= 1),
  }
}
