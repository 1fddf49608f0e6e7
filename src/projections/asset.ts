// Code locations and the assets that they define. An asset has one current definition, and belongs to one location.

import { assert } from '../core/errors.js'
import { LOCATION_SLOTS_DEFAULT } from '../core/limits.js'
import type { EventOf } from '../events/event.js'
import type { AssetDefinitionRow } from './asset-table.js'
import type { DeployedLocations, DeployJudge } from './folds/event-fold.js'
import { type Moment, notBefore, type Refusal, refusal } from './outcome.js'
import { ensureLocationPool } from './pool.js'
import { DEFINITION_MACHINE, nextStates } from './state-machine.js'
import type { KeyedRow } from './tables.js'
import type { WorkingSet } from './working-set.js'

export const keysOfAssetDefined = ({ payload }: EventOf<'AssetDefined'>): readonly KeyedRow[] => [
  { table: 'asset_definitions', key: [payload.asset_key, payload.definition_hash] },
]

export const locationVersion = (rows: WorkingSet, location_name: string): number =>
  rows.get('code_locations', location_name)?.location_version ?? 0

/** Definitions and removals of assets in a deploy, each judged by the owners that the parts before it will have left. */
export function assetJudge(rows: WorkingSet, { versionOf }: DeployedLocations): ReturnType<DeployJudge> {
  const owners = new Map<string, Owner>()
  const ownerOf = (asset_key: string): Owner => (owners.has(asset_key) ? owners.get(asset_key) : rows.currentDefinition(asset_key))
  return {
    judge(event) {
      if (event.event_type !== 'AssetDefined' && event.event_type !== 'AssetRemoved') return undefined
      const { asset_key, location_name } = event.payload
      const owner = ownerOf(asset_key)
      if (owner !== undefined && owner.location_name !== location_name) return ownedElsewhere(asset_key, owner.location_name)
      if (event.event_type === 'AssetRemoved') {
        if (owner?.definition_hash === event.basis.definition_hash) owners.set(asset_key, undefined)
      } else if (versionOf(location_name) > 0) owners.set(asset_key, event.payload)
      return undefined
    },
  }
}

type Owner = Pick<AssetDefinitionRow, 'location_name' | 'definition_hash'> | undefined

export const staleLocation = (location_name: string, location_version: number): Refusal =>
  refusal('STALE_LOCATION', { location_name, location_version })
const ownedElsewhere = (asset_key: string, location_name: string): Refusal => refusal('OWNED_ELSEWHERE', { asset_key, location_name })

export function foldCodeLocationDeployed(
  rows: WorkingSet,
  { payload, basis }: EventOf<'CodeLocationDeployed'>,
  moment: Moment,
): Refusal | undefined {
  const { location_name } = payload
  const version = locationVersion(rows, location_name)
  if (basis.expected_location_version !== version) return staleLocation(location_name, version)
  rows.put('code_locations', {
    location_name,
    location_version: version + 1,
    content_sha256: payload.content_sha256,
    worker_url: payload.worker_url,
    worker_queue: payload.worker_queue,
    slots: payload.slots ?? LOCATION_SLOTS_DEFAULT,
    prefetch: payload.prefetch ?? null,
    code_version: payload.code_version ?? null,
    sdk: payload.sdk ?? null,
    asset_count: payload.asset_count,
    schedule_count: payload.schedule_count,
    sensor_count: payload.sensor_count,
    deployed_by: payload.requested_by ?? null,
    deployed_at: moment.at,
    row_version: 0,
    last_event_id: moment.event_id,
  })
  ensureLocationPool(rows, location_name, moment)
  return undefined
}

export function foldAssetDefined(rows: WorkingSet, { payload }: EventOf<'AssetDefined'>, moment: Moment): Refusal | undefined {
  const { asset_key, definition_hash, location_name, definition } = payload
  const location = rows.get('code_locations', location_name)
  if (location === undefined) return refusal('UNKNOWN_ENTITY', { location_name })
  const current = rows.currentDefinition(asset_key)
  if (current !== undefined && current.location_name !== location_name) return ownedElsewhere(asset_key, current.location_name)

  const deployed = {
    location_name,
    location_version: location.location_version,
    description: definition.description ?? null,
    last_event_id: moment.event_id,
  }
  if (current?.definition_hash === definition_hash) {
    rows.put('asset_definitions', { ...current, ...deployed })
    return undefined
  }
  if (current !== undefined) end(rows, current, 'OTHER_DEFINED', moment)
  const known = rows.get('asset_definitions', asset_key, definition_hash)
  // The same hash is the same definition: what runs were planned by does not change when it comes back.
  if (known !== undefined)
    assert(nextStates(DEFINITION_MACHINE, known.state, 'DEFINED').includes('CURRENT'), 'Two definitions are current.')
  rows.put('asset_definitions', {
    ...(known ?? newDefinition(payload, moment)),
    ...deployed,
    state: 'CURRENT',
    current_since_at: notBefore(moment, known?.defined_at, known?.ended_at),
    ended_at: null,
  })
  return undefined
}

const newDefinition = (
  { asset_key, definition_hash, location_name, definition }: EventOf<'AssetDefined'>['payload'],
  { at, event_id }: Moment,
): AssetDefinitionRow => ({
  asset_key,
  definition_hash,
  state: 'CURRENT',
  location_name,
  location_version: 0,
  group_name: definition.group ?? null,
  description: null,
  code_version: definition.code_version ?? null,
  partitions: definition.partitions ?? null,
  deps: definition.deps,
  definition,
  defined_at: at,
  current_since_at: null,
  ended_at: null,
  row_version: 0,
  last_event_id: event_id,
})

export function foldAssetRemoved(rows: WorkingSet, { payload, basis }: EventOf<'AssetRemoved'>, moment: Moment): Refusal | undefined {
  const { asset_key, location_name } = payload
  const current = rows.currentDefinition(asset_key)
  if (current === undefined) return refusal('UNKNOWN_ENTITY', { asset_key })
  if (current.location_name !== location_name) return ownedElsewhere(asset_key, current.location_name)
  if (current.definition_hash !== basis.definition_hash) {
    return refusal('STALE_BASIS', { asset_key, definition_hash: current.definition_hash })
  }
  end(rows, current, 'REMOVED', moment)
  return undefined
}

function end(rows: WorkingSet, current: AssetDefinitionRow, by: 'OTHER_DEFINED' | 'REMOVED', moment: Moment): void {
  const state = nextStates(DEFINITION_MACHINE, current.state, by)[0]
  assert(state, `A definition that is ${current.state} cannot end.`)
  const ended_at = notBefore(moment, current.current_since_at)
  rows.put('asset_definitions', { ...current, state, ended_at, last_event_id: moment.event_id })
}
