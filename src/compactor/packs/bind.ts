// Binds the revisions of packed pages into volumes, and takes away the single documents. First the volume, then the singles:
// whoever looks for a revision finds one or the other. It deletes by generation, and only what the volume has byte for byte.

import { unavailable } from '../../core/errors.js'
import { crc32cHex } from '../../core/hash.js'
import { ORPHAN_AGE_MS, PACK_BYTES_MAX } from '../../core/limits.js'
import { stampMs } from '../../core/time.js'
import { createBytesOrRead } from '../../storage/create-or-read.js'
import { listAll } from '../../storage/list-all.js'
import { manyAtOnce } from '../../storage/many-at-once.js'
import type { ObjectHead, ObjectStore } from '../../storage/object-store.js'
import { readIntact } from '../../storage/read-intact.js'
import { parseRevision, REVISIONS_PREFIX, revisionLinkOf, revisionName } from '../../tables/revision.js'
import type { Link } from '../../tables/snapshot.js'
import { encodeVolume, isOneLine, readVolume, volumeName } from '../../tables/volume.js'
import { readChainPage } from './page.js'
import { remove } from './settle.js'
import type { PackDeps } from './write.js'

const AT_ONCE = 16

/** `left`: why its revisions stay single. */
export async function bindPage(deps: PackDeps, page: number): Promise<'bound' | { readonly left: string }> {
  const { store } = deps
  const document = await readChainPage(store, page)
  const documents: Uint8Array[] = []
  for (let start = 0; start < document.revisions.length; start += AT_ONCE) {
    const some = document.revisions.slice(start, start + AT_ONCE)
    for (const read of await Promise.all(some.map((link) => readSingle(store, link)))) {
      if (read instanceof Uint8Array) documents.push(read)
      // Somebody else has bound the page since it was listed, and is taking them away.
      else return (await readVolume(store, page)) === undefined ? read : 'bound'
    }
  }
  const bytes = encodeVolume(document, documents)
  if (bytes.byteLength > PACK_BYTES_MAX) return { left: `its revisions have ${bytes.byteLength} bytes, which fit no volume.` }
  await createBytesOrRead(deps, volumeName(page), bytes, 'The next look binds the page again.')
  return 'bound'
}

/** What cannot be read as the revision that the page lists is bound by nobody. */
async function readSingle(store: ObjectStore, { sequence, revision }: Link): Promise<Uint8Array | { readonly left: string }> {
  const name = revisionName(sequence, revision)
  const answer = await readIntact(store, name)
  if (answer.kind === 'absent') return { left: `${name} is gone. Restore it from a copy.` }
  const document = parseRevision(name, answer.bytes)
  if (document.sequence !== sequence || document.revision !== revision) {
    return { left: `${name} says that it is revision ${document.sequence}, ${document.revision}. Restore it from a copy.` }
  }
  return isOneLine(answer.bytes) ? answer.bytes : { left: `${name} has several lines, and stays where it is.` }
}

export type Swept = { readonly deleted_count: number; readonly left: readonly { readonly page: number; readonly why: string }[] }

/** Takes away what single documents there are of bound pages: those of the volume, and old ones that were never published. */
export async function sweepBound(store: ObjectStore, bound: ReadonlySet<number>, page_revisions: number): Promise<Swept> {
  const { objects, server_time } = await listAll(store, REVISIONS_PREFIX)
  const singles = new Map<number, ObjectHead[]>()
  for (const head of objects) {
    const page = Math.floor(((revisionLinkOf(head.name)?.sequence ?? 0) - 1) / page_revisions)
    if (bound.has(page)) singles.set(page, [...(singles.get(page) ?? []), head])
  }
  const swept = { deleted_count: 0, left: [] as { page: number; why: string }[] }
  for (const [page, heads] of singles) {
    const judged = await judge(store, page, heads, server_time)
    swept.left.push(...judged.left.map((why) => ({ page, why })))
    const removed = await manyAtOnce(judged.gone, AT_ONCE, (head) => remove(store, head))
    swept.deleted_count += removed.filter((isRemoved) => isRemoved).length
  }
  return swept
}

async function judge(store: ObjectStore, page: number, heads: readonly ObjectHead[], server_time: number) {
  const volume = await readVolume(store, page)
  if (volume === undefined) throw unavailable(`${volumeName(page)} was listed and is gone. Restore it from a copy.`)
  const { revisions } = await readChainPage(store, page)
  const bound = new Map(
    revisions.map(({ sequence, revision }) => [
      revisionName(sequence, revision),
      crc32cHex(volume.documents[sequence - volume.first_sequence] ?? new Uint8Array()),
    ]),
  )
  const gone: ObjectHead[] = []
  const left: string[] = []
  for (const head of heads) {
    const crc32c = bound.get(head.name)
    if (crc32c === head.crc32c) gone.push(head)
    else if (crc32c !== undefined)
      left.push(`${head.name} is another document than the one in ${volumeName(page)}. Restore it from a copy.`)
    // Of another turn, which lost the race for its number and can win no more.
    else if (server_time - stampMs(head.creation_time) > ORPHAN_AGE_MS) gone.push(head)
  }
  return { gone, left }
}
