// The protocol between Servo and a worker, in both directions: what a worker is handed, and what it says back. Any
// language can be a worker: docs/worker-protocol.md explains it, and the OpenAPI document is made from these schemas.

import { z } from 'zod'
import {
  ASSET_KEY_CHARACTERS_MAX,
  CALLBACKS_PER_REQUEST_MAX,
  CANCELS_PER_REQUEST_MAX,
  DISPATCHES_PER_REQUEST_MAX,
  LOG_LINE_CHARACTERS_MAX,
  LOG_LINES_PER_CHUNK_MAX,
  NAME_CHARACTERS_MAX,
  TASK_PARTITIONS_MAX,
  TASK_TOKEN_CHARACTERS_MAX,
  WORKER_ID_CHARACTERS_MAX,
} from '../../core/limits.js'
import { FAILURE_HAS_ERROR, SUCCESS_HAS_MATERIALIZATION } from '../../events/outcome-rule.js'
import { count, errorValue, id, instant, json, longCount, type Parsed, positiveCount, seconds, text, textOf } from '../../events/value.js'

export const WORKER_PROTOCOL = 'servo-worker-v1'
/** Where a worker listens, below the URL that its location was deployed with. */
export const DISPATCH_PATH = '/servo/v1/dispatch'
/** A worker need not have it: what it says comes with the answer to the next heartbeat, too. */
export const CANCEL_PATH = '/servo/v1/cancel'
/** By the secret of the worker's location. */
export const LOCATION_SIGNATURE_HEADER = 'servo-location-signature'
/** By the secret of the whole installation: for workers that do not have one of their location yet. The next release leaves it
 *  out. */
export const SIGNATURE_HEADER = 'servo-signature'
/** `queue`: whoever delivers this reads the status of the answer and nothing else, and delivers again what is not 2xx. */
export const DELIVERY_HEADER = 'servo-delivery'
export const DELIVERY_BY_QUEUE = 'queue'
/** With callbacks: an OIDC token that says which program calls, where the API asks for one beside the task's token. */
export const IDENTITY_HEADER = 'servo-identity'

/** Nothing depends on it: whoever does not know it leaves it out. */
const traceparent = text.exactOptional()

// What a worker is handed

const upstreamMaterialization = z
  .object({
    partition_key: text.meta({ description: 'Empty where the upstream asset has no partitions.' }),
    materialization_id: id('ulid'),
    materialized_at: instant,
    code_version: text.nullable(),
    data_version: text.nullable(),
    metadata: z.record(z.string(), json).nullable().meta({ description: 'null too where a task has more upstream partitions than 100.' }),
  })
  .meta({ id: 'UpstreamMaterialization' })

export const dispatch = z
  .object({
    tenant_id: id('tenant'),
    workspace_id: id('workspace'),
    run_id: id('text'),
    task_key: id('task_key'),
    attempt: positiveCount.meta({ description: 'From 1. Every try of a task has the next number and an attempt_id of its own.' }),
    attempt_id: id('ulid'),
    asset_key: z.string().max(ASSET_KEY_CHARACTERS_MAX),
    location_name: z.string().max(NAME_CHARACTERS_MAX),
    definition_hash: id('sha256'),
    partition_keys: z
      .array(text)
      .max(TASK_PARTITIONS_MAX)
      .nullable()
      .meta({ description: 'In the order of their definition; null where the asset has no partitions.' }),
    upstream: z
      .record(z.string(), z.array(upstreamMaterialization))
      .meta({ description: 'By asset key of each dependency: what is materialized of it, when the attempt is handed over.' }),
    callback_url: z.string().meta({ description: 'Append /started, /heartbeat, /completed or /logs.' }),
    callbacks_url: z
      .string()
      .exactOptional()
      .meta({ description: 'Where callbacks of several attempts may be sent in one request. Nobody has to.' }),
    task_token: z.string().meta({ description: 'Send it with every callback: Authorization: Bearer {task_token}.' }),
    start_deadline_at: instant,
    wait_for_slot: z
      .object({
        place: z.number().meta({ description: 'Of attempts that wait, the one with the lowest place starts first.' }),
        ms_max: longCount.meta({ description: 'One that has waited for so long is forgotten: it is given to somebody else.' }),
      })
      .exactOptional()
      .meta({
        description:
          'The attempt was dispatched ahead, while all slots were taken. A worker that says `prefetch` in its health may keep it until a slot is free.',
      }),
    heartbeat_timeout_ms: longCount.meta({ description: 'Send a heartbeat at least every third of it while the code runs.' }),
    timeout_ms: longCount.nullable(),
    sequence: longCount.meta({ description: 'The revision that this comes from: sent back with every callback.' }),
    traceparent: traceparent.meta({
      description: 'W3C trace context, where the run is traced: send it back with every callback, or a span below it.',
    }),
  })
  .meta({ id: 'Dispatch' })
