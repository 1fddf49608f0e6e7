// A request for a run as an event, and the batch of a trigger with the runs that it asks for. Ticks of the clock, people, and what
// else asks for runs say it in the same way.

import { requestFingerprint, runRequestedKey } from '../core/keys.js'
import type { Draft } from '../events/draft.js'
import type { EventOf } from '../events/event.js'
import type { Assets, Selector } from '../events/value.js'

type Payload = EventOf<'RunRequested'>['payload']
export type RequestDraft = Extract<Draft, { event_type: 'RunRequested' }>

/** Names the secret that ids of runs are made with. */
export type RunIdentity = { readonly secret_key_id: string; readonly runIdOf: (run_key: string) => string }

export type RunSpec = {
  /** With its namespace. */
  readonly run_key: string
  /** Sorted; `assets` is the same as the event has it. */
  readonly asset_keys: readonly string[]
  readonly assets: Assets
  readonly partitions: Selector
  readonly tags: Payload['tags']
  readonly priority: number
  /** What asks for it, and who. */
  readonly origin: Pick<
    Payload,
    'trigger' | 'partition_end_offset' | 'parent_run_id' | 'root_run_id' | 'rerun_mode' | 'requested_by' | 'reason'
  >
}

export function requestDraft(request: RunSpec, { secret_key_id, runIdOf }: RunIdentity): RequestDraft {
  const { run_key, asset_keys, assets, partitions, tags, priority, origin } = request
  const request_fingerprint = requestFingerprint({ assets: asset_keys, partitions, tags })
  const run_id = runIdOf(run_key)
  return {
    event_type: 'RunRequested',
    idempotency_key: runRequestedKey({ run_key, request_fingerprint }),
    correlation_id: run_id,
    payload: { run_key, run_id, secret_key_id, request_fingerprint, assets, partitions, tags, priority, ...origin },
  }
}

/** The trigger first: where the fold refuses it, it refuses its requests too. All of them are named after the first run. */
export function triggerBatch(trigger: Draft, requests: readonly RequestDraft[]): readonly Draft[] {
  const [first] = requests
  const named = first === undefined ? trigger : { ...trigger, correlation_id: first.payload.run_id }
  return [named, ...requests.map((request) => ({ ...request, caused_by: 0 }))]
}
