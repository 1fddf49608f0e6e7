// The rows of a run: the run itself, its tasks, the edges between them, the attempts that did not succeed, and the outbox of
// the dispatches.

import type { Assets, ErrorValue, Selector } from '../events/value.js'
import { column, defineTable, type OpenRows, type RowOf } from './table.js'

export const OPEN_RUNS: OpenRows = { column: 'state', values: ['PENDING', 'PLANNED', 'RUNNING', 'CANCELLING'] }

export const RUNS = defineTable({
  name: 'runs',
  key: ['run_id'],
  residency: { while_open: OPEN_RUNS },
  bloom: true,
  times: ['requested_at', 'finished_at'],
  cold: { by: { column: 'finished_at' }, found_by: 'run_id', never: OPEN_RUNS },
  columns: {
    run_id: column.string,
    run_key: column.string,
    secret_key_id: column.repeated,
    request_fingerprint: column.string,
    request_event_id: column.string,
    trigger_type: column.oneOf('SCHEDULE', 'SENSOR', 'BACKFILL', 'MANUAL', 'RERUN'),
    schedule_id: column.optional.repeated,
    tick_id: column.optional.string,
    sensor_id: column.optional.repeated,
    eval_id: column.optional.string,
    backfill_id: column.optional.repeated,
    chunk_index: column.optional.int32,
    parent_run_id: column.optional.string,
    root_run_id: column.optional.string,
    rerun_mode: column.optional.oneOf('ALL', 'FROM_FAILURE'),
    requested_by: column.optional.repeated,
    /** Why, as the requester said it. */
    reason: column.optional.string,
    assets: column.json<Assets>(),
    asset_count: column.int32,
    partitions: column.json<Selector>(),
    /** How many windows after the last one that exists at `requested_at` it may name; null: none. */
    partition_end_offset: column.optional.int32,
    tags: column.json<Readonly<Record<string, string>>>(),
    priority: column.int32,
    definition_pins: column.optional.json(),
    state: column.oneOf('PENDING', 'PLANNED', 'RUNNING', 'CANCELLING', 'SUCCEEDED', 'FAILED', 'CANCELLED'),
    error: column.optional.json<ErrorValue>(),
    requested_at: column.timestamp,
    planned_at: column.optional.timestamp,
    started_at: column.optional.timestamp,
    finished_at: column.optional.timestamp,
    cancel_requested_at: column.optional.timestamp,
    cancel_requested_by: column.optional.repeated,
    cancel_reason: column.optional.string,
    /** Of the request that asked for it: its dispatches go on from there. It only informs. */
    traceparent: column.optional.string,
    tasks_total: column.int32,
    tasks_open: column.int32,
    tasks_succeeded: column.int32,
    tasks_failed: column.int32,
    tasks_skipped: column.int32,
    tasks_cancelled: column.int32,
  },
})

export const TASKS = defineTable({
  name: 'tasks',
  key: ['run_id', 'task_key'],
  residency: 'with_run',
  bloom: true,
  times: ['finished_at'],
  cold: {
    by: 'run',
    found_by: 'run_id',
    never: { column: 'state', values: ['PLANNED', 'BLOCKED', 'READY', 'DISPATCHED', 'RUNNING', 'RETRY_WAIT'] },
  },
  columns: {
    run_id: column.string,
    task_key: column.string,
    task_index: column.int32,
    asset_key: column.repeated,
    definition_hash: column.repeated,
    location_name: column.repeated,
    worker_queue: column.repeated,
    partitions: column.json<Selector>(),
    partition_count: column.int32,
    state: column.oneOf(
      'PLANNED',
      'BLOCKED',
      'READY',
      'DISPATCHED',
      'RUNNING',
      'RETRY_WAIT',
      'SKIPPED',
      'CANCELLED',
      'FAILED',
      'SUCCEEDED',
    ),
    attempt: column.int32,
    attempt_id: column.optional.string,
    execution_id: column.optional.string,
    worker_id: column.optional.repeated,
    failures: column.int32,
    infra_losses: column.int32,
    /** Attempts that a worker gave back, because it ended. */
    releases: column.optional.int32,
    max_attempts: column.int32,
    max_infra_losses: column.int32,
    retry: column.json<RetryPolicy>(),
    start_timeout_ms: column.int64,
    heartbeat_timeout_ms: column.int64,
    timeout_ms: column.optional.int64,
    cancel_grace_ms: column.int64,
    priority: column.int32,
    pool_keys: column.json<readonly string[]>(),
    deps_total: column.int32,
    deps_satisfied_count: column.int32,
    ready_at: column.optional.timestamp,
    dispatched_at: column.optional.timestamp,
    started_at: column.optional.timestamp,
    last_heartbeat_at: column.optional.timestamp,
    heartbeat_seq: column.optional.int32,
    progress: column.optional.json(),
    finished_at: column.optional.timestamp,
    start_deadline_at: column.optional.timestamp,
    heartbeat_deadline_at: column.optional.timestamp,
    timeout_at: column.optional.timestamp,
    retry_at: column.optional.timestamp,
    /** When the newest attempt ended, while another one is to follow it. */
    attempt_ended_at: column.optional.timestamp,
    cancel_requested_at: column.optional.timestamp,
    cancel_deadline_at: column.optional.timestamp,
    outcome_reason: column.optional.repeated,
    skip_reason: column.optional.repeated,
    materialization_id: column.optional.string,
    code_version: column.optional.repeated,
    metadata: column.optional.json(),
    error: column.optional.json<ErrorValue>(),
  },
})

