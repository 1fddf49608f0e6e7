// How many keys a new definition has that the old one did not have, of those that exist at an instant. Counted by arithmetic
// where only the bounds of a definition move, and key by key where few are to be compared.

import { canonicalJson } from '../core/canonical.js'
import { COMPARED_KEYS_MAX } from '../core/limits.js'
import { isRefusal, type KeyOrder } from './key-order.js'
import { isMulti } from './multi.js'
import { keyOrderOf } from './order.js'
import { UNPARTITIONED } from './unpartitioned.js'

/** null: there are too many to compare, or this version does not know one of the two. */
export function countBegunKeys(before: unknown, after: unknown, now_ms: number): number | null {
  const [old, young] = [sideOf(before, now_ms), sideOf(after, now_ms)]
  if (old === undefined || young === undefined) return null
  const common = commonKeys(old, young, now_ms)
  return common === null ? null : young.total - common
}

type Side = { readonly definition: unknown; readonly order: KeyOrder; readonly total: number }

function sideOf(definition: unknown, now_ms: number): Side | undefined {
  const order = definition === null || definition === undefined ? UNPARTITIONED : keyOrderOf(definition)
  if (isRefusal(order)) return undefined
  const existing = order.at(now_ms)
  return { definition, order: existing, total: existing.total ?? 0 }
}

function commonKeys(old: Side, young: Side, now_ms: number): number | null {
  if (isMulti(old.order) && isMulti(young.order)) return commonCombinations(old, young, now_ms)
  if (Math.min(old.total, young.total) <= COMPARED_KEYS_MAX) return commonByKey(old.order, young.order)
  return hasSameTicks(old.definition, young.definition) ? commonInARow(old.order, young.order) : null
}

/** Keys of dimensions name them, so those of other names have none in common. */
function commonCombinations(old: Side, young: Side, now_ms: number): number | null {
  const [olds, youngs] = [dimensionsOf(old.definition), dimensionsOf(young.definition)]
  if (Object.keys(olds).sort().join('|') !== Object.keys(youngs).sort().join('|')) return 0
  let product = 1
  for (const [name, definition] of Object.entries(youngs)) {
    const [before, after] = [sideOf(olds[name], now_ms), sideOf(definition, now_ms)]
    const common = before === undefined || after === undefined ? null : commonKeys(before, after, now_ms)
    if (common === null) return null
    product *= common
  }
  return product
}

const dimensionsOf = (definition: unknown): Readonly<Record<string, unknown>> =>
  (definition as { readonly dimensions: Readonly<Record<string, unknown>> }).dimensions

function commonByKey(old: KeyOrder, young: KeyOrder): number {
  const [few, many] = (old.total ?? 0) <= (young.total ?? 0) ? [old, young] : [young, old]
  let common = 0
  for (let index = 0; index < (few.total ?? 0); index++) {
    const entry = few.entryAt(index)
    const found = entry === null ? undefined : many.indexOf(entry.partition_key)
    if (found === undefined || isRefusal(found)) continue
    // The same key with another window is another partition.
    if (many.entryAt(found.index)?.sort_key === entry?.sort_key) common += 1
  }
  return common
}

const BOUNDS = new Set(['start_date', 'end_date', 'start', 'end', 'end_offset'])

/** Definitions that differ in their bounds alone. */
function hasSameTicks(before: unknown, after: unknown): boolean {
  const withoutBounds = (definition: unknown) =>
    canonicalJson(Object.fromEntries(Object.entries(definition as object).filter(([member]) => !BOUNDS.has(member))))
  return withoutBounds(before) === withoutBounds(after)
}

/** From the later of both first keys to the earlier of both last ones. */
function commonInARow(old: KeyOrder, young: KeyOrder): number {
  const [first, last] = [(order: KeyOrder) => order.entryAt(0), (order: KeyOrder) => order.entryAt((order.total ?? 0) - 1)]
  const [oldFirst, youngFirst, oldLast, youngLast] = [first(old), first(young), last(old), last(young)]
  if (oldFirst === null || youngFirst === null || oldLast === null || youngLast === null) return 0
  const from = oldFirst.sort_key > youngFirst.sort_key ? oldFirst : youngFirst
  const to = oldLast.sort_key < youngLast.sort_key ? oldLast : youngLast
  const places = [young.indexOf(from.partition_key), young.indexOf(to.partition_key)] as const
  return places.some((place) => isRefusal(place)) ? 0 : Math.max(0, indexOf(places[1]) - indexOf(places[0]) + 1)
}

const indexOf = (found: ReturnType<KeyOrder['indexOf']>): number => ('index' in found ? found.index : 0)
