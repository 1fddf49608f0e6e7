// From published rows to what a worker is handed: partitions key by key, what is known of upstream, and the token for the
// callbacks. Everything comes from one revision.

import { API_PREFIX } from '../api/contract/path.js'
import type { Dispatch, Upstream } from '../api/contract/worker.js'
import { assert } from '../core/errors.js'
import type { Scope } from '../core/ids.js'
import { PREFETCH_WAIT_MS_MAX, TASK_PARTITIONS_MAX } from '../core/limits.js'
import { DAY_MS, instantText } from '../core/time.js'
import { makeToken, type Secrets } from '../core/token.js'
import { expandSelector } from '../partitions/selector.js'
import { placeInTime } from '../projections/dispatch-order.js'
import type { DispatchOutboxRow, TaskRow } from '../projections/run-table.js'
import { readDefinitionsOf } from '../readers/assets.js'
import { readTaskLists } from '../readers/outbox.js'
import type { View } from '../readers/reader.js'
import { readUpstream, type Wanted } from '../readers/upstream.js'
import type { ObjectStore } from '../storage/object-store.js'

export type EnvelopeDeps = {
  readonly store: ObjectStore
  readonly scope: Scope
  readonly secrets: Secrets
  /** Where the API is for workers. */
  readonly callback_url: string
}

export type OutboxEntry = { readonly outbox: DispatchOutboxRow; readonly task: TaskRow }

/** A token outlives what it is for: an attempt without a time-out may run for weeks. */
const TOKEN_KEPT_MS = 30 * DAY_MS

const ATTEMPTS_PATH = `${API_PREFIX}/attempts`

/** Attempts that cannot be handed over carry the reason: their partitions are not to be had any more. */
type Envelope = { readonly entry: OutboxEntry } & ({ readonly dispatch: Dispatch } | { readonly problem: string })

export async function envelopesOf(deps: EnvelopeDeps, view: View, entries: readonly OutboxEntry[]): Promise<readonly Envelope[]> {
  const tasks = entries.map(({ task }) => task)
  const definitionOf = await readDefinitionsOf(view, tasks)
  const lists = await readTaskLists(
    deps.store,
    tasks.map(({ partitions }) => partitions),
  )
  const requestedAt = await readRequestedAt(view, tasks)
  const wanted: Wanted[] = []
  const partial = entries.map((entry) => {
    const { task } = entry
    const definition = definitionOf(task)
    assert(definition, `The definition ${task.definition_hash} of ${task.asset_key} is in no table.`)
    const selected = expandSelector(definition.partitions, task.partitions, (sha256) => lists.get(sha256), TASK_PARTITIONS_MAX)
    if ('problem' in selected) return { entry, problem: selected.problem }
    const partition_keys = task.partitions === null ? null : selected.keys.map(({ partition_key }) => partition_key)
    const want: Wanted = { definition, partition_keys, requested_at: requestedAt(task.run_id) }
    wanted.push(want)
    return { entry, partition_keys, want }
  })
  const upstream = await readUpstream(view, wanted)
  return partial.map((each): Envelope => {
    const { entry, problem, partition_keys, want } = each
    if (problem !== undefined) return { entry, problem }
    return { entry, dispatch: dispatchOf(deps, view, entry, partition_keys, upstream.get(want) ?? {}) }
  })
}

async function readRequestedAt(view: View, tasks: readonly TaskRow[]): Promise<(run_id: string) => number> {
  const run_ids = [...new Set(tasks.map(({ run_id }) => run_id))]
  const runs = await view.rows(
    'runs',
    run_ids.map((run_id) => [run_id]),
  )
  const known = new Map(runs.map(({ run_id, requested_at }) => [run_id, requested_at]))
  return (run_id) => {
    const requested_at = known.get(run_id)
    assert(requested_at !== undefined, `The run ${run_id} of a task that is to be handed over is in no table.`)
    return requested_at
  }
}

function dispatchOf(
  { scope, secrets, callback_url }: EnvelopeDeps,
  { sequence }: View,
  { outbox, task }: OutboxEntry,
  partition_keys: readonly string[] | null,
  upstream: Upstream,
): Dispatch {
  const { run_id, task_key, attempt, attempt_id } = outbox
  const start_deadline_at = task.start_deadline_at ?? outbox.requested_at + task.start_timeout_ms
  const expires_at = start_deadline_at + (task.timeout_ms ?? 0) + TOKEN_KEPT_MS
  return {
    ...scope,
    run_id,
    task_key,
    attempt,
    attempt_id,
    asset_key: task.asset_key,
    location_name: outbox.location_name,
    definition_hash: task.definition_hash,
    partition_keys,
    upstream,
    callback_url: `${callback_url}${ATTEMPTS_PATH}/${attempt_id}`,
    callbacks_url: `${callback_url}${ATTEMPTS_PATH}/callbacks`,
    task_token: makeToken(secrets, { ...scope, run_id, task_key, attempt, attempt_id, expires_at }),
    start_deadline_at: instantText(start_deadline_at),
    ...(outbox.prefetched === true ? { wait_for_slot: { place: placeInTime(task), ms_max: PREFETCH_WAIT_MS_MAX } } : {}),
    heartbeat_timeout_ms: task.heartbeat_timeout_ms,
    timeout_ms: task.timeout_ms,
    sequence,
  }
}
