// From what an event selects to the rows that it touches. Rows are sorted by sort_key, so the key alone is not enough.

import { assert } from '../core/errors.js'
import { partitionKeyProblem } from '../core/partition-key.js'
import { type Block, blockOf, type DimensionSelector } from './block.js'
import { type Entry, indexRange, isRefusal, type KeyOrder, type Refusal } from './key-order.js'
import { keyOrderOf } from './order.js'

/** `sel` of DATA section 1. */
export type PartitionSelector =
  | null
  | { readonly keys: readonly string[] }
  | { readonly range: { readonly start: string; readonly end: string } }
  | { readonly list: { readonly sha256: string; readonly count: number; readonly offset?: number | undefined } }
  | { readonly all: true }
  | { readonly dims: Readonly<Record<string, DimensionSelector>> }

export type SelectedKey = Entry

type Selected = { readonly keys: readonly SelectedKey[] } | Refusal

/** `definition` is the JSON of the asset's definition, null for an asset without partitions. Keys of a definition that
 *  this version does not understand are taken as they are: a row under its plain key is better than none. */
export function expandSelector(
  definition: unknown,
  selector: PartitionSelector,
  lists: (sha256: string) => readonly string[] | undefined,
  limit: number,
): Selected {
  if (selector === null) return { keys: [{ partition_key: '', sort_key: '', partition_values: null }] }
  return expandIn(keyOrderOf(definition), selector, lists, limit)
}

/** As `expandSelector`, in an order that was opened before: that of the whole definition, or of what exists of it. */
export function expandIn(
  order: KeyOrder | Refusal,
  selector: NonNullable<PartitionSelector>,
  lists: (sha256: string) => readonly string[] | undefined,
  limit: number,
): Selected {
  if ('dims' in selector) return expandDims(order, selector.dims, limit)
  if ('range' in selector) return expandRange(order, selector.range, limit)
  if ('all' in selector) return expandAll(order, limit)
  const keys = 'keys' in selector ? selector.keys : sliceOf(selector.list, lists)
  return isRefusal(keys) ? keys : expandKeys(order, keys, limit)
}

function expandKeys(order: KeyOrder | Refusal, keys: readonly string[], limit: number): Selected {
  if (keys.length > limit) return { problem: `${keys.length} keys are selected, and ${limit} is the most here: select fewer.` }
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
    selected.push(entryAt(order, found.index))
  }
  return { keys: selected }
}

/** Under the key that the definition writes: a key of dimensions has a short form, too. */
function entryAt(order: Pick<KeyOrder, 'entryAt' | 'description'>, index: number): SelectedKey {
  const entry = order.entryAt(index)
  assert(entry !== null, `Index ${index} was found in ${order.description} and has no key.`)
  return entry
}

/** The keys of a list that a selector names. */
export function sliceOf(
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

function expandRange(order: KeyOrder | Refusal, range: { readonly start: string; readonly end: string }, limit: number): Selected {
  if (isRefusal(order)) return { problem: `A range needs partitions that have an order. ${order.problem}` }
  const found = indexRange(order, range)
  if (isRefusal(found)) return found
  if (found.count > limit) {
    const end = order.keyAt(found.first + limit - 1)
    return { problem: `The range has ${found.count} keys, and ${limit} is the most here: end it at "${end}" or before.` }
  }
  return { keys: Array.from({ length: found.count }, (_, i) => entryAt(order, found.first + i)) }
}

function expandAll(order: KeyOrder | Refusal, limit: number): Selected {
  if (isRefusal(order)) return { problem: `All partitions cannot be selected. ${order.problem}` }
  const { total, is_endless } = order
  if (total === null || is_endless)
    return { problem: `All at once cannot be selected of ${order.description}, which have no end: select a range.` }
  if (total > limit) return { problem: `All partitions are ${total} keys, and ${limit} is the most here: select a range.` }
  return { keys: Array.from({ length: total }, (_, i) => entryAt(order, i)) }
}

function expandDims(order: KeyOrder | Refusal, dims: Readonly<Record<string, DimensionSelector>>, limit: number): Selected {
  if (isRefusal(order)) return { problem: `Dimensions cannot be selected. ${order.problem}` }
  const block: Block | Refusal = blockOf(order, dims)
  if (isRefusal(block)) return block
  if (block.count > limit) return { problem: `The dimensions select ${block.count} keys, and ${limit} is the most here: select fewer.` }
  return { keys: Array.from({ length: block.count }, (_, i) => block.entryAt(i)) }
}
