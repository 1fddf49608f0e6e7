// Reads the ledger: listings of segments, and their bytes. It never writes and knows nothing of what was folded.

import { corrupt, missing } from '../core/errors.js'
import { compareStamps } from '../core/time.js'
import { ulidTimePrefix } from '../core/ulid.js'
import { listPages } from '../storage/list-all.js'
import type { GetAnswer, ObjectHead, ObjectStore } from '../storage/object-store.js'
import { readIntact } from '../storage/read-intact.js'
import { asOriginal } from './origin.js'
import { findPacked } from './packed.js'
import { isSegmentObject, LEDGER_PREFIX, segmentName, segmentObjectName } from './segment.js'

/** Creation time and generation are those of the original where the segment was copied (origin.ts): nobody deletes by it. */
export type SegmentHead = ObjectHead & {
  /** The ULID alone: what revisions record. */
  readonly segment_name: string
}

export type Listing = {
  readonly segments: readonly SegmentHead[]
  /** Names of objects under the prefix that are no segments. They are never folded. */
  readonly strays: readonly string[]
  readonly page_count: number
  readonly server_time: number
}

/** Every segment named in a minute after `closed_through`, in the order of the names; `isLeftOut`: of whom nobody here wants to
 *  know more than the name. */
export async function listSegments(
  store: ObjectStore,
  closed_through: number,
  isLeftOut: (segment_name: string) => boolean = nobody,
): Promise<Listing> {
  const listing = { segments: [] as SegmentHead[], strays: [] as string[], page_count: 0, server_time: 0 }
  for await (const { segments, strays, server_time } of listSegmentPages(store, closed_through, isLeftOut)) {
    listing.segments.push(...segments)
    listing.strays.push(...strays)
    listing.page_count += 1
    listing.server_time = server_time
  }
  return listing
}

/** The same, a page of the store at a time. */
export async function* listSegmentPages(
  store: ObjectStore,
  closed_through: number,
  isLeftOut: (segment_name: string) => boolean = nobody,
): AsyncGenerator<Omit<Listing, 'page_count'>> {
  // The prefix of the first open minute sorts before every name in it and after every name of the minutes before.
  const begin = `${LEDGER_PREFIX}${ulidTimePrefix(Math.max(0, closed_through + 60_000))}`
  for await (const { objects, server_time } of listPages(store, LEDGER_PREFIX, begin)) {
    const segments: SegmentHead[] = []
    const strays: string[] = []
    for (const head of objects) {
      if (!isSegmentObject(head.name)) {
        strays.push(head.name)
        continue
      }
      const segment_name = segmentName(head.name)
      if (!isLeftOut(segment_name)) segments.push({ ...asOriginal(head), segment_name })
    }
    yield { segments, strays, server_time }
  }
}

const nobody = () => false

/** The order in which a turn folds what it found: by the store's creation time, then by name. */
export const inFoldOrder = (segments: readonly SegmentHead[]): SegmentHead[] =>
  [...segments].sort(
    (left, right) => compareStamps(left.creation_time, right.creation_time) || (left.segment_name < right.segment_name ? -1 : 1),
  )

export async function findSegment(store: ObjectStore, segment_name: string): Promise<SegmentHead | undefined> {
  const answer = await store.head(segmentObjectName(segment_name))
  return answer.kind === 'found' ? { ...asOriginal(answer.head), segment_name } : undefined
}

/** The stored bytes, which are those that were listed under this checksum: nobody ever writes a segment again. One that is
 *  gone from its place was packed, it may be since it was listed. */
export async function readSegment(store: ObjectStore, name: string, crc32c: string): Promise<Uint8Array> {
  const answer = await readIntact(store, name)
  if (answer.kind === 'found' && answer.head.crc32c === crc32c) return answer.bytes
  const packed = await findPacked(store, segmentName(name))
  return packed?.crc32c === crc32c ? packed.bytes : asRecorded(store, name, crc32c, answer).bytes
}

/** The same of one that must not lie in a pack alone: with what its own place says of it. */
export const readSegmentObject = async (store: ObjectStore, name: string, crc32c: string): Promise<FoundObject> =>
  asRecorded(store, name, crc32c, await readIntact(store, name))

type FoundObject = GetAnswer & { readonly kind: 'found' }

function asRecorded(store: ObjectStore, name: string, crc32c: string, answer: GetAnswer): FoundObject {
  if (answer.kind === 'absent') {
    throw missing(
      `Segment ${name} is gone from ${store.label}. Nobody deletes what no pack has: restore it, then run \`servo ledger verify\`.`,
    )
  }
  if (answer.head.crc32c === crc32c) return answer
  throw corrupt(`Segment ${name} in ${store.label} does not have the checksum ${crc32c} that was recorded. Restore it from a backup.`)
}
