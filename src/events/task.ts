// What is said about attempts: dispatches by the turn, facts by workers, losses by whoever noticed.

import { z } from 'zod'
import { PROGRESS_MESSAGE_CHARACTERS_MAX, TASK_METADATA_BYTES_MAX } from '../core/limits.js'
import { defineEvent, type EventsIn, eventsByType } from './envelope.js'
import * as example from './example-task.js'
import { FAILURE_HAS_ERROR, SUCCESS_HAS_MATERIALIZATION } from './outcome-rule.js'
import { count, errorValue, id, instant, json, longCount, positiveCount, seconds, text, textOf } from './value.js'

const IDS = { run_id: id('text'), task_key: id('task_key'), attempt: positiveCount, attempt_id: id('ulid') }

/** The revision that the worker's envelope came from: the API says nothing about an attempt before it has seen it. */
const seenSequence = z.object({ sequence: longCount })

const DISPATCH_REQUESTED = defineEvent({
  event_type: 'DispatchRequested',
  example: example.DISPATCH_REQUESTED,
  payload: z.object({
    ...IDS,
    secret_key_id: id('text'),
    queue_task_name: id('text'),
    location_name: id('name'),
    worker_queue: id('text'),
  }),
  basis: z.object({ task_state: z.enum(['READY', 'RETRY_WAIT']), previous_attempt: count, definition_hash: id('sha256') }),
})

const DISPATCH_ENQUEUED = defineEvent({
  event_type: 'DispatchEnqueued',
  example: example.DISPATCH_ENQUEUED,
  payload: z.object({ ...IDS, port: z.enum(['DIRECT', 'CLOUD_TASKS']) }),
})

const TASK_STARTED = defineEvent({
  event_type: 'TaskStarted',
  example: example.TASK_STARTED,
  payload: z.object({
    ...IDS,
    execution_id: id('ulid'),
    worker_id: id('text'),
    code_version: text.exactOptional(),
    worker_started_at: instant.exactOptional(),
  }),
  basis: seenSequence,
})

const TASK_HEARTBEAT = defineEvent({
  event_type: 'TaskHeartbeat',
  example: example.TASK_HEARTBEAT,
  payload: z.object({
    ...IDS,
    execution_id: id('ulid'),
    seq: count,
    progress: z
      .object({
        done: count.exactOptional(),
        total: count.exactOptional(),
        message: textOf(PROGRESS_MESSAGE_CHARACTERS_MAX).exactOptional(),
      })
      .exactOptional(),
  }),
  basis: seenSequence,
})

const TASK_FINISHED = defineEvent({
  event_type: 'TaskFinished',
  example: example.TASK_FINISHED,
  payload: z
    .object({
      ...IDS,
      execution_id: id('ulid'),
      outcome: z.enum(['SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED']),
      materialization_id: id('ulid').exactOptional(),
      code_version: text.exactOptional(),
      data_version: text.exactOptional(),
      metadata: json.exactOptional(),
      error: errorValue.exactOptional(),
      skip_reason: text.exactOptional(),
      retry_after_seconds: seconds(0).exactOptional(),
      worker_finished_at: instant.exactOptional(),
      /** By the worker's own measure, from when it began to ask whether it may start until its code had ended. */
      slot_ms: longCount.exactOptional(),
      /** Of CANCELLED: the attempt was taken back before any code of it ran, and no worker says it. */
      withdrawn: z.boolean().exactOptional(),
    })
    .refine(...SUCCESS_HAS_MATERIALIZATION)
    .refine(...FAILURE_HAS_ERROR),
  basis: seenSequence,
  byte_limits: [{ member: 'metadata', bytes_max: TASK_METADATA_BYTES_MAX }],
})

const ATTEMPT_LOST = defineEvent({
  event_type: 'AttemptLost',
  example: example.ATTEMPT_LOST,
  payload: z.object({
    ...IDS,
    reason: z.enum(['START_DEADLINE', 'HEARTBEAT', 'TIMEOUT', 'HANDOVER_REFUSED', 'CANCEL_GRACE']),
    error: errorValue.exactOptional(),
    /** Of HANDOVER_REFUSED: a worker that ends gave the attempt back. An older fold counts it as a loss like others. */
    released: z.boolean().exactOptional(),
    /** Of HANDOVER_REFUSED: a prefetched attempt was taken back before any code of it ran, and counts as no try. */
    withdrawn: z.boolean().exactOptional(),
  }),
  /** `deadline_at` is the one that passed. */
  basis: z.object({ task_state: z.enum(['DISPATCHED', 'RUNNING']), deadline_at: instant.exactOptional() }),
})

export const TASK_EVENTS = eventsByType(DISPATCH_REQUESTED, DISPATCH_ENQUEUED, TASK_STARTED, TASK_HEARTBEAT, TASK_FINISHED, ATTEMPT_LOST)
export type TaskEvent = EventsIn<typeof TASK_EVENTS>
