// All that is wrong with a deploy, at once: what each definition says by itself, what they are to each other, and what
// they are to the other locations of the workspace.

import { canonicalBytes } from '../core/canonical.js'
import { cyclesIn } from '../core/cycle.js'
import { DEFINITION_BYTES_MAX, LOCATION_BYTES_MAX, LOCATION_DEFINITIONS_MAX, TIMEOUT_SECONDS_MIN } from '../core/limits.js'
import { suggestion } from '../core/spelling.js'
import type { AssetDefinition } from '../events/asset.js'
import { parseDeployable } from '../partitions/definition.js'
import { isRefusal } from '../partitions/key-order.js'
import { openLink } from '../partitions/mapping/link.js'
import { keyOrderOf } from '../partitions/order.js'
import { type AssetGraph, assetGraphOf } from '../projections/asset-selection.js'
import type { AssetDefinitionRow } from '../projections/asset-table.js'
import { type DeployPart, deployedFaults } from './definitions/deployed.js'
import type { Fault } from './problem.js'

type Deploy = {
  readonly location_name: string
  readonly assets: readonly AssetDefinition[]
}
type Current = ReadonlyMap<string, AssetDefinitionRow>

export function deployFaults(deploy: Deploy, current: Current, parts: readonly DeployPart[], now: number): readonly Fault[] {
  const { location_name } = deploy
  const graph = graphAfter(deploy, current)
  return [
    ...sizeFaults(deploy, parts),
    ...ownFaults(deploy, current),
    ...dependencyFaults(deploy, current),
    ...mappingFaults(deploy, current, now),
    ...removalFaults(deploy, current),
    ...parts.flatMap((part) => deployedFaults(part, { location_name, graph, now })),
  ]
}

/** What definitions of the deploy select from: the assets as they will be. */
function graphAfter({ location_name, assets }: Deploy, current: Current): AssetGraph {
  const others = [...current.values()].filter((row) => row.location_name !== location_name)
  return assetGraphOf([...others, ...assets.map((definition) => rowOf(definition, location_name))])
}

/** As it is kept, before it is. */
export const rowOf = (definition: AssetDefinition, location_name: string): AssetDefinitionRow => ({
  asset_key: definition.asset_key,
  definition_hash: '',
  state: 'CURRENT',
  location_name,
  location_version: 0,
  group_name: definition.group ?? null,
  description: definition.description ?? null,
  code_version: definition.code_version ?? null,
  partitions: definition.partitions ?? null,
  deps: definition.deps,
  definition,
  defined_at: 0,
  current_since_at: null,
  ended_at: null,
  row_version: 0,
  last_event_id: '',
})

function sizeFaults({ assets }: Deploy, parts: readonly DeployPart[]): readonly Fault[] {
  const lists = [assets, ...parts.map(({ asked }) => asked)]
  const plurals = parts.filter(({ asked }) => asked.length > 0).map(({ noun }) => noun.plural)
  const sum = (amountOf: (list: readonly object[]) => number) => lists.reduce((total, list) => total + amountOf(list), 0)
  const words = ['assets', ...plurals].join(' and ')
  const bytes = sum((list) => list.reduce((total, definition) => total + canonicalBytes(definition), 0))
  if (bytes > LOCATION_BYTES_MAX) {
    const message = `${words} ${plurals.length === 0 ? 'has' : 'have'} ${bytes} bytes of JSON, and ${LOCATION_BYTES_MAX} is the most. Split it into several locations.`
    return [{ path: 'assets', message }]
  }
  const count = sum(({ length }) => length)
  if (count <= LOCATION_DEFINITIONS_MAX) return []
  const message = `${words} ${plurals.length === 0 ? 'has' : 'are'} ${count}, and ${LOCATION_DEFINITIONS_MAX} is the most of a location. Split it into several locations.`
  return [{ path: 'assets', message }]
}

function ownFaults({ location_name, assets }: Deploy, current: Current): readonly Fault[] {
  const first = new Map<string, number>()
  return assets.flatMap((definition, index): Fault[] => {
    const { asset_key, partitions } = definition
    const path = `assets[${index}]`
    const faults: Fault[] = []
    const before = first.get(asset_key)
    if (before === undefined) first.set(asset_key, index)
    else faults.push({ path: `${path}.asset_key`, message: `assets[${index}] is ${asset_key}, as assets[${before}] is. Define it once.` })
    const owner = current.get(asset_key)
    if (owner !== undefined && owner.location_name !== location_name) {
      const message = `${asset_key} belongs to the code location ${owner.location_name}. Remove it there first, or give this one another key.`
      faults.push({ path: `${path}.asset_key`, message })
    }
    const parsed = partitions === undefined ? undefined : parseDeployable(partitions)
    if (parsed !== undefined && isRefusal(parsed)) faults.push({ path: `${path}.partitions`, message: `${asset_key}: ${parsed.problem}` })
    faults.push(...timeoutFaults(definition, path))
    const bytes = canonicalBytes(definition)
    if (bytes > DEFINITION_BYTES_MAX) {
      faults.push({ path, message: `The definition of ${asset_key} has ${bytes} bytes of JSON, and ${DEFINITION_BYTES_MAX} is the most.` })
    }
    return faults
  })
}

