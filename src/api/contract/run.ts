// Runs: asking for them, looking at them, cancelling them.

import { z } from 'zod'
import { CANCELLED_RUNS_MAX, LOG_LINES_PER_PAGE_MAX, SELECTORS_MAX, TASK_PARTITIONS_MAX } from '../../core/limits.js'
import { assets, count, errorValue, id, instant, longCount, priority, selector, tags } from '../../events/value.js'
import { attemptEnd } from './attempt.js'
import { outcome } from './outcome.js'
import { commanded, maybeInstant, nextCursor, numberIn, pageQuery, readQuery, waitQuery } from './page.js'
import { logLine } from './worker.js'

const selectorText = z.string().min(1, { error: 'a selector, such as an asset key or group:NAME' })
const SELECTION_RULE = `one selector, or a list of 1 to ${SELECTORS_MAX}`
const PARTITIONS_RULE = '{"keys": […]}, {"range": {"start", "end"}} or {"all": true}'
const KEYS_RULE = `a list of 1 to ${TASK_PARTITIONS_MAX} partition keys`

export const runAsked = z
  .strictObject({
    selection: z
      .union([selectorText, z.array(selectorText).min(1).max(SELECTORS_MAX)], { error: SELECTION_RULE })
      .transform((selection) => [selection].flat())
      .meta({ description: 'Asset keys, +key, key+, +key+, group:NAME, tag:NAME=VALUE or *.' }),
    partitions: z
      .union(
        [
          z.strictObject({
            keys: z
              .array(id('partition_key'), { error: KEYS_RULE })
              .min(1, { error: KEYS_RULE })
              .max(TASK_PARTITIONS_MAX, { error: KEYS_RULE }),
          }),
          z.strictObject({ range: z.strictObject({ start: id('partition_key'), end: id('partition_key') }) }),
          z.strictObject({ all: z.literal(true) }),
        ],
        { error: PARTITIONS_RULE },
      )
      .optional(),
    tags: tags.optional(),
    run_key: id('request_key').optional().meta({ description: 'The same key with the same request is the same run, for ever.' }),
    priority: priority.optional(),
    ...commanded,
  })
  .meta({ id: 'RunAsked' })

const RERUN_MODES = ['from_failure', 'whole'] as const
const RERUN_MODE_RULE = '"from_failure" for what did not succeed, or "whole" for all that the run selected'

export const rerunAsked = z
  .strictObject({
    mode: z.enum(RERUN_MODES, { error: RERUN_MODE_RULE }).meta({ description: `${RERUN_MODE_RULE}.` }),
    tags: tags.optional().meta({ description: 'Added to those of the run.' }),
    run_key: id('request_key').optional().meta({
      description: 'Without one, the same rerun of the same run is the same run, whoever asks and how often.',
    }),
    priority: priority.optional().meta({ description: 'That of the run where it is left out.' }),
    ...commanded,
  })
  .meta({ id: 'RerunAsked' })

export const runAccepted = z
  .object({
    run_id: z.string(),
    run_key: z.string(),
    accepted_event_id: z.string(),
    asset_count: count,
    ui: z.string().optional().meta({ description: 'Where a person can look at the run.' }),
    outcome: outcome.optional(),
  })
  .meta({ id: 'RunAccepted' })

export const runQuery = z.strictObject(waitQuery)

