// What the automation serves of a publish: every series that a tally has, with its own number. A line that counts nothing, or
// counts it twice or under another name, shows here.

import { expect, test } from '@jest/globals'
import type { Metric } from '../../src/projections/tallies/tally.js'
import { createApiMetrics } from '../../src/telemetry/api-metrics.js'
import { createAutomationMetrics } from '../../src/telemetry/automation-metrics.js'
import { TALLIED } from '../../src/turn/watch.js'

/** No number comes twice, so none can be taken for another. */
function numbering() {
  let last = 100
  return () => ++last
}

/** Without Node's own. */
function servedBy(text: string): ReadonlyMap<string, number> {
  const lines = [...text.matchAll(/^(servo_\S+) (\S+)$/gm)].filter(([, name = '']) => !name.startsWith('servo_process_'))
  return new Map(lines.map(([, name = '', value = '']) => [name, Number(value)]))
}

const labelled = ({ name, labels }: Metric, series: string): string => {
  const values = series.split(' ')
  return labels.length === 0 ? name : `${name}{${labels.map((label, index) => `${label}="${values[index]}"`).join(',')}}`
}

test('a publish is counted in each of its series, with labels and number', async () => {
  const next = numbering()
  const counts = { applied: next(), duplicate: next(), refused: next(), quarantined: next() }
  const bySeries = <Value>(kind: Metric['kind'], made: () => Value) =>
    new Map(
      TALLIED.filter((metric) => metric.kind === kind).map(({ name, series }) => [name, new Map(series.map((text) => [text, made()]))]),
    )
  const tally = { counts: bySeries('count', next), durations_ms: bySeries('seconds', () => [next() * 1_000, next() * 1_000]) }
  const metrics = createAutomationMetrics(TALLIED)
  const before = servedBy(await metrics.text())
  metrics.published({ counts, fold_delays_ms: [1_000, 1_500, 2_000, 2_500, 3_000], tally })
  metrics.lost()
  metrics.lost()

  const after = servedBy(await metrics.text())
  const changed = [...after].filter(([name, value]) => value !== before.get(name) && !name.includes('_bucket{'))
  const histogram = (served: string, delays_ms: readonly number[]): [string, number][] => {
    const [name = '', labels = ''] = served.split(/(?=\{)/)
    return [
      [`${name}_sum${labels}`, delays_ms.reduce((sum, delay_ms) => sum + delay_ms, 0) / 1_000],
      [`${name}_count${labels}`, delays_ms.length],
    ]
  }
  expect(Object.fromEntries(changed)).toEqual(
    Object.fromEntries([
      ['servo_publishes_total{outcome="published"}', 1],
      ['servo_publishes_total{outcome="lost"}', 2],
      ...histogram('servo_fold_delay_seconds', [1_000, 1_500, 2_000, 2_500, 3_000]),
      ...Object.entries(counts).map(([outcome, count]) => [`servo_events_folded_total{outcome="${outcome}"}`, count]),
      ...TALLIED.flatMap((metric) =>
        metric.series.flatMap((series): [string, number][] =>
          metric.kind === 'count'
            ? [[labelled(metric, series), tally.counts.get(metric.name)?.get(series) ?? 0]]
            : histogram(labelled(metric, series), tally.durations_ms.get(metric.name)?.get(series) ?? []),
        ),
      ),
    ]),
  )
  // Every series was there before, at 0: a first step that nobody sees the zero before is no step to Prometheus.
  expect(changed.filter(([name]) => before.get(name) !== 0)).toEqual([])
})

/** Dashboards and rules ask for these names: a noun that calls one otherwise breaks them. */
test('the series of runs, tasks, schedules and refusals are served as they are called in dashboards and rules', () => {
  const some = ['PENDING', 'RETRY_WAIT WITHDRAWN', 'START_DEADLINE', 'SCHEDULE', 'SKIPPED', 'STALE_BASIS', 'ready_to_dispatched', '']
  const found = TALLIED.flatMap((metric) => some.filter((text) => metric.series.includes(text)).map((text) => labelled(metric, text)))
  expect(found.sort()).toEqual([
    'servo_attempts_lost_total{reason="START_DEADLINE"}',
    'servo_dispatch_delay_seconds{stage="ready_to_dispatched"}',
    'servo_events_refused_total{reason="STALE_BASIS"}',
    'servo_run_key_conflicts_total',
    'servo_run_requests_total{source="SCHEDULE"}',
    'servo_runs_total{state="PENDING"}',
    'servo_schedule_tick_delay_seconds',
    'servo_schedule_ticks_total{status="SKIPPED"}',
    'servo_tasks_total{state="RETRY_WAIT",reason="WITHDRAWN"}',
  ])
})

const GAUGES = { sequence: 101, lag_ms: 102_500, turn_overdue_ms: 105_250, unfolded_segments: 103, unfolded_events: 104 }
const GAUGE_NAMES = [
  'servo_revision_sequence',
  'servo_compaction_lag_seconds',
  'servo_turn_overdue_seconds',
  'servo_unfolded_segments',
  'servo_unfolded_events',
]

test('the API serves what waits for a turn, each figure under its own name', async () => {
  const served = servedBy(await createApiMetrics(async () => GAUGES).text())
  expect(GAUGE_NAMES.map((name) => served.get(name))).toEqual([101, 102.5, 105.25, 103, 104])
  expect(served.get('servo_store_reachable')).toBe(1)
})

test('while the store does not answer, its gauge says so, and no other one shows an old value', async () => {
  let gauges: typeof GAUGES | undefined = GAUGES
  const metrics = createApiMetrics(async () => gauges)
  await metrics.text()
  gauges = undefined
  const text = await metrics.text()
  expect(servedBy(text).get('servo_store_reachable')).toBe(0)
  for (const name of GAUGE_NAMES) expect(text).toMatch(new RegExp(`^${name} nan$`, 'im'))
  gauges = GAUGES
  expect(servedBy(await metrics.text()).get('servo_compaction_lag_seconds')).toBe(102.5)
})
