// Every key and name that is made by a formula (DATA sections 1 and 3). Nobody spells one anywhere else, and none of
// them ever changes under its prefix: what was written under the old spelling would be said a second time.

import { base32nopad } from '@scure/base'
import { canonicalJson } from './canonical.js'
import { sha256, sha256Hex } from './hash.js'
import type { Scope } from './ids.js'
import { LOG_CHUNK_DIGITS, START_LOG_DIGITS } from './limits.js'
import { compareText } from './order.js'
import { floorTo, instantText, MINUTE_MS } from './time.js'
import { ulidAt, ulidFromBytes } from './ulid.js'

export const base32Lower = (bytes: Uint8Array): string => base32nopad.encode(bytes).toLowerCase()

// Run keys: namespaced, so that nobody's key silences another's. `epoch` is in seconds since 1970.

export const scheduleRunKey = (schedule_id: string, epoch: number, partition_key?: string): string =>
  partition_key === undefined ? `sched:${schedule_id}:${epoch}` : `sched:${schedule_id}:${epoch}:${partition_key}`
/** A tick of several partitions has a run for each. */
export const manualScheduleRunKey = (schedule_id: string, request: string, partition_key?: string): string =>
  `sched:${schedule_id}:manual:${request}${partition_key === undefined ? '' : `:${partition_key}`}`
export const sensorMessageRunKey = (sensor_id: string, message_id: string, user_key?: string): string =>
  user_key === undefined ? `sensor:${sensor_id}:msg:${message_id}` : `sensor:${sensor_id}:msg:${message_id}:${user_key}`
export const sensorRunKey = (sensor_id: string, user_key: string): string => `sensor:${sensor_id}:key:${user_key}`
/** For a poll's run request without a key of its own: the i-th of its evaluation. */
export const sensorDefaultUserKey = (eval_id: string, index: number): string => `${eval_id}-${index}`
export const backfillRunKey = (backfill_id: string, chunk_index: number): string => `backfill:${backfill_id}:chunk:${chunk_index}`
/** Without a key of their own, requests get their request id. */
export const userRunKey = (key: string): string => `user:${key}`
/** One for each mode: the same rerun of the same run is the same run, whoever asks for it and how often. */
export const rerunRunKey = (parent_run_id: string, rerun_mode: 'ALL' | 'FROM_FAILURE'): string => `rerun:${parent_run_id}:${rerun_mode}`

/** Keys that people and poll sensors choose are kept for ever; derived ones live as long as the idempotency window. */
export const isDerivedRunKey = (run_key: string): boolean =>
  run_key.startsWith('sched:') || run_key.startsWith('backfill:') || /^sensor:[^:]*:msg:/.test(run_key)

// Definitions and requests

/** The description explains a definition and is no part of what it does. */
export function definitionHash(definition: Readonly<Record<string, unknown>>): string {
  return sha256Hex(canonicalJson({ ...definition, description: undefined }))
}

/** What a location defines beside its assets, each list in the order of names. */
type DefinitionLists = { readonly schedules?: readonly object[]; readonly sensors?: readonly object[] }

/** Over whole definitions, descriptions too: a deploy that only explains better is still to be recorded. */
export function locationContentSha256(
  location_name: string,
  definitions: readonly { readonly asset_key: string }[],
  { schedules = [], sensors = [] }: DefinitionLists = {},
): string {
  const assets = [...definitions].sort((a, b) => compareText(a.asset_key, b.asset_key))
  return sha256Hex(canonicalJson({ location_name, assets, schedules, sensors }))
}

export type RunRequest = {
  /** All keys, in any order; long lists are spelled out here. */
  readonly assets: readonly string[]
  readonly partitions: unknown
  /** The requester's own. */
  readonly tags?: Readonly<Record<string, string>>
}

export const requestFingerprint = ({ assets, partitions, tags = {} }: RunRequest): string =>
  sha256Hex(canonicalJson({ assets: [...assets].sort(), partitions, tags }))

// Deploys, assets, pools

export const deployKey = ({ location_name }: { readonly location_name: string }, request: string): string =>
  `deploy:${location_name}:${request}`
