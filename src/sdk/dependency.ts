// What an asset is made from: keys, or the assets themselves, which spares a typing error.

import { mappingFormProblem } from '../partitions/mapping/definition.js'
import { isSameKey } from '../partitions/mapping/link.js'
import type { RunContext } from './context.js'
import type { AssetDefinition } from './definition.js'
import { wrong } from './fault.js'
import type { DependencyMapping } from './mapping.js'
import { type Check, type Faults, idOf, isObject, memberFaults, twice } from './member.js'
import type { RunResult } from './result.js'

/** By name in the registry of symbols: the copy of this module that a user's code has makes the same assets. */
export const ASSET: unique symbol = Symbol.for('servo.asset')

export type Run = (context: RunContext) => RunResult | Promise<RunResult>

export type Asset<Key extends string = string> = {
  readonly [ASSET]: true
  readonly key: Key
  readonly definition: AssetDefinition
  readonly run: Run
}

export type Dependency = string | Asset | { readonly asset: string | Asset; readonly mapping?: DependencyMapping }

/** The key by which `context.upstream` knows a dependency. */
export type KeyOf<D> = D extends string
  ? D
  : D extends { readonly asset: infer Named }
    ? KeyOf<Named>
    : D extends Asset<infer Key>
      ? Key
      : never

export const isAsset = (value: unknown): value is Asset => typeof value === 'object' && value !== null && ASSET in value

const RULE = 'an asset, the key of one, or {"asset": …}'
const assetKey = idOf('asset_key')

/** As the definition has it: identity is what no mapping means, so it is not written. */
export function writtenDependency(dependency: Dependency): { readonly asset_key: string; readonly mapping?: DependencyMapping } {
  const asset_key = dependencyKey(dependency) as string
  const { mapping } = isObject(dependency) && 'asset' in dependency ? (dependency as { readonly mapping?: DependencyMapping }) : {}
  return mapping === undefined || isSameKey(mapping) ? { asset_key } : { asset_key, mapping }
}

/** The key that a dependency names; undefined where it names none. An asset has `key`, the longer form `asset`. */
export function dependencyKey(dependency: unknown): string | undefined {
  const named = isObject(dependency) && 'asset' in dependency ? dependency.asset : dependency
  if (typeof named === 'string') return named
  return isAsset(named) ? named.key : undefined
}

export const dependencyFaults: Check = (value, field) => {
  if (!Array.isArray(value)) return [wrong(field, value, 'a list of assets or their keys; [] where there are none')]
  const faults = Array.from(value, (each, i) => oneFaults(each, `${field}[${i}]`)).flat()
  const keys = value.map(dependencyKey)
  return keys.includes(undefined) ? faults : [...faults, ...twice(keys as string[], field)]
}

function oneFaults(dependency: unknown, field: string): Faults {
  if (dependency === undefined) {
    return [`${field} is undefined. Name it by its key: an asset of a module that imports this one is not there yet.`]
  }
  if (typeof dependency === 'string') return assetKey(dependency, field)
  if (!isObject(dependency) || dependency instanceof Date) return [wrong(field, dependency, RULE)]
  if ('asset' in dependency) return memberFaults(dependency, { required: { asset: named }, optional: { mapping } }, `${field}.`)
  return named(dependency, field)
}

const named: Check = (value, field) => {
  if (typeof value === 'string') return assetKey(value, field)
  return dependencyKey(value) === undefined ? [wrong(field, value, RULE)] : []
}

/** Whether it fits the partitions of both assets is found when they are deployed. */
const mapping: Check = (value, field) => {
  const problem = mappingFormProblem(value)
  return problem === undefined ? [] : [`${field} cannot be used. ${problem}`]
}
