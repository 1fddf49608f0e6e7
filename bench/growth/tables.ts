// The growth model as the tables that docs/performance.md has: the same text wherever it is printed.

import { flowOf, type Load } from './flow.js'
import type { Coefficients } from './measure.js'
import { callsOfDay, costOfDay, GCS_SETTING, KINDS, type Prices, stockAfter, totalOf } from './model.js'

const DAY_S = 86_400
export const AGES = [
  { name: 'a day', seconds: DAY_S },
  { name: 'a month', seconds: 30 * DAY_S },
  { name: 'a year', seconds: 365 * DAY_S },
] as const
export const RATES = [1, 100, 1_000] as const

/** Seconds of calls as Google's documents and other users tell them: none of ours was measured on a real bucket. */
const LOAD: Omit<Load, 'events_per_s'> = { tasks_per_run: 20, put_s: 0.1, get_s: 0.03, publish_s: 1 }

function at(events_per_s: number, seconds: number, coefficients: Coefficients, prices: Prices) {
  const load = { ...LOAD, events_per_s }
  const flow = flowOf(load, coefficients)
  const stock = stockAfter(flow, coefficients, GCS_SETTING, seconds)
  const calls = callsOfDay(flow, coefficients, GCS_SETTING, seconds, load.get_s)
  return { flow, stock, calls, cost: costOfDay(stock, calls, prices) }
}

export function growthTable(coefficients: Coefficients, prices: Prices): string {
  const rows = RATES.flatMap((rate) =>
    AGES.map(({ name, seconds }) => {
      const { stock, calls, cost } = at(rate, seconds, coefficients, prices)
      const count = KINDS.reduce((sum, kind) => sum + stock[kind].count, 0)
      const bytes = KINDS.reduce((sum, kind) => sum + stock[kind].bytes, 0)
      const cells = [
        String(rate),
        name,
        short(count),
        gigabytes(bytes),
        short(totalOf(calls.class_a)),
        short(totalOf(calls.class_b)),
        short(calls.deletes),
        money(cost.storage),
        money(cost.class_a),
        money(cost.class_b),
        money(cost.total),
      ]
      return `| ${cells.join(' | ')} |`
    }),
  )
  return [
    '| events a second | after | objects | GB | class A a day | class B a day | deletes a day | $ storage | $ class A | $ class B | $ a day |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

/** What there is of each kind after a year. */
export function kindsTable(coefficients: Coefficients, prices: Prices): string {
  const found = RATES.map((rate) => AGES.map(({ seconds }) => at(rate, seconds, coefficients, prices).stock))
  const rows = KINDS.map((kind) => `| ${kind} | ${found.flatMap((ages) => ages.map((stock) => short(stock[kind].count))).join(' | ')} |`)
  const head = RATES.flatMap((rate) => AGES.map(({ name }) => `${rate}/s, ${name.replace(/^a /, '')}`))
  return [`| objects | ${head.join(' | ')} |`, `|---|${head.map(() => '---').join('|')}|`, ...rows].join('\n')
}

/** Whose calls they are, after a month, in dollars a month. */
export function callersTable(coefficients: Coefficients, prices: Prices): string {
  const month = AGES[1]
  const found = RATES.map((rate) => at(rate, month.seconds, coefficients, prices).calls)
  const row = (of: 'class_a' | 'class_b', name: string) =>
    `| ${of === 'class_a' ? 'A' : 'B'} | ${name} | ${found
      .map((calls) =>
        money((((calls[of][name] ?? 0) / 1e6) * (of === 'class_a' ? prices.class_a_million : prices.class_b_million) * 365) / 12),
      )
      .join(' | ')} |`
  const rows = (['class_a', 'class_b'] as const).flatMap((of) => Object.keys(found[0]?.[of] ?? {}).map((name) => row(of, name)))
  return [
    `| class | calls by | ${RATES.map((rate) => `${rate}/s`).join(' | ')} |`,
    `|---|---|${RATES.map(() => '---').join('|')}|`,
    ...rows,
  ].join('\n')
}

/** How far the flow is from the events, and how long one look through the listing window takes. */
export function flowTable(coefficients: Coefficients, prices: Prices): string {
  const found = RATES.map((rate) => at(rate, AGES[1].seconds, coefficients, prices))
  const row = (name: string, of: (each: (typeof found)[number]) => string) => `| ${name} | ${found.map(of).join(' | ')} |`
  return [
    `| | ${RATES.map((rate) => `${rate}/s`).join(' | ')} |`,
    `|---|${RATES.map(() => '---').join('|')}|`,
    row('segments a second', ({ flow }) => short(flow.segments_per_s)),
    row('publishes a second', ({ flow }) => short(flow.publishes_per_s)),
    row('L0 files of a publish', ({ flow }) => short(flow.publish.l0_files)),
    row('merges a day', ({ flow }) => short(flow.merges_per_s * DAY_S)),
    row('reads of one look through the listing window', ({ calls }) => short(calls.window_reads)),
    row('minutes that they take at most, one after the other', ({ calls }) => short((calls.window_reads * LOAD.get_s) / 60)),
  ].join('\n')
}

export const TABLES = { growth: growthTable, kinds: kindsTable, callers: callersTable, flow: flowTable } as const

function short(value: number): string {
  const units = [
    [1e9, ' G'],
    [1e6, ' M'],
    [1e3, ' k'],
  ] as const
  const unit = units.find(([size]) => value >= size)
  return unit === undefined ? String(Number(value.toPrecision(2))) : `${Number((value / unit[0]).toPrecision(3))}${unit[1]}`
}

const gigabytes = (bytes: number): string => String(Number((bytes / 1e9).toPrecision(2)))
const money = (dollars: number): string => (dollars >= 100 ? String(Math.round(dollars)) : dollars.toFixed(2))
