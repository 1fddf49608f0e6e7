// What processes count, for whoever watches them: the parts that API and automation have in common. Labels come from small
// sets that are known ahead: a label that grew with the data would cost more than what it measures.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

type Labels = Readonly<Record<string, string>>

/** What counts a value; every series that is known ahead is there from the start, at 0, so that its first step is seen. */
export type Count = (labels: Labels, count?: number) => void
type Observe = (labels: Labels, value: number) => void

export const DURATION_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60]
const SMALL_COUNT_BUCKETS = [0, 1, 2, 3, 5, 10, 20, 50, 100]

/** Names of metrics begin with `servo_`; Node's own have `servo_process_` before the names that they have everywhere. */
export function openRegistry() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'servo_process_' })
  const registers = [registry]
  return {
    text: () => registry.metrics(),

    counter(name: string, help: string, series: readonly Labels[] = [{}]): Count {
      const counter = new Counter({ name, help, labelNames: namesOf(series), registers })
      for (const labels of series) counter.inc(labels, 0)
      return (labels, count = 1) => counter.inc(labels, count)
    },

    gauge(name: string, help: string): (value: number) => void {
      const gauge = new Gauge({ name, help, registers })
      return (value) => gauge.set(value)
    },

    /** One series for each value of the label: 1 for those that are so now, 0 for the others. */
    flags(name: string, help: string, label: string, values: readonly string[]): (set: readonly string[]) => void {
      const gauge = new Gauge({ name, help, labelNames: [label], registers })
      const show = (set: readonly string[]): void => {
        for (const value of values) gauge.set({ [label]: value }, set.includes(value) ? 1 : 0)
      }
      show([])
      return show
    },

    /** `labelNames`: where the series are not known ahead. */
    seconds(name: string, help: string, series: readonly Labels[] = [{}], labelNames: readonly string[] = namesOf(series)): Observe {
      const histogram = new Histogram({ name, help, labelNames: [...labelNames], buckets: DURATION_BUCKETS_SECONDS, registers })
      for (const labels of series) histogram.zero(labels)
      return (labels, duration_ms) => histogram.observe(labels, duration_ms / 1_000)
    },

    smallCount(name: string, help: string): (value: number) => void {
      const histogram = new Histogram({ name, help, buckets: SMALL_COUNT_BUCKETS, registers })
      histogram.zero({})
      return (value) => histogram.observe(value)
    },
  }
}

export type MetricsRegistry = ReturnType<typeof openRegistry>

const namesOf = (series: readonly Labels[]): string[] => [...new Set(series.flatMap((labels) => Object.keys(labels)))]

export const seriesOf = (label: string, values: readonly string[]): Labels[] => values.map((value) => ({ [label]: value }))

type AppendSeen = { readonly outcome: 'appended' | 'duplicate' | 'failed'; readonly duration_ms: number; readonly tries: number }

/** Both processes append and poke. */
export function addWriterMetrics(registry: MetricsRegistry) {
  const appended = registry.seconds(
    'servo_append_duration_seconds',
    'Time to write one segment, with all of its tries, by what became of it.',
    seriesOf('outcome', ['appended', 'duplicate', 'failed']),
  )
  const retries = registry.counter('servo_append_retries_total', 'Writes of a segment after the first, which was not acknowledged.')
  const pokes = registry.counter(
    'servo_pokes_total',
    'Pokes of the workspace loop. One that failed costs time until the loop looks by itself.',
    seriesOf('outcome', ['sent', 'failed']),
  )
  return {
    append({ outcome, duration_ms, tries }: AppendSeen): void {
      appended({ outcome }, duration_ms)
      if (tries > 1) retries({}, tries - 1)
    },
    poke: (outcome: 'sent' | 'failed'): void => pokes({ outcome }),
  }
}
