// Writes the packs of one page and then the index that names them. It deletes nothing: what dies half-way leaves packs that
// nobody names, which collection removes by age.

import { unavailable } from '../../core/errors.js'
import { crc32cHex } from '../../core/hash.js'
import { PACK_BYTES_FULL, PACK_BYTES_MAX, PACK_DEADLINE_MS } from '../../core/limits.js'
import type { Clock } from '../../core/time.js'
import { newUlid, type RandomBytes } from '../../core/ulid.js'
import { encodePackLine, packName } from '../../ledger/pack.js'
import { type PackIndex, type PackReference, packIndexName } from '../../ledger/pack-index.js'
import { readSegmentObject } from '../../ledger/read.js'
import { segmentObjectName } from '../../ledger/segment.js'
import { createOrRead } from '../../storage/create-or-read.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { writeOnce } from '../../storage/write-once.js'
import type { ChainPage } from '../../tables/revision.js'
import { listSingles, type PageSegment } from './page.js'

export type PackDeps = { readonly store: ObjectStore; readonly clock: Clock; readonly random: RandomBytes }

/** JSON needs six letters for a byte at most, and something for the other members of the line. */
const SINGLE_BYTES_MAX = Math.floor((PACK_BYTES_MAX - 1_024) / 6)
const READS_AT_ONCE = 16

export type WrittenPacks = { readonly packs: readonly PackReference[] } | { readonly left: string }

/** `left`: why the page stays as it is. Nothing was written then. */
export async function writePacks(deps: PackDeps, { n, first_sequence, last_sequence }: ChainPage, segments: readonly PageSegment[]) {
  const started = deps.clock.elapsed()
  const fault = await faultIn(deps.store, segments)
  if (fault !== undefined) return { left: fault }
  const packs: PackReference[] = []
  const meta = { page: String(n), attempt: newUlid(deps.clock.now(), deps.random) }
  for await (const { bytes, count } of filled(deps.store, segments)) {
    const name = packName(newUlid(deps.clock.now(), deps.random))
    await writeOnce(deps, name, bytes, meta)
    packs.push({ name, bytes: bytes.byteLength, crc32c: crc32cHex(bytes), segments: count })
  }
  if (deps.clock.elapsed() - started > PACK_DEADLINE_MS) {
    throw unavailable(`Page ${n} took longer to pack than its deadline: collection may take its packs. It is packed again.`)
  }
  const index: PackIndex = { schema: 'servo-packs-v1', first_sequence, last_sequence, packs }
  // Whoever was first has packed the same segments: its index stands, and these packs are orphans.
  await createOrRead(deps, packIndexName(n), index, 'The next look packs the page again.')
  return { packs }
}

/** Found by a listing alone, before anything is written. */
async function faultIn(store: ObjectStore, segments: readonly PageSegment[]): Promise<string | undefined> {
  const singles = await listSingles(store, segments)
  for (const { name, crc32c } of segments) {
    const single = singles.get(name)
    if (single === undefined) return `segment ${name} is gone. Restore it from a copy.`
    if (single.damaged === true) return `segment ${name} is damaged. Restore it from a copy.`
    if (single.crc32c !== crc32c)
      return `segment ${name} has checksum ${single.crc32c}, and was folded with ${crc32c}. Restore it from a copy.`
    if (single.size > SINGLE_BYTES_MAX) return `segment ${name} has ${single.size} bytes, which fit no pack. It stays where it is.`
  }
  return undefined
}

/** Packs of so many segments in their order, one after the other. */
async function* filled(store: ObjectStore, segments: readonly PageSegment[]): AsyncGenerator<{ bytes: Uint8Array; count: number }> {
  let lines: Uint8Array[] = []
  let size = 0
  for (let start = 0; start < segments.length; start += READS_AT_ONCE) {
    for (const line of await Promise.all(segments.slice(start, start + READS_AT_ONCE).map((segment) => lineOf(store, segment)))) {
      if (lines.length > 0 && size + line.byteLength > PACK_BYTES_FULL) {
        yield { bytes: Buffer.concat(lines), count: lines.length }
        lines = []
        size = 0
      }
      lines.push(line)
      size += line.byteLength
    }
  }
  if (lines.length > 0) yield { bytes: Buffer.concat(lines), count: lines.length }
}

async function lineOf(store: ObjectStore, { name, creation_time, crc32c, sequence }: PageSegment): Promise<Uint8Array> {
  const { head, bytes } = await readSegmentObject(store, segmentObjectName(name), crc32c)
  const keys_sha256 = head.meta['keys_sha256'] ?? ''
  return encodePackLine({ name, creation_time, crc32c, size: bytes.byteLength, keys_sha256, sequence, bytes })
}
