// Binds the revisions of packed pages into volumes, and takes away the single documents. First the volume, then the singles:
// whoever looks for a revision finds one or the other. It deletes by generation, and only what the volume has byte for byte.

import { unavailable } from '../../core/errors.js'
import { crc32cHex } from '../../core/hash.js'
import { ORPHAN_AGE_MS, PACK_BYTES_MAX } from '../../core/limits.js'
import { stampMs } from '../../core/time.js'
import { createBytesOrRead } from '../../storage/create-or-read.js'
import { listPages } from '../../storage/list-all.js'
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

/** The single documents that its volume has now, or why its revisions stay single. */
export type Bound = { readonly singles: readonly ObjectHead[] } | { readonly left: string }

export async function bindPage(deps: PackDeps, page: number): Promise<Bound> {
  const { store } = deps
  const document = await readChainPage(store, page)
  const documents: Uint8Array[] = []
  const singles: ObjectHead[] = []
  for (let start = 0; start < document.revisions.length; start += AT_ONCE) {
    const some = document.revisions.slice(start, start + AT_ONCE)
    for (const read of await Promise.all(some.map((link) => readSingle(store, link)))) {
      // Somebody else has bound the page since it was listed, and is taking them away.
      if ('left' in read) return (await readVolume(store, page)) === undefined ? read : { singles }
      documents.push(read.bytes)
      singles.push(read.head)
    }
  }
  const bytes = encodeVolume(document, documents)
  if (bytes.byteLength > PACK_BYTES_MAX) return { left: `its revisions have ${bytes.byteLength} bytes, which fit no volume.` }
  await createBytesOrRead(deps, volumeName(page), bytes, 'The next look binds the page again.')
  return { singles }
}

type Single = { readonly bytes: Uint8Array; readonly head: ObjectHead } | { readonly left: string }

/** What cannot be read as the revision that the page lists is bound by nobody. */
async function readSingle(store: ObjectStore, { sequence, revision }: Link): Promise<Single> {
  const name = revisionName(sequence, revision)
  const answer = await readIntact(store, name)
  if (answer.kind === 'absent') return { left: `${name} is gone. Restore it from a copy.` }
  const document = parseRevision(name, answer.bytes)
  if (document.sequence !== sequence || document.revision !== revision) {
    return { left: `${name} says that it is revision ${document.sequence}, ${document.revision}. Restore it from a copy.` }
  }
  return isOneLine(answer.bytes)
    ? { bytes: answer.bytes, head: answer.head }
    : { left: `${name} has several lines, and stays where it is.` }
}

export type Swept = { readonly deleted_count: number; readonly left: readonly { readonly page: number; readonly why: string }[] }

/** Takes away single documents of one bound page: those of the volume, and old ones that were never published. */
export async function removeBound(store: ObjectStore, page: number, singles: readonly ObjectHead[], server_time: number): Promise<Swept> {
  const judged = await judge(store, page, singles, server_time)
  const removed = await manyAtOnce(judged.gone, AT_ONCE, (head) => remove(store, head))
  const left = judged.left.map((why) => ({ page, why }))
  return { deleted_count: removed.filter((isRemoved) => isRemoved).length, left }
}

type Sweep = {
  readonly bound: ReadonlySet<number>
  readonly page_revisions: number
  readonly begin_at: number
  readonly isTimeUp: () => boolean
}

/** What there is of bound pages anywhere, a page of the listing after the other. Each sweep begins elsewhere and goes once around,
 *  as long as it has time: whatever was left over is found by one of them, however many revisions are single yet. */
export async function sweepBound(store: ObjectStore, { bound, page_revisions, begin_at, isTimeUp }: Sweep): Promise<Swept> {
  const swept = { deleted_count: 0, left: [] as { page: number; why: string }[] }
  const begin = `${REVISIONS_PREFIX}${1 + (begin_at % LEADING_DIGITS)}`
  for (const [first, last] of [[begin, undefined] as const, [undefined, begin] as const]) {
    for await (const { objects, server_time } of listPages(store, REVISIONS_PREFIX, first)) {
      const here = objects.filter(({ name }) => last === undefined || name <= last)
      for (const [page, singles] of byPage(here, page_revisions)) {
        if (!bound.has(page)) continue
        const { deleted_count, left } = await removeBound(store, page, singles, server_time)
        swept.deleted_count += deleted_count
        swept.left.push(...left)
      }
      if (isTimeUp()) return swept
      if (here.length < objects.length) break
    }
  }
  return swept
}

/** Names begin with the digits of a sequence, from 1 to 999: places to begin at, all over the listing. */
const LEADING_DIGITS = 999

function byPage(heads: readonly ObjectHead[], page_revisions: number): ReadonlyMap<number, ObjectHead[]> {
  const pages = new Map<number, ObjectHead[]>()
  for (const head of heads) {
    const sequence = revisionLinkOf(head.name)?.sequence
    if (sequence === undefined) continue
    const page = Math.floor((sequence - 1) / page_revisions)
    const ofPage = pages.get(page)
    if (ofPage === undefined) pages.set(page, [head])
    else ofPage.push(head)
  }
  return pages
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
