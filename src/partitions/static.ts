// Keys that the definition lists, in the order in which it lists them.

import type { StaticDefinition } from './definition.js'
import type { KeyOrder } from './key-order.js'

export function openStatic({ keys }: StaticDefinition): KeyOrder {
  const indexByKey = new Map(keys.map((key, index) => [key, index]))
  const keyAt = (index: number): string | null => keys[index] ?? null
  return {
    type: 'static',
    description: `the ${keys.length === 1 ? 'one key' : `${keys.length} keys`} of a static definition`,
    total: keys.length,
    keyAt,
    sortKeyAt: keyAt,
    indexOf: (key) => {
      const index = indexByKey.get(key)
      return index === undefined ? { problem: `"${key}" is none of its keys. The nearest is "${nearestKey(keys, key)}".` } : { index }
    },
  }
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
