// What a publish made visible, counted from its rows as they were before and as they are now. Each noun says what its metrics
// are and how its rows are counted; the automation serves them. It keeps nothing and names no entity.

import type { WorkingSet } from '../working-set.js'

/** `series`: the values of the labels, with a space between them, of all series that there can be: what was not seen yet is shown as 0. */
export type Metric<Series extends string = string> = {
  readonly name: string
  readonly help: string
  readonly kind: 'count' | 'seconds'
  readonly labels: readonly string[]
  readonly series: readonly Series[]
}

type About<Series extends string> = Pick<Metric<Series>, 'labels' | 'series'>
const ONE_SERIES: About<''> = { labels: [], series: [''] }

export const counted = <const Series extends string = ''>(
  name: string,
  help: string,
  about: About<Series> = ONE_SERIES as About<Series>,
): Metric<Series> => ({ name, help, kind: 'count', ...about })

/** Durations; their buckets are those of all metrics in seconds. */
export const timed = <const Series extends string = ''>(
  name: string,
  help: string,
  about: About<Series> = ONE_SERIES as About<Series>,
): Metric<Series> => ({ name, help, kind: 'seconds', ...about })

/** By the name of the metric and by series. */
export type Tally = {
  readonly counts: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly durations_ms: ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>
}

export type TallyBook = {
  readonly count: <Series extends string>(metric: Metric<Series>, series: Series, times?: number) => void
  /** What has not taken any time took none: clocks of two machines differ. */
  readonly took: <Series extends string>(metric: Metric<Series>, series: Series, duration_ms: number) => void
}

export type TallyContext = {
  /** What is dispatched in this publish can be handed over from here on, epoch milliseconds. */
  readonly published_at: number
  /** When an earlier revision was published; undefined: it is not known any more. */
  readonly publishedAt: (sequence: number) => number | undefined
}

export type NounTally = {
  readonly metrics: readonly Metric[]
  readonly count: (rows: Pick<WorkingSet, 'changesOf'>, book: TallyBook, context: TallyContext) => void
}

export function tallyOf(tallies: readonly NounTally[], rows: Pick<WorkingSet, 'changesOf'>, context: TallyContext): Tally {
  const counts = new Map<string, Map<string, number>>()
  const durations_ms = new Map<string, Map<string, number[]>>()
  const book: TallyBook = {
    count({ name }, series, times = 1) {
      const of_metric = counts.get(name)
      if (of_metric === undefined) counts.set(name, new Map([[series, times]]))
      else of_metric.set(series, (of_metric.get(series) ?? 0) + times)
    },
    took({ name }, series, duration_ms) {
      const of_metric = durations_ms.get(name) ?? new Map<string, number[]>()
      durations_ms.set(name, of_metric)
      const known = of_metric.get(series)
      if (known === undefined) of_metric.set(series, [Math.max(0, duration_ms)])
      else known.push(Math.max(0, duration_ms))
    },
  }
  for (const tally of tallies) tally.count(rows, book, context)
  return { counts, durations_ms }
}

/** Whether the instant is there now, and was not before. */
export const isNew = <Row extends object>(
  { before, after }: { readonly before: Row | undefined; readonly after: Row },
  instant: keyof Row,
): boolean => after[instant] !== null && (before === undefined || before[instant] === null)
