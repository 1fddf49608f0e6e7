// Looks through the listing window and the one before it for segments that no revision names: one whose writer stalled may
// have landed in a minute that was closed already. It folds nothing; it names them to a turn.

import { floorTo, instantMs, MINUTE_MS, stampMs } from '../core/time.js'
import { ulidTime } from '../core/ulid.js'
import { listSegments, type SegmentHead } from '../ledger/read.js'
import type { ObjectStore } from '../storage/object-store.js'
import { walkBack } from '../tables/history/history.js'
import type { Pointer } from '../tables/revision.js'
import { readPointer, readRevision } from '../tables/snapshot.js'

/** Names of unfolded segments in closed minutes of the window. Those of open minutes every turn finds by itself. `at`: the
 *  window of a moment in the past, of what was restored. */
export async function findMissedSegments(store: ObjectStore, listing_window_ms: number, at?: number): Promise<string[]> {
  // Listed before the pointer is read: what a turn folds meanwhile is then known as folded.
  const first = await readPointer(store)
  if (first.published === undefined) return []
  // Twice the window: what landed after its own has to be found as well, to be quarantined.
  const window_start = (at ?? first.server_time) - 2 * listing_window_ms
  const { segments } = await listSegments(store, window_start)
  const { published } = await readPointer(store)
  if (published === undefined) return []
  const { watermarks } = await readRevision(store, published.pointer.sequence, published.pointer.revision)
  const closed_through = instantMs(watermarks.closed_through)
  // By the minute of the name: a stranger's may lie within one, and a listing from the last closed minute skips it whole.
  const closed = segments.filter(({ segment_name }) => floorTo(ulidTime(segment_name), MINUTE_MS) <= closed_through)
  const folded = await foldedOf(store, published.pointer, closed)
  return closed.map(({ segment_name }) => segment_name).filter((name) => !folded.has(name))
}

/** Which of these segments a revision has folded already. */
export async function foldedOf(store: ObjectStore, pointer: Pointer, segments: readonly SegmentHead[]): Promise<ReadonlySet<string>> {
  const folded = new Set<string>()
  if (segments.length === 0) return folded
  const wanted = new Set(segments.map(({ segment_name }) => segment_name))
  const oldest = Math.min(...segments.map(({ creation_time }) => stampMs(creation_time)))
  for await (const revision of walkBack(store, pointer, 0)) {
    // By the stamps and not by the names: a writer whose clock was ahead named its segment after the revision that folded it.
    if (wanted.size === 0 || instantMs(revision.fold_time) < oldest) break
    for (const { name } of revision.segments) if (wanted.delete(name)) folded.add(name)
  }
  return folded
}
