// The stored bytes of recorded segments, for whoever goes through revisions from the oldest on: where a page is packed each
// of its packs is read once. It answers what was recorded, or says what is gone.

import { isOperatingError } from '../../core/errors.js'
import type { PackedSegment } from '../../ledger/pack.js'
import { readPackIndex } from '../../ledger/pack-index.js'
import { readPacked } from '../../ledger/packed.js'
import { readSegment } from '../../ledger/read.js'
import { segmentObjectName } from '../../ledger/segment.js'
import { manyAtOnce } from '../../storage/many-at-once.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { readIntact } from '../../storage/read-intact.js'
import type { FoldedSegment, Revision } from '../../tables/revision.js'

/** Answers the bytes of a revision's segments, in their order. Revisions are asked for in theirs. */
export type Recorded = (revision: Pick<Revision, 'sequence' | 'segments'>) => Promise<readonly Uint8Array[]>

type Open = { readonly page: number; packed: AsyncGenerator<PackedSegment> | undefined }

const READS_AT_ONCE = 16

export function openRecorded(store: ObjectStore, page_revisions: number): Recorded {
  let open: Open | undefined

  const openPacks = async (page: number) => {
    const stored = await readPackIndex(store, page)
    return stored === undefined ? undefined : readPacked(store, stored.index)
  }

  return async ({ sequence, segments }) => {
    if (segments.length === 0) return []
    const page = Math.floor((sequence - 1) / page_revisions)
    if (open?.page !== page) open = { page, packed: await openPacks(page) }
    const singles = open.packed === undefined ? await readSingles(store, segments) : []
    // Packed since the page was opened.
    if (open.packed === undefined && singles.includes(undefined)) open.packed = await openPacks(page)
    const found: Uint8Array[] = []
    for (const [at, segment] of segments.entries()) {
      const bytes =
        singles[at] ?? (await take(open, segment)) ?? (await readSegment(store, segmentObjectName(segment.name), segment.crc32c))
      found.push(bytes)
    }
    return found
  }
}

/** undefined: it is not there. What is there and damaged is for readSegment to say. */
function readSingles(store: ObjectStore, segments: readonly FoldedSegment[]): Promise<(Uint8Array | undefined)[]> {
  const read = async ({ name, crc32c }: FoldedSegment) => {
    const answer = await readIntact(store, segmentObjectName(name))
    return answer.kind === 'found' && answer.head.crc32c === crc32c ? answer.bytes : undefined
  }
  return manyAtOnce(segments, READS_AT_ONCE, read)
}

/** The next ones are passed over until this one comes; undefined: it does not, and it may lie in its own place yet. */
async function take(open: Open, { name, crc32c }: FoldedSegment): Promise<Uint8Array | undefined> {
  if (open.packed === undefined) return undefined
  try {
    for (;;) {
      const { done, value } = await open.packed.next()
      if (done === true) return undefined
      if (value.name === name) return value.crc32c === crc32c ? value.bytes : undefined
    }
  } catch (error) {
    if (!isOperatingError(error, 'missing') && !isOperatingError(error, 'corrupt')) throw error
    return undefined
  }
}
