// How verify reads the chain: its end, which is what the pointer says or what comes nearest to it, and each revision that is named,
// or what is wrong with it. It guesses nothing: what cannot be told is a problem (verified/links.ts).

import { CHAIN_PREFIX } from '../core/keys.js'
import { listAll, listPages } from '../storage/list-all.js'
import type { ObjectStore } from '../storage/object-store.js'
import { readIntact } from '../storage/read-intact.js'
import {
  chainName,
  POINTER_NAME,
  type Pointer,
  parseChainPage,
  parsePointer,
  REVISIONS_PREFIX,
  type Revision,
  revisionLinkOf,
} from '../tables/revision.js'
import { type Link, readDocument } from '../tables/snapshot.js'
import type { Volumes } from '../tables/volume.js'
import { type Found, findRevision, orDamage, RESTORE_IT } from './verify-documents.js'

/** The pointer, or where it cannot be read what comes nearest to it; undefined where nothing was ever published. */
export async function findPointer(
  store: ObjectStore,
  problems: string[],
): Promise<{ readonly pointer: Pointer | undefined; readonly server_time: number }> {
  const found = await orDamage(POINTER_NAME, async () => {
    const answer = await readIntact(store, POINTER_NAME)
    return { pointer: answer.kind === 'found' ? parsePointer(answer.bytes) : undefined, server_time: answer.server_time }
  })
  if ('document' in found && found.document.pointer !== undefined) return found.document
  const unlisted: string[] = []
  const named = await listRevisions(store, '', unlisted)
  // One that is alone with the number 1 belongs to a first turn that has not swapped the pointer yet.
  if ('document' in found && unlisted.length === 0 && ![...named.keys()].some((sequence) => sequence > 1)) return found.document
  const newest = await newestAlone(store, named)
  const without = newest === undefined ? 'Without it nothing can be said of the tables.' : `Until then this goes by ${newest.name}.`
  const problem = 'problem' in found ? found.problem : `${POINTER_NAME} is gone, though there are revisions. ${RESTORE_IT}`
  problems.push(`${problem} ${without}`, ...unlisted)
  const chain_through = newest === undefined ? 0 : await pagedThrough(store, newest.revision, problems)
  const { server_time } = 'document' in found ? found.document : await store.list(CHAIN_PREFIX)
  return { pointer: newest === undefined ? undefined : pointerTo(newest.revision, chain_through), server_time }
}

/** The newest revision that is the only one of its number: of two, one was never published. */
async function newestAlone(
  store: ObjectStore,
  named: ReadonlyMap<number, readonly string[]>,
): Promise<{ readonly name: string; readonly revision: Revision } | undefined> {
  for (const [sequence, names] of [...named].sort(([left], [right]) => right - left)) {
    const [revision] = names
    if (names.length !== 1 || revision === undefined) continue
    const found = await findRevision(store, { sequence, revision })
    if ('document' in found) return { name: `revision ${sequence}`, revision: found.document }
  }
  return undefined
}

const pointerTo = ({ revision, sequence, fold_version, published_at, checkpoint }: Revision, chain_through: number): Pointer => ({
  schema: 'servo-pointer-v1',
  revision,
  sequence,
  fold_version,
  published_at,
  checkpoint: { name: checkpoint, sequence },
  deltas: [],
  chain_through,
})

/** How far there are pages, none of which is written before all that it lists was published. */
async function pagedThrough(store: ObjectStore, { sequence }: Revision, problems: string[]): Promise<number> {
  const found = await orDamage(CHAIN_PREFIX, async () => {
    const names = new Set((await listAll(store, CHAIN_PREFIX)).objects.map(({ name }) => name))
    if (!names.has(chainName(0))) return 0
    const { revisions } = await readDocument(store, chainName(0), parseChainPage)
    let page_count = 1
    while (names.has(chainName(page_count)) && (page_count + 1) * revisions.length <= sequence) page_count += 1
    return page_count * revisions.length
  })
  if ('document' in found) return found.document
  // All of it is told by its links then.
  problems.push(found.problem)
  return 0
}

export async function listRevisions(
  store: ObjectStore,
  within: string,
  problems: string[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const named = new Map<number, string[]>()
  const listing = await orDamage(REVISIONS_PREFIX, async () => {
    for await (const { objects } of listPages(store, `${REVISIONS_PREFIX}${within}`)) {
      for (const { name } of objects) {
        const link = revisionLinkOf(name)
        if (link !== undefined) named.set(link.sequence, [...(named.get(link.sequence) ?? []), link.revision])
      }
    }
  })
  if ('problem' in listing) problems.push(listing.problem)
  return named
}

const READS_AT_ONCE = 32

/** Every one of these revisions: read, or with what is wrong with it. */
export async function* readLinked(
  store: ObjectStore,
  links: readonly Link[],
  volumes: Volumes,
): AsyncGenerator<{ readonly sequence: number; readonly found: Found<Revision> }> {
  for (let start = 0; start < links.length; start += READS_AT_ONCE) {
    const some = links.slice(start, start + READS_AT_ONCE)
    yield* await Promise.all(some.map(async (link) => ({ sequence: link.sequence, found: await findRevision(store, link, volumes) })))
  }
}
