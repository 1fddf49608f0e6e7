// From what users write to what a deploy records: JSON without code, the same text whatever order it was written in.

import { canonicalJson, type Json } from '../core/canonical.js'
import { definitionHash, locationContentSha256 } from '../core/keys.js'
import { compareText } from '../core/order.js'
import type { DependencyMapping } from './mapping.js'
import type { Partitions } from './partitions.js'
import type { ScheduleDefinition } from './schedule-definition.js'

export type RetryOptions = {
  /** Tries that fail by the code's own fault; 1 where it is left out: no second try. */
  readonly max_attempts?: number
  /** Tries that are lost with their worker, which are counted apart. */
  readonly max_infra_losses?: number
  readonly backoff_seconds?: number
  /** Each delay is this many times the one before. 1 is a fixed delay. */
  readonly factor?: number
  readonly max_backoff_seconds?: number
  /** 0 to 1: the share of a delay that is spread. */
  readonly jitter?: number
}

/** What is written as it stands: definition, options and table have one spelling of it. */
export type Policy = {
  readonly code_version?: string
  readonly description?: string
  readonly group?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly owners?: readonly string[]
  readonly retry?: RetryOptions
  readonly start_timeout_seconds?: number
  readonly heartbeat_timeout_seconds?: number
  readonly timeout_seconds?: number
  /** How long code may take to stop after its run was cancelled; then its task is closed all the same. */
  readonly cancel_grace_seconds?: number
  readonly priority?: number
  readonly pools?: readonly string[]
  readonly partitions_per_task?: number
}

/** The `definition` of AssetDefined. */
export type AssetDefinition = Policy & {
  readonly asset_key: string
  readonly deps: readonly { readonly asset_key: string; readonly mapping?: DependencyMapping }[]
  readonly partitions?: Partitions
}

type Written = {
  readonly key: string
  readonly deps: AssetDefinition['deps']
  readonly partitions?: Partitions | undefined
  readonly policy: Policy
}

/** Dependencies and pools are sets, so they are sorted; owners and keys of partitions stay in the order that was
 *  chosen. Defaults are not written: they are applied where the definition is used. */
export function buildDefinition({ key, deps, partitions, policy }: Written): AssetDefinition {
  const pools = policy.pools === undefined ? undefined : [...policy.pools].sort(compareText)
  const sorted = [...deps].sort((left, right) => compareText(left.asset_key, right.asset_key))
  // A copy by way of its text: nothing that the user changes later gets in, and no member that is undefined.
  return freeze(JSON.parse(canonicalJson({ ...policy, pools, asset_key: key, deps: sorted, partitions }))) as AssetDefinition
}

function freeze(value: Json): Json {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(freeze)
    Object.freeze(value)
  }
  return value
}

type DescribedAsset = { readonly asset_key: string; readonly definition_hash: string; readonly definition: AssetDefinition }

/** All that a deploy has to say of a location, assets in the order of their keys. */
export type DescribedLocation = {
  readonly location_name: string
  readonly content_sha256: string
  readonly assets: readonly DescribedAsset[]
  /** As a deploy says them. */
  readonly schedules: readonly ScheduleDefinition[]
}

type WithDefinition = { readonly definition: AssetDefinition }

export const describeAsset = ({ definition }: WithDefinition): DescribedAsset => ({
  asset_key: definition.asset_key,
  definition_hash: definitionHash(definition),
  definition,
})

export function describeLocation({
  name,
  assets,
  schedules = [],
}: {
  readonly name: string
  readonly assets: readonly WithDefinition[]
  readonly schedules?: readonly { readonly definition: ScheduleDefinition }[]
}): DescribedLocation {
  const described = assets.map(describeAsset).sort((a, b) => compareText(a.asset_key, b.asset_key))
  const timed = schedules.map(({ definition }) => definition).sort((a, b) => compareText(a.schedule_name, b.schedule_name))
  const content_sha256 = locationContentSha256(
    name,
    described.map(({ definition }) => definition),
    { schedules: timed },
  )
  return { location_name: name, content_sha256, assets: described, schedules: timed }
}
