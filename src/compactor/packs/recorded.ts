// The stored bytes of recorded segments, for whoever goes through revisions from the oldest on: where a page is packed each
// of its packs is read once. It answers what was recorded, or says what is gone.

import { isOperatingError } from '../../core/errors.js'
import type { PackedSegment } from '../../ledger/pack.js'
import { readPackIndex } from '../../ledger/pack-index.js'
import { readPacked } from '../../ledger/packed.js'
import { readSegmentObject } from '../../ledger/read.js'
import { segmentObjectName } from '../../ledger/segment.js'
import { manyAtOnce } from '../../storage/many-at-once.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { readIntact } from '../../storage/read-intact.js'
import type { FoldedSegment, Revision } from '../../tables/revision.js'

/** Answers the bytes of a revision's segments, in their order. Revisions are asked for in theirs. */
export type Recorded = (revision: Pick<Revision, 'sequence' | 'segments'>) => Promise<readonly Uint8Array[]>

/** The packs of a page from where they were read up to, and what is wrong with one of them. */
type Open = { readonly page: number; packed: AsyncGenerator<PackedSegment> | undefined; damage?: unknown }

const READS_AT_ONCE = 16

export function openRecorded(store: ObjectStore, page_revisions: number): Recorded {
  let open: Open | undefined

  const openPage = async (page: number): Promise<Open> => {
    const stored = await readPackIndex(store, page)
    return { page, packed: stored === undefined ? undefined : readPacked(store, stored.index) }
  }

  return async ({ sequence, segments }) => {
    if (segments.length === 0) return []
    const page = Math.floor((sequence - 1) / page_revisions)
    let from = open?.page === page ? open : await openPage(page)
    const singles = from.packed === undefined ? await readSingles(store, segments) : []
    const found: Uint8Array[] = []
    for (const [at, segment] of segments.entries()) {
      let bytes = singles[at] ?? (await take(from, segment)) ?? (await readSingle(store, segment))
      if (bytes === undefined) {
        // Packed since the page was opened, or packed again. Whatever a revision folded lies in the packs of its page, if in any.
        from = await openPage(page)
        bytes = (await take(from, segment)) ?? (await sayWhatIsGone(store, from, segment))
      }
      found.push(bytes)
    }
    open = from
    return found
  }
}

/** undefined: it is not there, or it is not what was recorded. */
async function readSingle(store: ObjectStore, { name, crc32c }: FoldedSegment): Promise<Uint8Array | undefined> {
  const answer = await readIntact(store, segmentObjectName(name))
  return answer.kind === 'found' && answer.head.crc32c === crc32c ? answer.bytes : undefined
}

const readSingles = (store: ObjectStore, segments: readonly FoldedSegment[]): Promise<(Uint8Array | undefined)[]> =>
  manyAtOnce(segments, READS_AT_ONCE, (segment) => readSingle(store, segment))

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
    open.damage = error
    return undefined
  }
}

async function sayWhatIsGone(store: ObjectStore, { damage }: Open, { name, crc32c }: FoldedSegment): Promise<Uint8Array> {
  if (damage !== undefined) throw damage
  return (await readSegmentObject(store, segmentObjectName(name), crc32c)).bytes
}
