// What the automation serves of a publish: every series that a tally has, with its own number. A line that counts nothing, or
// counts it twice or under another name, shows here.

import { expect, test } from '@jest/globals'
import { TALLIED } from '../../src/projections/tally.js'
import { createApiMetrics } from '../../src/telemetry/api-metrics.js'
import { createAutomationMetrics } from '../../src/telemetry/automation-metrics.js'

/** No number comes twice, so none can be taken for another. */
function numbering() {
  let last = 100
  const next = (): number => ++last
  const numbered = <Value extends string>(values: readonly Value[]) => new Map(values.map((value) => [value, next()] as const))
  return { next, numbered }
}

/** Without Node's own. */
function servedBy(text: string): ReadonlyMap<string, number> {
  const lines = [...text.matchAll(/^(servo_\S+) (\S+)$/gm)].filter(([, name = '']) => !name.startsWith('servo_process_'))
  return new Map(lines.map(([, name = '', value = '']) => [name, Number(value)]))
}

const series = (name: string, label: string, counted: ReadonlyMap<string, number>): [string, number][] =>
  [...counted].map(([value, count]) => [`${name}{${label}="${value}"}`, count])

test('a publish is counted in each of its series, with labels and number', async () => {
  const { next, numbered } = numbering()
  const counts = { applied: next(), duplicate: next(), refused: next(), quarantined: next() }
  const tally = {
    run_requests: numbered(TALLIED.run_sources),
    runs: numbered(TALLIED.run_states),
    tasks: TALLIED.tasks.map((labels) => ({ ...labels, count: next() })),
    attempts_lost: numbered(TALLIED.loss_reasons),
    schedule_ticks: numbered(TALLIED.tick_statuses),
    tick_delays_ms: [3_000, 4_000],
    refusals: numbered(TALLIED.refusal_reasons),
    quarantined: numbered(TALLIED.quarantine_reasons),
    ready_to_dispatched_ms: [5_000, 6_000, 7_000],
    dispatched_to_started_ms: [8_000, 9_000, 10_000, 11_000],
  }
  const metrics = createAutomationMetrics(TALLIED)
  const before = servedBy(await metrics.text())
  metrics.published({ counts, fold_delays_ms: [1_000, 1_500, 2_000, 2_500, 3_000], tally })
  metrics.lost()
  metrics.lost()

  const after = servedBy(await metrics.text())
  const changed = [...after].filter(([name, value]) => value !== before.get(name) && !name.includes('_bucket{'))
  const histogram = (name: string, labels: string, delays_ms: readonly number[]): [string, number][] => [
    [`${name}_sum${labels}`, delays_ms.reduce((sum, delay_ms) => sum + delay_ms, 0) / 1_000],
    [`${name}_count${labels}`, delays_ms.length],
  ]
  expect(Object.fromEntries(changed)).toEqual(
    Object.fromEntries([
      ['servo_publishes_total{outcome="published"}', 1],
      ['servo_publishes_total{outcome="lost"}', 2],
      ...histogram('servo_fold_delay_seconds', '', [1_000, 1_500, 2_000, 2_500, 3_000]),
      ...series('servo_events_folded_total', 'outcome', new Map(Object.entries(counts))),
      ...series('servo_run_requests_total', 'source', tally.run_requests),
      ...series('servo_runs_total', 'state', tally.runs),
      ...tally.tasks.map(({ state, reason, count }) => [`servo_tasks_total{state="${state}",reason="${reason}"}`, count] as const),
      ...series('servo_attempts_lost_total', 'reason', tally.attempts_lost),
      ...series('servo_events_refused_total', 'reason', tally.refusals),
      ...series('servo_events_quarantined_total', 'reason', tally.quarantined),
      ['servo_run_key_conflicts_total', tally.refusals.get('RUN_KEY_CONFLICT')],
      ...histogram('servo_dispatch_delay_seconds', '{stage="ready_to_dispatched"}', tally.ready_to_dispatched_ms),
      ...histogram('servo_dispatch_delay_seconds', '{stage="dispatched_to_started"}', tally.dispatched_to_started_ms),
      ...series('servo_schedule_ticks_total', 'status', tally.schedule_ticks),
      ...histogram('servo_schedule_tick_delay_seconds', '', tally.tick_delays_ms),
    ]),
  )
  // Every series was there before, at 0: a first step that nobody sees the zero before is no step to Prometheus.
  expect(changed.filter(([name]) => before.get(name) !== 0)).toEqual([])
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
