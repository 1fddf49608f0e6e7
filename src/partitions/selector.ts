// From what an event selects to the rows that it touches. Rows are sorted by sort_key, so the key alone is not enough.

import { assert } from '../core/errors.js'
import { partitionKeyProblem } from '../core/partition-key.js'
import { openCalendar } from './calendar.js'
import { parseDefinition } from './definition.js'
import { indexRange, isRefusal, type KeyOrder, type Refusal } from './key-order.js'
import { openStatic } from './static.js'

/** `sel` of DATA section 1. */
export type PartitionSelector =
  | null
  | { readonly keys: readonly string[] }
  | { readonly range: { readonly start: string; readonly end: string } }
  | { readonly list: { readonly sha256: string; readonly count: number; readonly offset?: number | undefined } }
  | { readonly all: true }
  | { readonly dims: Readonly<Record<string, unknown>> }

export type SelectedKey = {
  readonly partition_key: string
  readonly sort_key: string
  /** The value of each dimension; null where there are none. */
  readonly partition_values: Readonly<Record<string, string>> | null
}

export type Selected = { readonly keys: readonly SelectedKey[] } | Refusal

// Memory of a pure function, as long as the definition's row is held: what every event of an asset would repeat.
const orders = new WeakMap<object, KeyOrder | Refusal>()

/** The order of a definition's keys, or why this version has none for it. */
export function keyOrderOf(definition: unknown): KeyOrder | Refusal {
  if (typeof definition !== 'object' || definition === null) return openOrder(definition)
  const known = orders.get(definition)
  if (known !== undefined) return known
  const order = openOrder(definition)
  orders.set(definition, order)
  return order
}

/** `definition` is the JSON of the asset's definition, null for an asset without partitions. Keys of a definition that
 *  this version does not understand are taken as they are: a row under its plain key is better than none. */
export function expandSelector(
  definition: unknown,
  selector: PartitionSelector,
  lists: (sha256: string) => readonly string[] | undefined,
  limit: number,
): Selected {
  if (selector === null) return { keys: [{ partition_key: '', sort_key: '', partition_values: null }] }
  if ('dims' in selector) return { problem: 'Partitions by dimension belong to a later version of Servo: name keys, a range or a list.' }
  if ('range' in selector) return expandRange(definition, selector.range, limit)
  if ('all' in selector) return expandAll(definition, limit)
  const keys = 'keys' in selector ? selector.keys : sliceOf(selector.list, lists)
  return isRefusal(keys) ? keys : expandKeys(definition, keys, limit)
}

function openOrder(definition: unknown): KeyOrder | Refusal {
  if (definition === null || definition === undefined) return { problem: 'The asset has no partitions.' }
  const parsed = parseDefinition(definition)
  if (isRefusal(parsed)) return parsed
  return parsed.type === 'daily' ? openCalendar(parsed) : openStatic(parsed)
}

function expandKeys(definition: unknown, keys: readonly string[], limit: number): Selected {
  if (keys.length > limit) return { problem: `${keys.length} keys are selected, and ${limit} is the most here: select fewer.` }
  const order = keyOrderOf(definition)
  const selected: SelectedKey[] = []
  for (const key of keys) {
    if (isRefusal(order)) {
      const problem = partitionKeyProblem(key)
      if (problem !== null) return { problem: `The partition key ${JSON.stringify(key)} ${problem}.` }
      selected.push({ partition_key: key, sort_key: key, partition_values: null })
      continue
    }
    const found = order.indexOf(key)
    if (isRefusal(found)) return { problem: `The partition key ${found.problem}` }
    selected.push(selectedAt(order, found.index, key))
  }
  return { keys: selected }
}

const selectedAt = (order: KeyOrder, index: number, partition_key = order.keyAt(index)): SelectedKey => {
  const sort_key = order.sortKeyAt(index)
  assert(partition_key !== null && sort_key !== null, `Index ${index} was found in ${order.description} and has no key.`)
  return { partition_key, sort_key, partition_values: null }
}

function sliceOf(
  { sha256, count, offset = 0 }: { readonly sha256: string; readonly count: number; readonly offset?: number | undefined },
  lists: (sha256: string) => readonly string[] | undefined,
): readonly string[] | Refusal {
  const list = lists(sha256)
  if (list === undefined) return { problem: `The list ${sha256} is not there: write it before the event that names it.` }
  if (offset + count > list.length) {
    return { problem: `The list ${sha256} has ${list.length} keys, and ${count} from ${offset} on are selected: select what it has.` }
  }
  return list.slice(offset, offset + count)
}

function expandRange(definition: unknown, range: { readonly start: string; readonly end: string }, limit: number): Selected {
  const order = keyOrderOf(definition)
  if (isRefusal(order)) return { problem: `A range needs partitions that have an order. ${order.problem}` }
  const found = indexRange(order, range)
  if (isRefusal(found)) return found
  if (found.count > limit) {
    const end = order.keyAt(found.first + limit - 1)
    return { problem: `The range has ${found.count} keys, and ${limit} is the most here: end it at "${end}" or before.` }
  }
  return { keys: Array.from({ length: found.count }, (_, i) => selectedAt(order, found.first + i)) }
}

function expandAll(definition: unknown, limit: number): Selected {
  const order = keyOrderOf(definition)
  if (isRefusal(order)) return { problem: `All partitions cannot be selected. ${order.problem}` }
  if (order.type !== 'static' || order.total === null) {
    return {
      problem: `Partitions by time are selected by a range, not all at once: name the first and the last key of ${order.description}.`,
    }
  }
  if (order.total > limit) return { problem: `All partitions are ${order.total} keys, and ${limit} is the most here: select a range.` }
  return { keys: Array.from({ length: order.total }, (_, i) => selectedAt(order, i)) }
}
