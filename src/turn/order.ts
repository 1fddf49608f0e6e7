// From listings to what is folded now, in order. It decides by the store's stamps alone, never by the names' time.

import { foldedOf } from '../compactor/window.js'
import { compareStamps } from '../core/time.js'
import { findSegment, inFoldOrder, type Listing, listSegments, type SegmentHead } from '../ledger/read.js'
import type { ObjectStore } from '../storage/object-store.js'
import type { Pointer } from '../tables/revision.js'

/** The segments that are new, in fold order, such that nothing is among them without what was acknowledged before it. */
export async function listNewSegments(
  store: ObjectStore,
  closed_through: number,
  isFolded: (segment_name: string) => boolean,
): Promise<SegmentHead[]> {
  const list = () => listSegments(store, closed_through, isFolded)
  const first = await list()
  // Where nothing is new nothing is folded, out of order or otherwise: an idle workspace is listed once.
  if (first.segments.length === 0) return []
  const isSnapshot = store.page_is_snapshot && first.page_count === 1
  return inFoldOrder(isSnapshot ? first.segments : atMostAsYoung(await list(), first))
}

/** A listing is no snapshot: a later page, or a folder read later, may show an object whose predecessor the earlier one
 *  missed. Everything acknowledged before the youngest object of the first listing is in the second one. */
function atMostAsYoung(second: Listing, first: Listing): readonly SegmentHead[] {
  const youngest = first.segments.reduce(
    (latest, { creation_time }) => (latest === '' || compareStamps(creation_time, latest) > 0 ? creation_time : latest),
    '',
  )
  return second.segments.filter(({ creation_time }) => compareStamps(creation_time, youngest) <= 0)
}

/** What a full listing of the window named: read by name, since a listing from the last closed minute does not show it.
 *  Such a hint may come twice, or late: what the chain has folded already is left out. */
export async function findMissed(store: ObjectStore, pointer: Pointer | undefined, names: readonly string[]): Promise<SegmentHead[]> {
  const found = await Promise.all([...new Set(names)].map((name) => findSegment(store, name)))
  const heads = found.filter((head) => head !== undefined)
  const folded = pointer === undefined ? NONE : await foldedOf(store, pointer, heads)
  return inFoldOrder(heads.filter(({ segment_name }) => !folded.has(segment_name)))
}

const NONE: ReadonlySet<string> = new Set()
