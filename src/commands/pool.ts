// Asks for a pool to have another cap, or none of its own.

import { GLOBAL_POOL_KEY } from '../core/ids.js'
import { poolDefinedKey, poolRemovedKey } from '../core/keys.js'
import type { Draft } from '../events/draft.js'
import { readPools } from '../readers/pools.js'
import type { View } from '../readers/reader.js'
import { type By, by } from './by.js'
import { type Problem, problem } from './problem.js'

export const poolDefinedDraft = (pool_key: string, max_running: number, asked: By, request_id: string): Draft => ({
  event_type: 'PoolDefined',
  idempotency_key: poolDefinedKey({ pool_key }, request_id),
  payload: { pool_key, max_running, ...by(asked) },
})

export const poolRemovedDraft = (pool_key: string, asked: By, request_id: string): Draft => ({
  event_type: 'PoolRemoved',
  idempotency_key: poolRemovedKey({ pool_key }, request_id),
  payload: { pool_key, ...by(asked) },
})

/** undefined: it has a cap of its own that can be taken away. */
export async function removeProblem(view: View | undefined, pool_key: string): Promise<Problem | undefined> {
  if (pool_key === GLOBAL_POOL_KEY) {
    return problem('conflict', 'The workspace always has a cap: global cannot be removed. Set it to another number instead.')
  }
  const max_running = (await readPools(view)).pool(pool_key)?.max_running ?? null
  if (max_running !== null) return undefined
  return problem(
    'not-found',
    `${pool_key} has no cap of its own, so there is none to remove. \`servo pool list\` shows which pools have one.`,
  )
}
