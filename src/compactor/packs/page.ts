// What a page of the chain folded, in recorded order, and whether all of it is old enough to be packed. It goes by the store's
// stamps and by the window that was recorded with each revision.

import { assert } from '../../core/errors.js'
import { instantMs, stampMs } from '../../core/time.js'
import { ulidTime } from '../../core/ulid.js'
import { LEDGER_PREFIX, segmentName, segmentObjectName } from '../../ledger/segment.js'
import { listPages } from '../../storage/list-all.js'
import type { ObjectHead, ObjectStore } from '../../storage/object-store.js'
import { type ChainPage, chainName, type FoldedSegment, parseChainPage } from '../../tables/revision.js'
import { readDocument, readRevision } from '../../tables/snapshot.js'
import { readLinked } from '../chain.js'

export type PageSegment = FoldedSegment & { readonly sequence: number }

/** `young`: and so are all pages after it. `waiting`: something in it is named by a minute whose window is still open. */
export type Page =
  | { readonly kind: 'due'; readonly document: ChainPage; readonly segments: readonly PageSegment[] }
  | { readonly kind: 'young' | 'waiting' }

export const readChainPage = (store: ObjectStore, page: number): Promise<ChainPage> => readDocument(store, chainName(page), parseChainPage)

export async function readPage(store: ObjectStore, page: number, server_time: number): Promise<Page> {
  const document = await readChainPage(store, page)
  const last = document.revisions.at(-1)
  assert(last !== undefined, `Page ${page} of the chain has no revision.`)
  const newest = await readRevision(store, last.sequence, last.revision)
  // Whatever the page folded was created before it: one look says so of a page that is too young.
  if (instantMs(newest.published_at) + newest.listing_window_ms >= server_time) return { kind: 'young' }
  const segments: PageSegment[] = []
  let isPast = true
  for await (const revision of readLinked(store, document.revisions)) {
    for (const segment of revision.segments) {
      isPast &&= isPastWindow(segment, revision.listing_window_ms, server_time)
      segments.push({ ...segment, sequence: revision.sequence })
    }
  }
  return isPast ? { kind: 'due', document, segments } : { kind: 'waiting' }
}

/** By its name and by its creation: what came late is as old as it is, and what was named ahead may still be listed. */
const isPastWindow = ({ name, creation_time }: FoldedSegment, listing_window_ms: number, server_time: number): boolean =>
  Math.max(ulidTime(name), stampMs(creation_time)) + listing_window_ms < server_time

/** The segment that was folded last; undefined: the page folded none. */
export async function lastSegmentOf(store: ObjectStore, { revisions }: ChainPage): Promise<FoldedSegment | undefined> {
  const entry = revisions.findLast(({ segments }) => segments > 0)
  return entry === undefined ? undefined : (await readRevision(store, entry.sequence, entry.revision)).segments.at(-1)
}

/** Which of these lie in places of their own, by name: a listing of their span, and no look at each. */
export async function listSingles(store: ObjectStore, segments: readonly PageSegment[]): Promise<ReadonlyMap<string, ObjectHead>> {
  const singles = new Map<string, ObjectHead>()
  const wanted = new Set(segments.map(({ name }) => name))
  const [first = '', last = ''] = [min(wanted), max(wanted)]
  if (wanted.size === 0) return singles
  // Every object's name has an ending, so that the bare one comes before it.
  for await (const { objects } of listPages(store, LEDGER_PREFIX, `${LEDGER_PREFIX}${first}`)) {
    for (const head of objects) if (wanted.has(segmentName(head.name))) singles.set(segmentName(head.name), head)
    if ((objects.at(-1)?.name ?? '') >= segmentObjectName(last)) break
  }
  return singles
}

const min = (names: Iterable<string>): string | undefined => extreme(names, (left, right) => left < right)
const max = (names: Iterable<string>): string | undefined => extreme(names, (left, right) => left > right)

function extreme(names: Iterable<string>, isFurther: (left: string, right: string) => boolean): string | undefined {
  let found: string | undefined
  for (const name of names) if (found === undefined || isFurther(name, found)) found = name
  return found
}