export const assetDefinedKey = (
  { asset_key, definition_hash }: { readonly asset_key: string; readonly definition_hash: string },
  request: string,
): string => `asset_def:${asset_key}:${definition_hash}:${request}`
export const assetRemovedKey = ({ asset_key }: { readonly asset_key: string }, request: string): string =>
  `asset_def:${asset_key}:removed:${request}`
export const poolDefinedKey = ({ pool_key }: { readonly pool_key: string }, request: string): string => `pool_def:${pool_key}:${request}`
export const poolRemovedKey = ({ pool_key }: { readonly pool_key: string }, request: string): string =>
  `pool_def:${pool_key}:removed:${request}`
export const retentionChangedKey = (request: string): string => `retention_change:${request}`

// Runs

export const runRequestedKey = ({ run_key, request_fingerprint }: { readonly run_key: string; readonly request_fingerprint: string }) =>
  `runreq:${run_key}:${sha256Hex(request_fingerprint)}`
export const runCancelKey = ({ run_id }: { readonly run_id: string }, request: string): string => `runcancel:${run_id}:${request}`
export const planKey = ({ run_id, page }: { readonly run_id: string; readonly page: number }, request_event_id: string): string =>
  `plan:${run_id}:${request_event_id}:${page}`
export const planFailedKey = ({ run_id }: { readonly run_id: string }, request_event_id: string): string =>
  `plan:${run_id}:${request_event_id}:failed`

// Tasks and attempts

export type AttemptRef = { readonly run_id: string; readonly task_key: string; readonly attempt: number }
export type AttemptIds = AttemptRef & { readonly attempt_id: string }

/** One task an asset, or a numbered one each where the asset sets partitions_per_task. */
export const taskKey = (asset_key: string, index?: number): string => (index === undefined ? asset_key : `${asset_key}#${index}`)

/** Readable inside; it is also the idempotency key of DispatchRequested. */
export const dispatchId = ({ run_id, task_key, attempt }: AttemptRef): string => `dispatch:${run_id}:${task_key}:${attempt}`
/** For the queue: no name is used twice, so no queue's own dedupe can swallow an attempt. */
export const queueTaskName = (dispatch_id: string): string => `d_${base32Lower(sha256(dispatch_id)).slice(0, 26)}`
export const dispatchEnqueuedKey = (attempt: AttemptRef): string => `${dispatchId(attempt)}:enqueued`
export const taskStartedKey = ({ run_id, task_key, attempt, attempt_id }: AttemptIds): string =>
  `started:${run_id}:${task_key}:${attempt}:${attempt_id}`
export const taskHeartbeatKey = ({ run_id, task_key, attempt, attempt_id, seq }: AttemptIds & { readonly seq: number }): string =>
  `heartbeat:${run_id}:${task_key}:${attempt}:${attempt_id}:${seq}`
export const taskFinishedKey = ({ run_id, task_key, attempt, attempt_id }: AttemptIds): string =>
  `finished:${run_id}:${task_key}:${attempt}:${attempt_id}`
export const attemptLostKey = ({ run_id, task_key, attempt }: AttemptRef): string => `lost:${run_id}:${task_key}:${attempt}`

/** Who has an attempt that is taken back: no execution, so that none can start it. The same for all who take it back. */
export const withdrawnExecutionId = (attempt_id: string): string => ulidFromBytes(sha256(`withdrawn/${attempt_id}`).subarray(0, 16))

// What is defined under a name

export type DefinedWord = 'schedule' | 'sensor'

/** The id of one that a deploy brings: the same for the same request, however often its claim is planned again. */
export const deployedId = (word: DefinedWord, request: string, name: string): string =>
  ulidFromBytes(sha256(`${word}/${request}/${name}`).subarray(0, 16))
export const definedKey = (word: DefinedWord, id: string, request: string): string => `${word}_def:${id}:${request}`
export const removedKey = (word: DefinedWord, id: string, request: string): string => `${word}_removed:${id}:${request}`
export const statusKey = (word: DefinedWord, id: string, request: string): string => `${word}_status:${id}:${request}`

// Schedules

