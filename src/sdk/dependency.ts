// What an asset is made from: keys, or the assets themselves, which spares a typing error.

import { SAME_KEY_ONLY } from '../partitions/mapping/deployable.js'
import type { RunContext } from './context.js'
import type { AssetDefinition } from './definition.js'
import { shown, wrong } from './fault.js'
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

export type Dependency = string | Asset | { readonly asset: string | Asset; readonly mapping?: { readonly type: 'identity' } }

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

/** Identity is what no mapping means, so it is not written into the definition. */
const mapping: Check = (value, field) => {
  if (isObject(value) && value.type === 'identity') return memberFaults(value, { required: { type: () => [] }, optional: {} }, `${field}.`)
  const what = isObject(value) && typeof value.type === 'string' ? `of type ${shown(value.type)}` : shown(value)
  return [`${field} is ${what}, and ${SAME_KEY_ONLY}`]
}