const TIMEOUTS = ['start_timeout_seconds', 'heartbeat_timeout_seconds', 'timeout_seconds'] as const

/** The schema of the event lets less pass, because what is in a ledger stays readable. */
const timeoutFaults = (definition: AssetDefinition, path: string): readonly Fault[] =>
  TIMEOUTS.flatMap((name) => {
    const value = definition[name]
    if (value === undefined || value >= TIMEOUT_SECONDS_MIN) return []
    const message = `${definition.asset_key}: ${name} is ${value}. Give it a number of seconds from ${TIMEOUT_SECONDS_MIN}: with less every attempt would be lost.`
    return [{ path: `${path}.${name}`, message }]
  })

function dependencyFaults({ location_name, assets }: Deploy, current: Current): readonly Fault[] {
  const own = new Set(assets.map(({ asset_key }) => asset_key))
  const others = [...current.values()].filter((row) => row.location_name !== location_name)
  const known = new Set([...own, ...others.map(({ asset_key }) => asset_key)])
  const unknown = assets.flatMap(({ asset_key, deps }, index) =>
    deps.flatMap((dependency, place): Fault[] => {
      if (known.has(dependency.asset_key)) return []
      const meant = suggestion(dependency.asset_key, known)
      const cure = meant === '' ? ' Define it, or remove the dependency.' : meant
      const message = `${asset_key} needs ${dependency.asset_key}, which is not defined.${cure}`
      return [{ path: `assets[${index}].deps[${place}].asset_key`, message }]
    }),
  )
  const dependencies = new Map<string, readonly string[]>([
    ...others.map((row) => [row.asset_key, row.deps.map((dep) => dep.asset_key)] as const),
    ...assets.map(({ asset_key, deps }) => [asset_key, deps.map((dep) => dep.asset_key)] as const),
  ])
  const cycles = cyclesIn(dependencies).map((path): Fault => {
    return { path: 'assets', message: `deps make a cycle: ${path.join(' needs ')}. Remove one of these dependencies.` }
  })
  return [...unknown, ...cycles]
}

/** Of this location's assets, and of those of others that are made from them: new partitions may not fit an old mapping. */
function mappingFaults({ location_name, assets }: Deploy, current: Current, now: number): readonly Fault[] {
  const others = [...current.values()].filter((row) => row.location_name !== location_name)
  const partitionsOf = new Map<string, unknown>([...others, ...assets].map(({ asset_key, partitions }) => [asset_key, partitions]))
  const own = assets.flatMap(({ asset_key, deps, partitions }, index) =>
    deps.flatMap((dependency, place): Fault[] => {
      const problem = mappingProblem(dependency, partitions, partitionsOf, now)
      if (problem === undefined) return []
      const message = `${asset_key} needs ${dependency.asset_key}, and deps[${place}].mapping cannot be used. ${problem}`
      return [{ path: `assets[${index}].deps[${place}].mapping`, message }]
    }),
  )
  const places = new Map(assets.map(({ asset_key }, index) => [asset_key, index]))
  const foreign = others.flatMap((row) =>
    row.deps.flatMap((dependency): Fault[] => {
      const index = places.get(dependency.asset_key)
      const problem = index === undefined ? undefined : mappingProblem(dependency, row.partitions, partitionsOf, now)
      if (problem === undefined) return []
      const message = `${row.asset_key} of the code location ${row.location_name} needs ${dependency.asset_key} by a mapping that does not fit it any more. ${problem} Deploy ${row.location_name} without that mapping first.`
      return [{ path: `assets[${index}].partitions`, message }]
    }),
  )
  return [...own, ...foreign]
}

/** A dependency that is not there, and partitions that cannot be read, are faults of their own. */
function mappingProblem(
  { asset_key, mapping }: AssetDefinition['deps'][number],
  downstream: unknown,
  partitionsOf: ReadonlyMap<string, unknown>,
  now: number,
): string | undefined {
  if (mapping === undefined || !partitionsOf.has(asset_key)) return undefined
  const upstream = partitionsOf.get(asset_key)
  const link = openLink(mapping, downstream, upstream, now)
  if (!isRefusal(link)) return undefined
  const readable = [downstream, upstream].every(
    (partitions) => partitions === null || partitions === undefined || !isRefusal(keyOrderOf(partitions)),
  )
  return readable ? link.problem : undefined
}

/** What another location needs cannot go away under it. */
function removalFaults({ location_name, assets }: Deploy, current: Current): readonly Fault[] {
  const kept = new Set(assets.map(({ asset_key }) => asset_key))
  const rows = [...current.values()]
  const removed = new Set(rows.filter((row) => row.location_name === location_name && !kept.has(row.asset_key)).map((row) => row.asset_key))
  return rows
    .filter((row) => row.location_name !== location_name)
    .flatMap((row) =>
      row.deps
        .filter((dep) => removed.has(dep.asset_key))
        .map(
          (dep): Fault => ({
            path: 'assets',
            message: `${dep.asset_key} is left out, and ${row.asset_key} of the code location ${row.location_name} needs it. Keep it, or deploy ${row.location_name} without that dependency first.`,
          }),
        ),
    )
}
