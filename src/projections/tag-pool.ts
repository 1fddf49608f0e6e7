// The pools of tags: `tag:team=core` caps one value, `tag:team` each value of the key. Of a run's tags only those are counted
// that have a cap, because nobody knows how many values there are.

import { isPoolKey } from '../core/ids.js'
import { compareText } from '../core/order.js'

const PREFIX = 'tag:'

export const isTagPool = (pool_key: string): boolean => pool_key.startsWith(PREFIX)
export const isTagValue = (pool_key: string): boolean => isTagPool(pool_key) && pool_key.includes('=')

/** Of `tag:team=core` that is `tag:team`: a key has no `=`, a value may. */
export const allValuesOf = (pool_key: string): string => pool_key.slice(0, pool_key.indexOf('='))

/** The values that count in a pool, in the order of their keys. */
export function poolKeysOfTags(tags: Readonly<Record<string, string>>, hasCap: (pool_key: string) => boolean): readonly string[] {
  const pool_keys: string[] = []
  for (const [key, value] of Object.entries(tags)) {
    // Nobody can define a cap for such a key, and its text might be that of another key's value.
    if (key.includes('=')) continue
    const pool_key = `${PREFIX}${key}=${value}`
    if ((hasCap(pool_key) || hasCap(`${PREFIX}${key}`)) && isPoolKey(pool_key)) pool_keys.push(pool_key)
  }
  return pool_keys.sort(compareText)
}
