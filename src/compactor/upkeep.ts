// What looks of maintenance share: a store that remembers from one look to the next what never changes, and how long to wait for
// the next look by the time of the newest publish.

import { CHAIN_PREFIX } from '../core/keys.js'
import { DOCUMENTS_REMEMBERED_BYTES, MAINTENANCE_EVERY_MS, MAINTENANCE_IDLE_EVERY_MS } from '../core/limits.js'
import { instantMs } from '../core/time.js'
import { type Remembered, rememberDocuments } from '../storage/document-memory.js'
import type { ObjectStore } from '../storage/object-store.js'
import { CHECKPOINTS_PREFIX, REVISIONS_PREFIX } from '../tables/revision.js'
import { readPointer } from '../tables/snapshot.js'

/** An idle workspace has some hundred revisions that no page of the chain lists yet, and each look walks all of them. */
export const rememberingStore = (store: ObjectStore): ObjectStore =>
  rememberDocuments(store, { bytes_max: DOCUMENTS_REMEMBERED_BYTES, howLong })

/** Revisions and checkpoints have ids in their names. What lies beside the chain has the number of its page, which the page of a
 *  restored workspace has too, and the index of packs is taken away again where it is void. */
function howLong(name: string): Remembered {
  if (name.startsWith(REVISIONS_PREFIX) || name.startsWith(CHECKPOINTS_PREFIX)) return 'for_ever'
  return name.startsWith(CHAIN_PREFIX) ? 'while_there' : 'no'
}

/** Less and less often: when nothing was published for an hour, an hour passes until the next look. */
export const lookAgainMs = (idle_ms: number): number => Math.min(MAINTENANCE_IDLE_EVERY_MS, Math.max(MAINTENANCE_EVERY_MS, idle_ms))

/** Since the newest publish. */
export async function idleMs(store: ObjectStore): Promise<number> {
  const { published, server_time } = await readPointer(store)
  return published === undefined ? 0 : server_time - instantMs(published.pointer.published_at)
}
