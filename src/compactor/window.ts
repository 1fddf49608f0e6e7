// Looks through the listing window and the one before it for segments that no revision names: one whose writer stalled may
// have landed in a minute that was closed already. It folds nothing; it names them to a turn.

import { floorTo, instantMs, MINUTE_MS, stampMs } from '../core/time.js'
import { ulidTime } from '../core/ulid.js'
import { listSegments, type SegmentHead } from '../ledger/read.js'
import { addToSetSum, EMPTY_SET_SUM } from '../ledger/set-sum.js'
import type { ObjectStore } from '../storage/object-store.js'
import { type History, openHistory } from '../tables/history/history.js'
import type { Pointer } from '../tables/revision.js'
import { type Link, readEachRevision, readPointer, readRevision } from '../tables/snapshot.js'
import { openVolumes } from '../tables/volume.js'
import { readRestoreMark } from './backup/manifest.js'

/** Names of unfolded segments in closed minutes of the window. Those of open minutes turns find by themselves. */
export type MissedLook = () => Promise<string[]>

/** One look, without a memory. */
export const findMissedSegments = (store: ObjectStore, listing_window_ms: number): Promise<string[]> =>
  createMissedLook(store, listing_window_ms)()

/** Remembers of each minute what was listed when all of it was folded: of a window of days a look reads the revisions of what
 *  came since the one before it. */
export function createMissedLook(store: ObjectStore, listing_window_ms: number): MissedLook {
  let foldedThen: ReadonlyMap<number, bigint> = new Map()
  let newestThen: Link | undefined
  /** Where the window of a restored workspace began on the day of its backup: until all of that is folded, however long ago. */
  let restoredWindow: number | undefined

  async function isSameChain(history: History): Promise<boolean> {
    if (newestThen === undefined || newestThen.sequence > history.newest.sequence) return false
    return (await history.at(newestThen.sequence)).revision === newestThen.revision
  }

  return async () => {
    // Listed before the pointer is read: what a turn folds meanwhile is then known as folded.
    const first = await readPointer(store)
    if (first.published === undefined) return []
    restoredWindow ??= await findRestoredWindow(store)
    const window_start = Math.min(windowStart(first.server_time, listing_window_ms), restoredWindow)
    const { segments } = await listSegments(store, window_start)
    const { published } = await readPointer(store)
    if (published === undefined) return []
    const { pointer } = published
    const { watermarks } = await readRevision(store, pointer.sequence, pointer.revision)
    const closed_through = instantMs(watermarks.closed_through)
    // By the minute of the name: a stranger's may lie within one, and a listing from the last closed minute skips it whole.
    const closed = segments.filter(({ segment_name }) => minuteOf(segment_name) <= closed_through)
    const history = openHistory(store, pointer)
    if (!(await isSameChain(history))) foldedThen = new Map()
    const listed = sumsOf(closed)
    const asked = closed.filter(({ segment_name }) => foldedThen.get(minuteOf(segment_name)) !== listed.get(minuteOf(segment_name)))
    const folded = await foldedOf(store, pointer, asked, history)
    const missed = asked.map(({ segment_name }) => segment_name).filter((name) => !folded.has(name))
    for (const minute of new Set(missed.map(minuteOf))) listed.delete(minute)
    foldedThen = listed
    newestThen = { sequence: pointer.sequence, revision: pointer.revision }
    if (missed.length === 0) restoredWindow = Number.POSITIVE_INFINITY
    return missed
  }
}

/** Twice the window: what landed after its own has to be found as well, to be quarantined. */
export const windowStart = (at: number, listing_window_ms: number): number => at - 2 * listing_window_ms

async function findRestoredWindow(store: ObjectStore): Promise<number> {
  const mark = await readRestoreMark(store)
  return mark?.look_from === undefined ? Number.POSITIVE_INFINITY : instantMs(mark.look_from)
}

const minuteOf = (segment_name: string): number => floorTo(ulidTime(segment_name), MINUTE_MS)

function sumsOf(segments: readonly SegmentHead[]): Map<number, bigint> {
  const sums = new Map<number, bigint>()
  for (const { segment_name, crc32c } of segments) {
    const minute = minuteOf(segment_name)
    sums.set(minute, addToSetSum(sums.get(minute) ?? EMPTY_SET_SUM, segment_name, crc32c))
  }
  return sums
}

const READS_AT_ONCE = 32
/** A revision says when its turn began to list, to the second, and names what was created until it had read it. */
const PUBLISHED_EARLIER_MS_MAX = MINUTE_MS

/** Which of these segments a revision has folded already: it goes on from where each of them was created. */
export async function foldedOf(
  store: ObjectStore,
  pointer: Pointer,
  segments: readonly SegmentHead[],
  history: History = openHistory(store, pointer),
): Promise<ReadonlySet<string>> {
  const folded = new Set<string>()
  const wanted = new Set(segments.map(({ segment_name }) => segment_name))
  const volumes = openVolumes(store)
  const newest = history.newest.sequence
  let read_through = 0
  // By the stamps and not by the names: a writer whose clock was ahead named its segment after the revision that folded it.
  const inOrder = segments.map(({ segment_name, creation_time }) => ({ segment_name, created_at: stampMs(creation_time) }))
  for (const { segment_name, created_at } of inOrder.sort((left, right) => left.created_at - right.created_at)) {
    if (!wanted.has(segment_name) || read_through === newest) continue
    const before = await history.newestBefore(newest + 1, created_at - PUBLISHED_EARLIER_MS_MAX)
    read_through = Math.max(read_through, before?.sequence ?? 0)
    while (wanted.has(segment_name) && read_through < newest) {
      const links: Link[] = []
      for (let at = read_through + 1; at <= Math.min(newest, read_through + READS_AT_ONCE); at++) links.push(await history.at(at))
      for (const revision of await readEachRevision(store, links, volumes)) {
        for (const { name } of revision.segments) if (wanted.delete(name)) folded.add(name)
      }
      read_through += links.length
    }
  }
  return folded
}
