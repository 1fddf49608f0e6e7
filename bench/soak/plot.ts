// A soak in one picture: turn, lag and events, memory, processor, and what lies in the folder.

import type { Kind } from '../growth/model.js'
import { drawPlot, type Panel, type Point } from '../plot/svg.js'
import { forecastOf } from './forecast.js'
import { OBJECT_KINDS, type ObjectKind } from './objects.js'
import type { Soak } from './result.js'
import { PROCESSES, type Sample } from './sample.js'

/** Points of a line; more are one by the middle of their neighbours, so that a line shows a course and no single turn. */
const POINTS_MAX = 120

/** Where an axis of minutes that ends with a year has words. */
const AGES = [
  { at: 1, text: 'a minute' },
  { at: 60, text: 'an hour' },
  { at: 1_440, text: 'a day' },
  { at: 43_200, text: 'a month' },
  { at: 525_600, text: 'a year' },
]

/** Together they are all that is worth a line; the rest is summed up. */
const SHOWN: readonly ObjectKind[] = ['l0', 'segments', 'revisions', 'base', 'starts']

export function soakPlot({ samples, summary }: Soak): string {
  const load_s = summary.minutes * 60
  const loaded = samples.filter(({ at_s }) => at_s <= load_s)
  const line = (of: (sample: Sample, before: Sample | undefined) => number | null | undefined): readonly Point[] =>
    thinned(
      loaded.flatMap((sample, i): Point[] => {
        const value = of(sample, loaded[i - 1])
        return value === null || value === undefined ? [] : [[sample.at_s / 60, value]]
      }),
    )
  const rate = (now: number, before: number | undefined, seconds: number) => (before === undefined ? undefined : (now - before) / seconds)
  const objects = (of: (counts: NonNullable<Sample['objects']>) => number) =>
    line(({ objects: counts }) => (counts === undefined ? undefined : of(counts)))
  const count = (kind: ObjectKind) => objects((counts) => counts[kind]?.count ?? 0)
  const rest = (Object.keys(OBJECT_KINDS) as ObjectKind[]).filter((kind) => !SHOWN.includes(kind))
  const forecast = forecastOf({ samples, summary })
  const kept = (title: string, kinds: readonly (ObjectKind & Kind)[]): Panel => ({
    title,
    x: { label: 'since the beginning; measured, then by the growth model', scale: 'log', marks: AGES },
    y: { label: 'files', scale: 'log' },
    series: [
      ...kinds.map((kind) => ({ name: kind, points: forecast.expected(kind), style: 'dashed' as const })),
      ...kinds.map((kind) => ({ name: '', points: forecast.measured(kind), style: 'dots' as const })),
    ],
  })
  const x = { label: 'minutes', low: 0 }
  const panel = (title: string, label: string, series: Panel['series']): Panel => ({ title, x, y: { label, low: 0 }, series })
  return drawPlot({
    title: `${summary.minutes} minutes at ${summary.events_per_s.toFixed(0)} events a second, collection on`,
    subtitle:
      `Commit ${summary.commit}. Turns of the last ${minutesText(summary.window_s)} over the first after a warm-up of ${minutesText(summary.warm_up_s)}: ` +
      `${summary.soak_turn_drift.toFixed(2)} (medians of ${summary.turn_last_ms.toFixed(0)} and ${summary.turn_first_ms.toFixed(0)} ms).`,
    columns: 2,
    panels: [
      panel('A turn that publishes', 'milliseconds', [{ name: 'mean of an interval', points: line(({ turn_ms }) => turn_ms) }]),
      panel('From a segment to its publish', 'milliseconds', [{ name: 'lag', points: line(({ lag_ms }) => lag_ms) }]),
      panel(
        'Resident memory',
        'MB',
        PROCESSES.map((name) => ({ name, points: line(({ rss_mb }) => rss_mb[name]) })),
      ),
      panel('Processor', 'cores', [
        ...PROCESSES.map((name) => ({
          name,
          points: line(({ cpu_s, at_s }, before) => rate(cpu_s[name], before?.cpu_s[name], at_s - (before?.at_s ?? 0))),
        })),
      ]),
      panel('Events folded, and tasks open', 'events a second, tasks', [
        { name: 'events a second', points: line(({ events, at_s }, before) => rate(events, before?.events, at_s - (before?.at_s ?? 0))) },
        { name: 'tasks open', points: line(({ open_tasks }) => open_tasks) },
      ]),
      panel('Files in the folder', 'files', [
        ...SHOWN.map((kind) => ({ name: kind, points: count(kind) })),
        { name: 'others', points: objects((counts) => rest.reduce((sum, kind) => sum + (counts[kind]?.count ?? 0), 0)) },
      ]),
      kept('Files that turn flat, if it went on', ['l0', 'base', 'segments', 'revisions']),
      kept('Files that are kept for long, if it went on', ['checkpoints', 'packs', 'starts']),
    ],
  })
}

const minutesText = (seconds: number): string => `${Number((seconds / 60).toFixed(1))} min`

/** Medians of neighbours, where there are too many. */
function thinned(points: readonly Point[]): readonly Point[] {
  const size = Math.ceil(points.length / POINTS_MAX)
  return Array.from({ length: Math.ceil(points.length / size) }, (_, i) => {
    const group = points.slice(i * size, (i + 1) * size)
    const middle = (at: 0 | 1) => group.map((point) => point[at]).sort((left, right) => left - right)[group.length >> 1] as number
    return [middle(0), middle(1)] as const
  })
}
