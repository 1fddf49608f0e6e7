// The partitions of a run request: read as people write them, checked against those that exist of every asset that they are
// named of, and brought into the one form that makes the same request the same fingerprint.

import { INLINE_KEYS_MAX } from '../core/limits.js'
import type { Selector } from '../events/value.js'
import { indexRange, isRefusal } from '../partitions/key-order.js'
import { anchoredAssets } from '../partitions/mapping/anchored.js'
import { keyOrderOf } from '../partitions/order.js'
import { type RunRequestInstant, requestableOrder } from '../partitions/requestable.js'
import type { AssetDefinitionRow } from '../projections/asset-table.js'
import type { Fault } from './problem.js'

export type AskedPartitions =
  | { readonly keys: readonly string[] }
  | { readonly range: { readonly start: string; readonly end: string } }
  | { readonly all: true }

/** How a selection is written: short lists in the event, long ones as an object that has to be written first. */
type WrittenPartitions = { readonly selector: Selector } | { readonly long_list: readonly string[] }

export function writePartitions(asked: AskedPartitions | undefined): WrittenPartitions {
  if (asked === undefined) return { selector: null }
  if ('all' in asked) return { selector: { all: true } }
  if ('range' in asked) {
    const { start, end } = asked.range
    return { selector: start === end ? { keys: [start] } : { range: { start, end } } }
  }
  const keys = [...new Set(asked.keys)].sort()
  return keys.length <= INLINE_KEYS_MAX ? { selector: { keys } } : { long_list: keys }
}

/** Keys of several dimensions have a short form; what is written down are the keys themselves. Assets of one run that have
 *  such keys in common have the same dimensions. */
export function canonicalPartitions(
  asked: AskedPartitions | undefined,
  definitions: readonly AssetDefinitionRow[],
): AskedPartitions | undefined {
  if (asked === undefined || 'all' in asked) return asked
  if ('keys' in asked) return { keys: canonicalKeys(asked.keys, definitions) }
  const [start, end] = canonicalKeys([asked.range.start, asked.range.end], definitions)
  return { range: { start: start as string, end: end as string } }
}

export function canonicalKeys(keys: readonly string[], definitions: readonly AssetDefinitionRow[]): readonly string[] {
  const order = keyOrderOf(anchoredAssets(definitions).find(({ partitions }) => partitions?.type === 'multi')?.partitions)
  if (isRefusal(order)) return keys
  return keys.map((key) => {
    const found = order.indexOf(key)
    return isRefusal(found) ? key : (order.keyAt(found.index) ?? key)
  })
}

/** Faults are told for a few keys and a few assets: the rest is mended by the same change. */
const FAULTS_MAX = 10

export function partitionFaults(
  asked: AskedPartitions | undefined,
  definitions: readonly AssetDefinitionRow[],
  instant: RunRequestInstant,
): readonly Fault[] {
  const named = anchoredAssets(definitions)
  const [first] = named
  if (asked === undefined) {
    if (first === undefined) return []
    const order = keyOrderOf(first.partitions)
    const example = isRefusal(order) ? '' : ` ${first.asset_key} has ${order.description}.`
    return [{ path: 'partitions', message: `The selected assets have partitions: say which.${example}` }]
  }
  if (first === undefined) return [{ path: 'partitions', message: 'None of the selected assets has partitions. Leave them out.' }]
  const anchored = new Set(named)
  const mapped = definitions.find((definition) => definition.partitions !== null && !anchored.has(definition))
  const rule =
    mapped === undefined
      ? ''
      : ` The partitions of a run are those of what it ends with; of ${mapped.asset_key} it makes those that these are made from.`
  return named
    .flatMap((definition) => faultsOf(asked, definition, instant))
    .slice(0, FAULTS_MAX)
    .map(({ path, message }) => ({ path, message: `${message}${rule}` }))
}

function faultsOf(asked: AskedPartitions, definition: AssetDefinitionRow, instant: RunRequestInstant): readonly Fault[] {
  const { asset_key, partitions } = definition
  const [order, whole] = [requestableOrder(partitions, instant), keyOrderOf(partitions)]
  if (isRefusal(order)) return [{ path: 'partitions', message: `${asset_key}: ${order.problem}` }]
  if ('all' in asked) {
    if (!isRefusal(whole) && whole.total === null) {
      return [{ path: 'partitions.all', message: `${asset_key} has ${whole.description}, which has no end. Name a range.` }]
    }
    return order.total === 0 ? [{ path: 'partitions.all', message: `There is nothing to run: ${asset_key} has ${order.description}.` }] : []
  }
  if ('range' in asked) {
    const found = indexRange(order, asked.range)
    return isRefusal(found) ? [{ path: 'partitions.range', message: `${asset_key}: ${found.problem}` }] : []
  }
  return asked.keys.flatMap((key, index): Fault[] => {
    const found = order.indexOf(key)
    return isRefusal(found) ? [{ path: `partitions.keys[${index}]`, message: `${asset_key}: ${found.problem}` }] : []
  })
}
