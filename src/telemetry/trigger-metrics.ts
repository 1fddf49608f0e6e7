// What schedules, sensors and backfills are watched by. Nothing decides for sensors and backfills yet, so what is theirs
// stands at zero: dashboards and rules that name it work from the first of them on, and none has to be changed then.

import { type Count, type MetricsRegistry, seriesOf } from './metrics.js'

const SENSOR_TYPES = ['PUSH', 'POLL']
const EVALUATION_STATUSES = ['TRIGGERED', 'NO_DATA', 'ERROR', 'SKIPPED_STALE']

export function addTriggerMetrics(registry: MetricsRegistry, { tick_statuses }: { readonly tick_statuses: readonly string[] }) {
  const tickDelay = registry.seconds(
    'servo_schedule_tick_delay_seconds',
    'Of each tick of the clock that ran or failed: from when it was due to the publish that shows it.',
  )
  const ticks: Count = registry.counter(
    'servo_schedule_ticks_total',
    'Instants of schedules that were decided; SKIPPED counts each of them.',
    seriesOf('status', tick_statuses),
  )
  registry.seconds(
    'servo_sensor_push_delay_seconds',
    'Of each message to a push sensor: from its publication until its evaluation is durable.',
  )
  registry.counter(
    'servo_sensor_evals_total',
    'Evaluations of sensors; SKIPPED_STALE: the sensor had changed meanwhile.',
    SENSOR_TYPES.flatMap((sensor_type) => EVALUATION_STATUSES.map((status) => ({ sensor_type, status }))),
  )
  registry.counter(
    'servo_backfill_chunks_total',
    'Chunks of backfills that reached a state; EMPTY: nothing in them was wanted.',
    seriesOf('status', ['PLANNED', 'EMPTY', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED']),
  )
  return {
    ticked(schedule_ticks: ReadonlyMap<string, number>, tick_delays_ms: readonly number[]): void {
      for (const [status, count] of schedule_ticks) ticks({ status }, count)
      for (const delay_ms of tick_delays_ms) tickDelay({}, delay_ms)
    },
  }
}
