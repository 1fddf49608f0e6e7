// Keys that are listed, in the order in which they are: by the definition, or as they were added.

import { nearestWord } from '../core/spelling.js'
import type { KeyOrder, PartitionType } from './key-order.js'

export function openList(type: PartitionType, keys: readonly string[]): KeyOrder {
  const indexByKey = new Map(keys.map((key, index) => [key, index]))
  const keyAt = (index: number): string | null => keys[index] ?? null
  const list: KeyOrder = {
    type,
    description: `the ${keys.length === 1 ? 'one key' : `${keys.length} keys`} of a ${type} definition`,
    total: keys.length,
    is_endless: false,
    size: () => keys.length,
    keyAt,
    entryAt: (index) => {
      const key = keyAt(index)
      return key === null ? null : { partition_key: key, sort_key: key, partition_values: null }
    },
    indexOf: (key) => {
      const index = indexByKey.get(key)
      if (index !== undefined) return { index }
      if (keys.length === 0) return { problem: `"${key}" is no key: there is none yet.`, nearest: null }
      const nearest = nearestKey(keys, key)
      return { problem: `"${key}" is none of its keys. ${nearest === null ? keysSentence(keys) : `The nearest is "${nearest}".`}`, nearest }
    },
    windowAt: () => null,
    at: () => list,
  }
  return list
}
/** One of which it is a slip, else the one that begins like it for longest. null: it is like none of them. */
function nearestKey(keys: readonly string[], key: string): string | null {
  const meant = nearestWord(key, keys)
  if (meant !== undefined) return meant
  const wanted = key.toLowerCase()
  let nearest: string | null = null
  let sharedMax = 0
  for (const each of keys) {
    const candidate = each.toLowerCase()
    let shared = 0
    while (shared < wanted.length && candidate[shared] === wanted[shared]) shared++
    if (shared > sharedMax) [nearest, sharedMax] = [each, shared]
  }
  return nearest
}

function keysSentence(keys: readonly string[]): string {
  const [first, last] = [keys[0], keys.at(-1)]
  return keys.length === 1 ? `The only one is "${first}".` : `There are ${keys.length}: the first is "${first}", the last "${last}".`
}
