// Dashboard, rules and table of metrics, against what the processes really serve.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { DURATION_BUCKETS_SECONDS } from '../../src/telemetry/metrics.js'
import { queryFaults, type Served, servedByAll } from './served.js'

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

type Dashboard = {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
}
const dashboard = JSON.parse(read('temporal/grafana/servo.json')) as Dashboard
const targets = dashboard.panels.flatMap((panel) => panel.targets.map((target) => ({ title: panel.title, ...target })))
const alerts = read('temporal/grafana/alerts.yml')
const rules = [...alerts.matchAll(/^ +- alert: (\w+)\n +expr: (.+)$/gm)].map(([, name = '', expr = '']) => ({ name, expr }))

/** Ticks, evaluations, runs, tasks, dispatch, turns, lag, refusals, losses, repairs, conflicts and appends. */
const ASKED_FOR = [
  'servo_schedule_ticks_total',
  'servo_sensor_evals_total',
  'servo_backfill_chunks_total',
  'servo_run_requests_total',
  'servo_run_key_conflicts_total',
  'servo_compaction_lag_seconds',
  'servo_runs_total',
  'servo_tasks_total',
  'servo_dispatch_delay_seconds',
  'servo_turn_duration_seconds',
  'servo_turn_rounds',
  'servo_unfolded_events',
  'servo_events_refused_total',
  'servo_attempts_lost_total',
  'servo_repairs_total',
  'servo_append_duration_seconds',
  'servo_append_retries_total',
]

let served: Served

beforeAll(async () => {
  served = await servedByAll()
})

describe('the dashboard', () => {
  test('asks only for what is served, with the labels that it has', () => {
    expect(targets.length).toBeGreaterThan(0)
    expect(targets.flatMap(({ title, expr }) => queryFaults(expr, served).map((fault) => `${title}: ${fault}`))).toEqual([])
  })

  test('shows in each legend what its query keeps', () => {
    const lost = targets.flatMap(({ title, expr, legendFormat }) =>
      [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)]
        .filter(([, label = '']) => !new RegExp(`by \\([^)]*\\b${label}\\b`).test(expr))
        .map(() => title),
    )
    expect(lost).toEqual([])
  })

  test('shows everything that is served', () => {
    const queries = targets.map(({ expr }) => expr).join('\n')
    expect([...served.keys()].filter((name) => !queries.includes(name))).toEqual([])
  })
})

describe('the rules', () => {
  test('are all read', () => {
    expect(rules.length).toBeGreaterThan(0)
    expect(rules).toHaveLength([...alerts.matchAll(/- alert:/g)].length)
    expect(rules).toHaveLength([...alerts.matchAll(/expr:/g)].length)
  })

  test('ask only for what is served, with the labels that it has', () => {
    expect(rules.flatMap(({ name, expr }) => queryFaults(expr, served).map((fault) => `${name}: ${fault}`))).toEqual([])
  })

  test('that ask whether a process is up name the jobs of the example configuration', () => {
    const jobs = [...read('temporal/grafana/prometheus.yml').matchAll(/job_name: (\S+)/g)].map(([, name = '']) => name)
    const asked = rules.flatMap(({ expr }) => [...expr.matchAll(/\bup\{job=~?"([^"]+)"/g)].flatMap(([, names = '']) => names.split('|')))
    expect(new Set(asked)).toEqual(new Set(jobs))
    expect(jobs).toEqual(['servo-api', 'servo-automation', 'servo-worker'])
  })

  test('have an entry each in docs/operating.md, and it has no other', () => {
    const entries = [...read('docs/operating.md').matchAll(/^### `(Servo\w+)`$/gm)].map(([, name = '']) => name)
    expect(entries.sort()).toEqual(rules.map(({ name }) => name).sort())
  })
})

describe('the service levels', () => {
  const levels = [...read('docs/operating.md').matchAll(/^\| .+ \| < ([\d.]+) (m?s) \| `(servo_\w+)` \| `(\w+)` \|$/gm)]

  test('are those of the design, and each has a rule that watches it', () => {
    const watched = levels.map(([, target = '', unit, metric = '', name]) => {
      const seconds = Number(target) / (unit === 'ms' ? 1_000 : 1)
      const expr = `histogram_quantile(0.95, sum by (le) (rate(${metric}_bucket[5m]))) > ${seconds}`
      return { metric, seconds, isWatched: rules.some((rule) => rule.name === name && rule.expr === expr) }
    })
    expect(watched).toEqual([
      { metric: 'servo_schedule_tick_delay_seconds', seconds: 5, isWatched: true },
      { metric: 'servo_sensor_push_delay_seconds', seconds: 2, isWatched: true },
      { metric: 'servo_fold_delay_seconds', seconds: 10, isWatched: true },
      { metric: 'servo_fresh_read_duration_seconds', seconds: 0.2, isWatched: true },
    ])
  })

  test('are told from each other by a bucket that ends where they do', () => {
    const seconds = levels.map(([, target = '', unit]) => Number(target) / (unit === 'ms' ? 1_000 : 1))
    expect(seconds.filter((each) => !DURATION_BUCKETS_SECONDS.includes(each))).toEqual([])
  })
})

describe('what is counted', () => {
  test('has all that the design asks for', () => {
    expect(ASKED_FOR.filter((name) => !served.has(name))).toEqual([])
  })
})

test.each([
  ['sum(rate(servo_ticks_total[5m]))', 'servo_ticks_total is served by nobody.'],
  ['sum(servo_pokes_total{reason="x"})', 'servo_pokes_total has no label reason.'],
  ['sum by (location) (servo_pokes_total)', 'sum by (location) (servo_pokes_total) groups by location, which no metric in it has.'],
  ['rate(servo_turn_rounds[5m])', 'servo_turn_rounds is a histogram: ask for its _bucket, _sum or _count.'],
  ['sum(rate(other_total[5m]))', 'sum(rate(other_total[5m])) names no metric.'],
])('a query that asks for what is not there is caught: %s', (query, fault) => {
  expect(queryFaults(query, served)).toEqual([fault])
})

describe('docs/operating.md', () => {
  const rows = [...read('docs/operating.md').matchAll(/^\| `(servo_\w+)` \| (.+?) \| (.+?) \|$/gm)]

  test('has a row for every metric, with its labels and meaning, and no other', () => {
    const written = rows.map(([, name, labels = '', meaning]) => ({
      name,
      labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
      meaning,
    }))
    const real = [...served].map(([name, { labels, help }]) => ({ name, labels: [...labels], meaning: help }))
    const byName = (left: { readonly name?: string | undefined }, right: { readonly name?: string | undefined }) =>
      String(left.name) < String(right.name) ? -1 : 1
    expect(written.sort(byName)).toEqual(real.sort(byName))
  })
})

test('no label has a name that grows with the data', () => {
  const labels = new Set([...served.values()].flatMap((metric) => [...metric.labels]))
  expect([...labels].sort()).toEqual([
    'answer',
    'kind',
    'method',
    'needs',
    'outcome',
    'reason',
    'route',
    'send',
    'sensor_type',
    'source',
    'stage',
    'state',
    'status',
    'version',
  ])
})