export const RUN_STATES = ['PENDING', 'PLANNED', 'RUNNING', 'CANCELLING', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const
export const TRIGGER_TYPES = ['SCHEDULE', 'SENSOR', 'BACKFILL', 'MANUAL', 'RERUN'] as const
const OPEN_RUN_STATES = ['PENDING', 'PLANNED', 'RUNNING'] as const

const tagText = z
  .string()
  .regex(/^[^=]+=/, { error: 'NAME=VALUE' })
  .meta({ description: 'NAME=VALUE; several have all to be there.' })
const tagTexts = z.union([tagText, z.array(tagText)], { error: 'NAME=VALUE' }).transform((texts) => [texts].flat())

const runFilter = {
  asset: id('asset_key').optional(),
  tag: tagTexts.optional(),
  run_key: z.string().optional(),
  trigger_type: z.enum(TRIGGER_TYPES).optional(),
  schedule: z.string().optional().meta({ description: 'Runs of this schedule: its name or its id.' }),
  tick_id: z.string().optional(),
  sensor_id: z.string().optional(),
  backfill_id: z.string().optional(),
  requested_by: z.string().optional(),
  from: instant.optional().meta({ description: 'Requested at or after it.' }),
  to: instant.optional().meta({ description: 'Requested before it.' }),
}

/** Newest first. Rows are kept by run_id, which says nothing of time: a page reads the runs of the last hour, then, where
 *  these are too few, those of a day, of a month, then all. A `from` bounds what it costs. */
export const runListQuery = z.strictObject({ ...pageQuery, ...runFilter, state: z.enum(RUN_STATES).optional() })

export const run = z
  .object({
    run_id: z.string(),
    run_key: z.string(),
    state: z.enum(RUN_STATES),
    trigger_type: z.enum(TRIGGER_TYPES),
    schedule_id: z.string().nullable().meta({ description: 'The schedule whose tick requested it; also of a rerun of such a run.' }),
    schedule_name: z.string().nullable().meta({ description: 'Its name now.' }),
    tick_id: z.string().nullable(),
    sensor_id: z.string().nullable(),
    eval_id: z.string().nullable(),
    backfill_id: z.string().nullable(),
    chunk_index: count.nullable(),
    assets,
    asset_count: count,
    partitions: selector,
    partition_end_offset: z.int().nullable().meta({
      description:
        'How many windows after the last one that existed at requested_at it may name, because its schedule says so; null: none.',
    }),
    tags,
    priority: z.int(),
    requested_by: z.string().nullable(),
    reason: z.string().nullable().meta({ description: 'Why, as the requester said it.' }),
    request_event_id: z.string(),
    parent_run_id: z.string().nullable().meta({ description: 'The run that this one is a rerun of.' }),
    root_run_id: z.string().nullable().meta({ description: 'The first of them, where reruns were run again.' }),
    rerun_mode: z.enum(['ALL', 'FROM_FAILURE']).nullable(),
    error: errorValue.nullable(),
    requested_at: instant,
    planned_at: maybeInstant,
    started_at: maybeInstant,
    finished_at: maybeInstant,
    cancel_requested_at: maybeInstant,
    cancel_requested_by: z.string().nullable(),
    cancel_reason: z.string().nullable(),
    tasks_total: count,
    tasks_open: count,
    tasks_succeeded: count,
    tasks_failed: count,
    tasks_skipped: count,
    tasks_cancelled: count,
    row_version: longCount.meta({ description: 'The revision that changed it last.' }),
  })
  .meta({ id: 'Run' })
export const runPage = z.object({ runs: z.array(run), next_cursor: nextCursor }).meta({ id: 'RunPage' })

export const runParams = z.object({ run_id: id('text') })
export const taskParams = z.object({ run_id: id('text'), task_key: id('task_key') })
export const readOne = z.strictObject(readQuery)

export const task = z
  .object({
    run_id: z.string(),
    task_key: z.string(),
    task_index: count,
    asset_key: z.string(),
    definition_hash: z.string(),
    location_name: z.string(),
    partitions: selector,
    partition_count: count,
    state: z.string(),
    attempt: count.meta({ description: '0 before the first.' }),
    attempt_id: z.string().nullable(),
    execution_id: z.string().nullable(),
    worker_id: z.string().nullable(),
    failures: count,
    infra_losses: count.meta({ description: 'Attempts that were lost by no fault of the code.' }),
    releases: count.nullable().meta({ description: 'Attempts that a worker gave back, because it ended.' }),
    max_attempts: count,
    max_infra_losses: count,
    priority: z.int(),
    pool_keys: z.array(z.string()),
    deps_total: count,
    deps_satisfied_count: count,
    ready_at: maybeInstant,
    dispatched_at: maybeInstant,
    started_at: maybeInstant,
    last_heartbeat_at: maybeInstant,
    progress: z.unknown(),
    finished_at: maybeInstant,
    start_deadline_at: maybeInstant,
    heartbeat_deadline_at: maybeInstant,
    timeout_at: maybeInstant,
    retry_at: maybeInstant,
    cancel_requested_at: maybeInstant,
    outcome_reason: z.string().nullable().meta({ description: 'Why the last attempt ended, also while the next one runs.' }),
    skip_reason: z.string().nullable(),
    materialization_id: z.string().nullable(),
    code_version: z.string().nullable(),
    metadata: z.unknown(),
    error: errorValue.nullable().meta({ description: 'Of the last attempt that ended, also while the next one runs.' }),
    row_version: longCount,
  })
  .meta({ id: 'Task' })
export const taskPage = z.object({ tasks: z.array(task), next_cursor: nextCursor }).meta({ id: 'TaskPage' })
export const taskListQuery = z.strictObject({ ...pageQuery, state: z.string().optional() })

export const timelineEntry = z
  .object({
    event_type: z.string().meta({ description: 'As the ledger names it.' }),
    at: instant,
    task_key: z.string().optional(),
    attempt: count.optional(),
    detail: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'TimelineEntry' })
export const timelinePage = z.object({ events: z.array(timelineEntry), next_cursor: nextCursor }).meta({ id: 'TimelinePage' })
export const timelineQuery = z.strictObject(pageQuery)

export const logQuery = z.strictObject({
  ...readQuery,
  attempt: numberIn(1, 1_000_000).optional().meta({ description: 'The newest where it is left out.' }),
  after: z.string().optional().meta({ description: 'next_after of the answer before: only what came since.' }),
  limit: numberIn(1, LOG_LINES_PER_PAGE_MAX).default(LOG_LINES_PER_PAGE_MAX),
})
export const logPage = z
  .object({
    attempt: count,
    attempt_id: z.string(),
    lines: z.array(logLine),
    next_after: z.string().meta({ description: 'Send it as after, now or later, for what comes next.' }),
    is_last: z.boolean().meta({ description: 'true: there is no more yet.' }),
    end: attemptEnd.nullable().meta({ description: 'Why the attempt ended; null: it succeeded, or is not over.' }),
  })
  .meta({ id: 'LogPage' })

export const cancelAsked = z.strictObject(commanded).default({}).meta({ id: 'CancelAsked' })
export const cancelAccepted = z
  .object({ run_id: z.string(), accepted_event_id: z.string(), outcome: outcome.optional() })
  .meta({ id: 'CancelAccepted' })

export const cancelManyAsked = z
  .strictObject({
    filter: z
      .strictObject({ ...runFilter, state: z.enum(OPEN_RUN_STATES).optional() })
      .refine((filter) => Object.values(filter).some((value) => value !== undefined), {
        error: 'at least one condition, such as {"state": "PENDING"}',
      }),
    ...commanded,
  })
  .meta({ id: 'CancelManyAsked' })
export const cancelManyAccepted = z
  .object({
    run_ids: z.array(z.string()).meta({ description: `The newest that fit, at most ${CANCELLED_RUNS_MAX}.` }),
    matched_count: count.meta({ description: 'How many these are.' }),
    more: z.boolean().meta({ description: 'true: more runs fit. Ask again for them.' }),
    accepted_event_id: z
      .string()
      .optional()
      .meta({ description: 'The first of the events that were appended together, that of the first run; absent where none fits.' }),
    outcome: outcome.optional().meta({ description: 'Of accepted_event_id. The others are folded with it, each by itself.' }),
  })
  .meta({ id: 'CancelManyAccepted' })
