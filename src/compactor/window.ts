// Looks through the whole listing window for segments that no revision names: one whose writer stalled may have landed in
// a minute that was closed already. It folds nothing; it names them to a turn.

import { instantMs } from '../core/time.js'
import { ulidTime } from '../core/ulid.js'
import { listSegments } from '../ledger/read.js'
import type { ObjectStore } from '../storage/object-store.js'
import { readPointer } from '../tables/snapshot.js'
import { walkBack } from './chain.js'

/** Names of unfolded segments in closed minutes of the window. Those of open minutes every turn finds by itself. */
export async function findMissedSegments(store: ObjectStore, listing_window_ms: number): Promise<string[]> {
  // Listed before the pointer is read: what a turn folds meanwhile is then known as folded.
  const first = await readPointer(store)
  if (first.published === undefined) return []
  const window_start = first.server_time - listing_window_ms
  const { segments } = await listSegments(store, window_start)
  const { published } = await readPointer(store)
  if (published === undefined) return []
  const folded = new Set<string>()
  let closed_through = 0
  for await (const revision of walkBack(store, published.pointer, 0)) {
    closed_through = Math.max(closed_through, instantMs(revision.watermarks.closed_through))
    for (const { name } of revision.segments) folded.add(name)
    // A revision this old cannot have folded a segment that is named inside the window.
    if (instantMs(revision.watermarks.last_processed_at) < window_start) break
  }
  return segments.map(({ segment_name }) => segment_name).filter((name) => ulidTime(name) <= closed_through && !folded.has(name))
}