type RetryPolicy = {
  readonly backoff_seconds: number
  readonly factor: number
  readonly max_backoff_seconds: number
  readonly jitter: number
}

export const DEP_SATISFACTION = defineTable({
  name: 'dep_satisfaction',
  key: ['run_id', 'downstream_task_key', 'upstream_task_key'],
  residency: 'with_run',
  bloom: true,
  cold: { by: 'run', found_by: 'run_id' },
  columns: {
    run_id: column.string,
    downstream_task_key: column.string,
    upstream_task_key: column.string,
    satisfied: column.boolean,
    resolution: column.optional.oneOf('SUCCESS', 'FAILED', 'SKIPPED', 'CANCELLED'),
    resolved_at: column.optional.timestamp,
    satisfying_attempt: column.optional.int32,
  },
})

/** Attempts that ended without a success, each with what was said of its end. A task's own row keeps the last one's alone. */
export const FAILED_ATTEMPTS = defineTable({
  name: 'failed_attempts',
  key: ['run_id', 'task_key', 'attempt'],
  residency: 'on_disk',
  bloom: true,
  times: ['finished_at'],
  cold: { by: 'run', found_by: 'run_id' },
  columns: {
    run_id: column.string,
    task_key: column.string,
    attempt: column.int32,
    attempt_id: column.string,
    /** null: no worker started it. */
    execution_id: column.optional.string,
    worker_id: column.optional.repeated,
    outcome: column.oneOf('FAILED', 'SKIPPED', 'CANCELLED', 'LOST'),
    /** Of a loss which one, of a skip what the code said, of a cancel who ended it. */
    reason: column.optional.repeated,
    error: column.optional.json<ErrorValue>(),
    dispatched_at: column.timestamp,
    started_at: column.optional.timestamp,
    finished_at: column.timestamp,
  },
})

export const OPEN_OUTBOX: OpenRows = { column: 'status', values: ['PENDING', 'ACKED'] }

export const DISPATCH_OUTBOX = defineTable({
  name: 'dispatch_outbox',
  key: ['run_id', 'task_key', 'attempt'],
  residency: { while_open: OPEN_OUTBOX },
  bloom: true,
  expiry: { column: 'closed_at', keep_for: 'outbox_days' },
  times: ['closed_at'],
  cold: { by: { column: 'closed_at' }, found_by: 'run_id', never: OPEN_OUTBOX },
  columns: {
    run_id: column.string,
    task_key: column.string,
    attempt: column.int32,
    dispatch_id: column.string,
    queue_task_name: column.string,
    attempt_id: column.string,
    location_name: column.repeated,
    worker_queue: column.repeated,
    status: column.oneOf('PENDING', 'ACKED', 'CLOSED', 'FAILED'),
    /** It was dispatched while all slots of its location were taken. */
    prefetched: column.optional.boolean,
    port: column.optional.oneOf('DIRECT', 'CLOUD_TASKS'),
    requested_at: column.timestamp,
    enqueued_at: column.optional.timestamp,
    closed_at: column.optional.timestamp,
    close_reason: column.optional.repeated,
  },
})

export type RunRow = RowOf<typeof RUNS>
export type TaskRow = RowOf<typeof TASKS>
export type DepSatisfactionRow = RowOf<typeof DEP_SATISFACTION>
export type FailedAttemptRow = RowOf<typeof FAILED_ATTEMPTS>
export type DispatchOutboxRow = RowOf<typeof DISPATCH_OUTBOX>