export type Dispatch = Parsed<typeof dispatch>
export type Upstream = Dispatch['upstream']

export const dispatchRequest = z
  .object({ protocol: z.literal(WORKER_PROTOCOL), dispatches: z.array(dispatch).min(1).max(DISPATCHES_PER_REQUEST_MAX) })
  .meta({ id: 'DispatchRequest' })
export type DispatchRequest = Parsed<typeof dispatchRequest>

/** ACCEPTED: it is going to be started, or is under way. BUSY: no room now, send it again. REFUSED: this worker can never
 *  run it, as it is asked for. */
export const dispatchAnswer = z
  .object({
    attempt_id: id('ulid'),
    answer: z.enum(['ACCEPTED', 'BUSY', 'REFUSED']),
    error: errorValue.exactOptional().meta({ description: 'Why it was refused.' }),
  })
  .meta({ id: 'DispatchAnswer' })
export const dispatchResponse = z.object({ answers: z.array(dispatchAnswer) }).meta({ id: 'DispatchResponse' })
export type DispatchAnswer = Parsed<typeof dispatchAnswer>
export type DispatchResponse = Parsed<typeof dispatchResponse>

export const cancelRequest = z
  .object({
    protocol: z.literal(WORKER_PROTOCOL),
    attempt_ids: z.array(id('ulid')).min(1).max(CANCELS_PER_REQUEST_MAX).meta({ description: 'Attempts whose run is to be cancelled.' }),
  })
  .meta({ id: 'CancelRequest' })
export type CancelRequest = Parsed<typeof cancelRequest>

export const cancelResponse = z
  .object({ attempt_ids: z.array(id('ulid')).meta({ description: 'Those of them that this worker has, and has told to stop.' }) })
  .meta({ id: 'CancelResponse' })
export type CancelResponse = Parsed<typeof cancelResponse>

/** A worker need not have it, and needs no signature for it. */
export const HEALTH_PATH = '/healthz'

export const workerHealth = z
  .object({
    status: z.string().exactOptional().meta({ description: 'ok; or draining: it takes no new attempts, and ends.' }),
    location_name: z.string(),
    running: count.exactOptional().meta({ description: 'Attempts whose code runs.' }),
    waiting: count.exactOptional().meta({ description: 'Attempts that it keeps until a slot is free.' }),
    slots: positiveCount.meta({ description: 'Attempts whose code it runs at once.' }),
    prefetch: count.exactOptional().meta({ description: 'Attempts that it keeps beyond its slots; 0 where it is left out.' }),
    code_problem: z.string().exactOptional().meta({
      description: 'Why newer code than that which it runs could not be loaded: people who ask why nothing has changed are told.',
    }),
  })
  .meta({ id: 'WorkerHealth' })
export type WorkerHealth = Parsed<typeof workerHealth>

// What a worker says

const said = { execution_id: id('ulid'), sequence: longCount }

export const startedRequest = z
  .object({
    ...said,
    worker_id: textOf(WORKER_ID_CHARACTERS_MAX).min(1),
    code_version: text.exactOptional(),
    worker_started_at: instant.exactOptional(),
  })
  .meta({ id: 'StartedRequest' })

export const startedResponse = z
  .object({
    attempt_id: id('ulid'),
    heartbeat_interval_ms: longCount.meta({ description: 'How often to send heartbeats.' }),
    cancel: z.boolean().meta({ description: 'true: do not begin the code, and send completed with outcome CANCELLED.' }).exactOptional(),
  })
  .meta({ id: 'StartedResponse' })
export type StartedResponse = Parsed<typeof startedResponse>

const progress = z
  .object({ done: count.exactOptional(), total: count.exactOptional(), message: text.exactOptional() })
  .meta({ id: 'Progress' })

