// Keys that are listed, in the order in which they are: by the definition, or as they were added.

import type { KeyOrder, PartitionType } from './key-order.js'

export function openList(type: PartitionType, keys: readonly string[]): KeyOrder {
  const indexByKey = new Map(keys.map((key, index) => [key, index]))
  const keyAt = (index: number): string | null => keys[index] ?? null
  const list: KeyOrder = {
    type,
    description: `the ${keys.length === 1 ? 'one key' : `${keys.length} keys`} of a ${type} definition`,
    total: keys.length,
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
      return { problem: `"${key}" is none of its keys. The nearest is "${nearest}".`, nearest }
    },
    windowAt: () => null,
    at: () => list,
  }
  return list
}
/** The one that begins like it for longest, whatever the case: made for typing errors and capitals. */
function nearestKey(keys: readonly string[], key: string): string {
  const wanted = key.toLowerCase()
  let nearest = keys[0] ?? ''
  let sharedMax = -1
  for (const each of keys) {
    const candidate = each.toLowerCase()
    let shared = 0
    while (shared < wanted.length && candidate[shared] === wanted[shared]) shared++
    if (candidate === wanted) shared++
    if (shared > sharedMax) [nearest, sharedMax] = [each, shared]
  }
  return nearest
}