/** `epoch` is that of the decision's `to`, in seconds, rounded down. */
export const scheduleTickedKey = (schedule_id: string, epoch: number): string => `sched_tick:${schedule_id}:${epoch}`
export const manualScheduleTickedKey = (schedule_id: string, request: string): string => `sched_tick:${schedule_id}:manual:${request}`
export const tickId = (schedule_id: string, epoch: number): string => `${schedule_id}:${epoch}`
export const manualTickId = (schedule_id: string, request: string): string => `${schedule_id}:manual:${request}`

// Sensors

export const sensorPollKey = (sensor_id: string, poll_epoch: number, cursor_before: string | null): string =>
  `sensor_eval:${sensor_id}:poll:${poll_epoch}:${sha256Hex(cursor_before ?? '')}`

// Objects

export const STARTS_PREFIX = 'starts/'
/** Attempts of one location that were dispatched by the same turn share a log of starts; entries count from 1. */
export type StartGroup = { readonly location_name: string; readonly dispatched_at: number }
export const startLogFolder = ({ location_name, dispatched_at }: StartGroup): string =>
  `${STARTS_PREFIX}${sha256Hex(canonicalJson({ dispatched_at: instantText(dispatched_at), location_name }))}/`
export const startLogName = (group: StartGroup, entry: number): string =>
  `${startLogFolder(group)}${String(entry).padStart(START_LOG_DIGITS, '0')}.json`
export const LISTS_PREFIX = 'lists/'
/** The list's text is its object's whole body. */
export const listName = (list_sha256: string): string => `${LISTS_PREFIX}${list_sha256}.json`
export const listSha256 = (values: readonly string[]): string => sha256Hex(canonicalJson(values))
/** Pages of the chain, and the pack indices beside them. */
export const CHAIN_PREFIX = 'manifests/orchestration/chain/'
export const CLAIMS_PREFIX = 'claims/'
export const claimName = (claim: { readonly client_key: string; readonly principal: string; readonly route: string }): string =>
  `${CLAIMS_PREFIX}${sha256Hex(canonicalJson({ client_key: claim.client_key, principal: claim.principal, route: claim.route }))}.json`
/** Under the same prefix as claims of commands, and collected with them. `run_key` has its namespace. */
export const runKeyClaimName = (run_key: string): string => `${CLAIMS_PREFIX}${sha256Hex(canonicalJson({ run_key }))}.json`

export const LOGS_PREFIX = 'logs/'
/** What an attempt logged, chunk by chunk: names in the order of their numbers. */
export const logFolder = ({ run_id, attempt_id }: Pick<AttemptIds, 'run_id' | 'attempt_id'>): string =>
  `${LOGS_PREFIX}${run_id}/${sha256Hex(attempt_id)}/`
export const logChunkName = (attempt: Pick<AttemptIds, 'run_id' | 'attempt_id'>, chunk: number): string =>
  `${logFolder(attempt)}${String(chunk).padStart(LOG_CHUNK_DIGITS, '0')}.ndjson`

// Segments

export type KeyedEvent = { readonly idempotency_key: string; readonly basis?: unknown }

/** Over all keys and bases of a segment: two segments with the same digest say the same. */
export function keysSha256({ tenant_id, workspace_id }: Scope, events: Iterable<KeyedEvent>): string {
  const lines: string[] = []
  for (const { idempotency_key, basis } of events) {
    lines.push(`${idempotency_key}\t${basis === undefined ? '-' : sha256Hex(canonicalJson(basis))}`)
  }
  lines.sort()
  return sha256Hex(['servo-seg-v1', tenant_id, workspace_id, ...lines].join('\n'))
}

/** The minute that a segment is named in: that of its arrival, but never one that a turn has closed. */
export const segmentMinute = (now_ms: number, closed_through_ms: number): number =>
  Math.max(floorTo(now_ms, MINUTE_MS), closed_through_ms + MINUTE_MS)

/** `salt` counts from 1 where the same 80 bits are taken by other keys, which nobody will ever see. */
export function segmentNameAt(minute_ms: number, keys_sha256: string, salt = 0): string {
  const digest = salt === 0 ? keys_sha256 : sha256Hex(`${keys_sha256}/${salt}`)
  return ulidAt(minute_ms, hexBytes(digest, 10))
}

function hexBytes(hex: string, count: number): Uint8Array {
  const bytes = new Uint8Array(count)
  for (let i = 0; i < count; i++) bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16)
  return bytes
}
