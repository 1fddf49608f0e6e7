// The line that has to be flat: what the next thousand events cost over more and more history, ours beside that of the system
// that this design grew from. The figures are those of docs/plots/flat-line.json.

import { z } from 'zod'
import { drawPlot, type Point } from './svg.js'

const point = z.strictObject({ finished_tasks: z.int().min(0), ms: z.number().positive() })

export const flatLineSchema = z.strictObject({
  what: z.string(),
  command: z.string(),
  commit: z.string(),
  machine: z.string(),
  servo: z.array(point).min(2),
  ancestor: z.array(point).min(2),
})

export type FlatLine = z.output<typeof flatLineSchema>

/** An empty workspace has no place on a logarithmic axis: it stands a step before the first that has history. */
const EMPTY_AT = 1_000

const HISTORY = [
  [0, 'empty'],
  [10_000, '10,000'],
  [100_000, '100,000'],
  [1_000_000, '1,000,000'],
] as const

export function flatLinePlot({ commit, machine, servo, ancestor }: FlatLine): string {
  const at = (finished_tasks: number): number => Math.max(EMPTY_AT, finished_tasks)
  const points = (some: FlatLine['servo']): readonly Point[] => some.map(({ finished_tasks, ms }) => [at(finished_tasks), ms])
  return drawPlot({
    title: 'The next 1,000 events',
    subtitle: `Servo at ${commit}, ${machine}`,
    columns: 1,
    panels: [
      {
        title: 'fold and publish, by what was finished before',
        x: { label: 'finished tasks', scale: 'log', marks: HISTORY.map(([tasks, text]) => ({ at: at(tasks), text })) },
        y: { label: 'milliseconds', scale: 'log', low: 10 },
        series: [
          { name: 'Servo', points: points(servo), style: 'dots' },
          { name: 'its ancestor', points: points(ancestor), style: 'dots' },
        ],
      },
    ],
  })
}

/** The same figures as the page has them. */
export function flatLineTable({ servo, ancestor }: FlatLine): string {
  const rows = [...servo.map((each) => ({ ...each, who: 'Servo' })), ...ancestor.map((each) => ({ ...each, who: 'its ancestor' }))].map(
    ({ who, finished_tasks, ms }) => `| ${who} | ${finished_tasks.toLocaleString('en')} | ${ms.toLocaleString('en')} |`,
  )
  return ['| who | finished tasks before | ms |', '|---|---|---|', ...rows].join('\n')
}
