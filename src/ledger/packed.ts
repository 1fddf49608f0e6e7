// Reads segments that lie in packs. A pack is held whole, and its segments are taken out one after the other, so that whoever
// reads a history reads each pack once.

import { corrupt, isOperatingError, missing } from '../core/errors.js'
import { stampMs } from '../core/time.js'
import { ulidTime } from '../core/ulid.js'
import type { ObjectHead, ObjectStore } from '../storage/object-store.js'
import { readIntact } from '../storage/read-intact.js'
import { type PackedSegment, packLines, parsePackLine } from './pack.js'
import { listIndexedPages, type PackIndex, type PackReference, readPackIndex } from './pack-index.js'

/** The bytes that the index names. */
export async function readPackFile(
  store: ObjectStore,
  { name, bytes, crc32c }: PackReference,
): Promise<{ readonly head: ObjectHead; readonly bytes: Uint8Array }> {
  const answer = await readIntact(store, name)
  if (answer.kind === 'absent') {
    throw missing(`${name} is gone from ${store.label}, though a pack index names it. Restore it, then run \`servo ledger verify\`.`)
  }
  if (answer.head.crc32c !== crc32c || answer.bytes.byteLength !== bytes) {
    throw corrupt(`${name} in ${store.label} does not have the size and checksum that its pack index states. Restore it from a backup.`)
  }
  return answer
}

async function* readPack(store: ObjectStore, reference: PackReference): AsyncGenerator<PackedSegment> {
  const { bytes } = await readPackFile(store, reference)
  let number = 0
  for (const line of packLines(bytes)) yield parsePackLine(line, `Line ${++number} of ${reference.name}`)
}

/** Every segment of a page, in recorded order. */
export async function* readPacked(store: ObjectStore, { packs }: PackIndex): AsyncGenerator<PackedSegment> {
  for (const reference of packs) yield* readPack(store, reference)
}

/** The packs of all pages, those of the newest segments first: what is missed was packed a moment ago, as a rule. `since`: of
 *  pages that were packed at this instant or later. */
export async function* newestPacks(
  store: ObjectStore,
  since = Number.NEGATIVE_INFINITY,
): AsyncGenerator<() => AsyncGenerator<PackedSegment>> {
  const { pages } = await listIndexedPages(store)
  for (const { page, head } of pages.reverse()) {
    if (stampMs(head.creation_time) < since) continue
    const stored = await readPackIndex(store, page)
    for (const reference of stored?.index.packs.toReversed() ?? []) yield () => readPack(store, reference)
  }
}

/** A segment that is not in its own place any more; undefined: it is in no pack either. For one that is missed now and then:
 *  whoever reads many follows their order. A page is packed when the listing window of every name in it is past: packs of an
 *  earlier time than its name are not opened. */
export async function findPacked(store: ObjectStore, segment_name: string): Promise<PackedSegment | undefined> {
  let damage: unknown
  for await (const read of newestPacks(store, ulidTime(segment_name))) {
    try {
      for await (const segment of read()) if (segment.name === segment_name) return segment
    } catch (error) {
      if (!isOperatingError(error, 'missing') && !isOperatingError(error, 'corrupt')) throw error
      damage ??= error
    }
  }
  if (damage !== undefined) throw damage
  return undefined
}