export const heartbeatRequest = z
  .object({ ...said, seq: count.meta({ description: 'Counts the beats of this execution, from 0.' }), progress: progress.exactOptional() })
  .meta({ id: 'HeartbeatRequest' })
export type HeartbeatRequest = Parsed<typeof heartbeatRequest>

export const heartbeatResponse = z
  .object({ cancel: z.boolean().meta({ description: 'true: stop, and send completed with outcome CANCELLED.' }) })
  .meta({ id: 'HeartbeatResponse' })

export const completedRequest = z
  .object({
    ...said,
    outcome: z.enum(['SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED', 'RELEASED', 'REFUSED']).meta({
      description:
        'RELEASED gives the attempt back, because the worker ends: it is tried again elsewhere, and counts as no failure of the code. REFUSED says that this worker can never run it, where a queue that reads no answers delivered it.',
    }),
    materialization_id: id('ulid').exactOptional().meta({ description: 'Needed where the outcome is SUCCEEDED.' }),
    code_version: text.exactOptional(),
    data_version: text.exactOptional(),
    metadata: z.record(z.string(), json).exactOptional().meta({ description: 'At most 16 KiB of JSON.' }),
    error: errorValue.exactOptional().meta({ description: 'Needed where the outcome is FAILED.' }),
    skip_reason: text.exactOptional(),
    retry_after_seconds: seconds(0).exactOptional(),
    worker_finished_at: instant.exactOptional(),
    slot_ms: longCount.exactOptional().meta({
      description:
        'How long the attempt had a slot: from when `started` was first sent until the code had ended. More is dispatched ahead where it is short.',
    }),
  })
  .refine(...SUCCESS_HAS_MATERIALIZATION)
  .refine(...FAILURE_HAS_ERROR)
  .meta({ id: 'CompletedRequest' })
export type CompletedRequest = Parsed<typeof completedRequest>

export const completedResponse = z.object({ accepted_event_id: id('ulid') }).meta({ id: 'CompletedResponse' })

const LOG_LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const

export const logLine = z
  .object({
    at: instant,
    level: z.enum(LOG_LEVELS),
    message: textOf(LOG_LINE_CHARACTERS_MAX),
    fields: z.record(z.string(), json).exactOptional(),
  })
  .meta({ id: 'LogLine' })
export type LogLine = Parsed<typeof logLine>

/** `chunk` counts from 0: the same number again is the same chunk, sent again because its answer was lost. */
export const logsRequest = z
  .object({ ...said, chunk: count, lines: z.array(logLine).min(1).max(LOG_LINES_PER_CHUNK_MAX) })
  .meta({ id: 'LogsRequest' })
export type LogsRequest = Parsed<typeof logsRequest>

export const logsResponse = z
  .object({ bytes_left: longCount.meta({ description: 'What this attempt may still log; at 0, send no more.' }) })
  .meta({ id: 'LogsResponse' })

// Several callbacks in one request

/** One that was already sent by itself may come again here, and the other way round. */
export const callback = z
  .object({
    attempt_id: id('ulid'),
    task_token: z.string().max(TASK_TOKEN_CHARACTERS_MAX),
    callback: z.enum(['started', 'heartbeat', 'completed']),
    body: z.record(z.string(), json).meta({ description: 'What the callback of that name has as its body.' }),
    traceparent: traceparent.meta({ description: 'As the header of that name, which a callback by itself has.' }),
  })
  .meta({ id: 'Callback' })
export type Callback = Parsed<typeof callback>

export const callbacksRequest = z
  .object({ protocol: z.literal(WORKER_PROTOCOL), callbacks: z.array(callback).min(1).max(CALLBACKS_PER_REQUEST_MAX) })
  .meta({ id: 'CallbacksRequest' })
export type CallbacksRequest = Parsed<typeof callbacksRequest>

export const callbackAnswer = z
  .object({
    attempt_id: id('ulid'),
    status: z.int().min(100).max(599).meta({ description: 'What the callback would have been answered with by itself.' }),
    retry_after_seconds: count.exactOptional(),
    body: z.record(z.string(), json).meta({ description: 'Its answer, or a problem.' }),
  })
  .meta({ id: 'CallbackAnswer' })
export type CallbackAnswer = Parsed<typeof callbackAnswer>

export const callbacksResponse = z
  .object({ answers: z.array(callbackAnswer).meta({ description: 'One for each callback, in their order.' }) })
  .meta({ id: 'CallbacksResponse' })
