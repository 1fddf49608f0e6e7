// How a benchmark's figures are said: JSON lines on stdout for programs, one table on stderr for people.

import Table from 'cli-table3'

export type Figure = {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** What has to hold, as the issue states it: for the table alone. */
  readonly target: string
  /** Sizes, warmth and whatever else the figure depends on. */
  readonly setup: string
}

export type Report = { readonly add: (figure: Figure) => void; readonly print: () => void }

export function createReport(): Report {
  const figures: Figure[] = []
  return {
    add(figure) {
      figures.push(figure)
      const { name, value, unit } = figure
      process.stdout.write(`${JSON.stringify({ name, value: rounded(value), unit })}\n`)
    },
    print() {
      const table = new Table({ head: ['name', 'value', 'unit', 'target', 'set-up'], style: { head: [], border: [], compact: true } })
      for (const { name, value, unit, target, setup } of figures) table.push([name, String(rounded(value)), unit, target, setup])
      process.stderr.write(`${table.toString()}\n`)
    },
  }
}

const rounded = (value: number): number => Number(value.toPrecision(4))

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)
