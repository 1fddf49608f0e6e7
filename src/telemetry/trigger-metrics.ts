// Metrics of nouns that are still to come. What is theirs stands at zero: dashboards and rules that name it work from the first
// of them on, and none has to be changed then.

import { type MetricsRegistry, seriesOf } from './metrics.js'

const SENSOR_TYPES = ['PUSH', 'POLL']
const EVALUATION_STATUSES = ['TRIGGERED', 'NO_DATA', 'ERROR', 'SKIPPED_STALE']

export function addTriggerMetrics(registry: MetricsRegistry): void {
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
}
