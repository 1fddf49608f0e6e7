// Metrics that are made of what publishes show. Each noun declares its own: nothing here knows one of them.

import type { MetricsRegistry } from './metrics.js'

/** `series`: the values of the labels, with a space between them. */
export type TalliedMetric = {
  readonly name: string
  readonly help: string
  readonly kind: 'count' | 'seconds'
  readonly labels: readonly string[]
  readonly series: readonly string[]
}

/** By the name of the metric and by series. */
export type Tally = {
  readonly counts: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly durations_ms: ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>
}

/** Answers what adds a tally to them. */
export function addTallyMetrics(registry: MetricsRegistry, tallied: readonly TalliedMetric[]): (tally: Tally) => void {
  const add = new Map(tallied.map((metric) => [metric.name, addMetric(registry, metric)]))
  return ({ counts, durations_ms }) => {
    for (const [name, by_series] of counts) for (const [series, count] of by_series) add.get(name)?.(series, count)
    for (const [name, by_series] of durations_ms)
      for (const [series, durations] of by_series) for (const duration_ms of durations) add.get(name)?.(series, duration_ms)
  }
}

function addMetric(registry: MetricsRegistry, { name, help, kind, labels, series }: TalliedMetric) {
  const known = new Map(series.map((text) => [text, labelsOf(labels, text)]))
  const add = (kind === 'count' ? registry.counter : registry.seconds)(name, help, [...known.values()])
  return (text: string, value: number): void => add(known.get(text) ?? labelsOf(labels, text), value)
}

function labelsOf(labels: readonly string[], series: string): Readonly<Record<string, string>> {
  const values = series.split(' ')
  return Object.fromEntries(labels.map((label, index) => [label, values[index] ?? '']))
}
