// The chain of revisions: its pages, written once each, and every revision in order. It never judges what it reads,
// apart from the links: a chain that does not link is damaged.

import { conflict, corrupt } from '../core/errors.js'
import { CHAIN_PAGE_REVISIONS } from '../core/limits.js'
import type { ObjectStore } from '../storage/object-store.js'
import { type WriteOnce, writeOnce } from '../storage/write-once.js'
import { walkBack } from '../tables/history/history.js'
import { type ChainPage, chainName, encodeChainPage, type Pointer, parseChainPage, type Revision } from '../tables/revision.js'
import { chainPageRevisions, type Link, readDocument, readEachRevision } from '../tables/snapshot.js'
import { openVolumes, type Volumes } from '../tables/volume.js'

const READS_AT_ONCE = 32

/** Links of the chain from this sequence on, oldest first: a page of them at a time, then what no page lists yet, by walking. */
async function* linksFrom(store: ObjectStore, pointer: Pointer, from: number, volumes: Volumes): AsyncGenerator<readonly Link[]> {
  const { chain_through } = pointer
  const page_revisions = await chainPageRevisions(store, pointer)
  for (let page = Math.floor((from - 1) / page_revisions); page * page_revisions < chain_through; page++) {
    const { revisions } = await readDocument(store, chainName(page), parseChainPage)
    yield revisions.filter(({ sequence }) => sequence >= from)
  }
  const recent: Link[] = []
  for await (const { sequence, revision } of walkBack(store, pointer, Math.max(chain_through, from - 1), volumes))
    recent.push({ sequence, revision })
  yield recent.reverse()
}

/** Every revision after this one, or every one, oldest first, and each linked to the one before. */
export async function* readRevisions(store: ObjectStore, pointer: Pointer, after?: Link): AsyncGenerator<Revision> {
  if (after !== undefined) refuseOtherChain(store, pointer, after)
  const volumes = openVolumes(store)
  let before = after
  for await (const links of linksFrom(store, pointer, (after?.sequence ?? 0) + 1, volumes)) {
    for await (const document of readLinked(store, links, volumes)) {
      if (before !== undefined && document.previous !== before.revision) {
        throw corrupt(`Revision ${document.sequence} follows ${document.previous}, but revision ${before.sequence} is ${before.revision}.`)
      }
      yield document
      before = document
    }
  }
}

/** Of a chain that goes on the links themselves say whether it is the same one. */
function refuseOtherChain(store: ObjectStore, pointer: Pointer, after: Link): void {
  const isAhead = pointer.sequence > after.sequence
  if (isAhead || (pointer.sequence === after.sequence && pointer.revision === after.revision)) return
  throw conflict(
    `${store.label} is at revision ${pointer.sequence}, ${pointer.revision}, and has been at ${after.sequence}, ${after.revision}: ` +
      'somebody has put an older state back. Begin again.',
  )
}

/** These revisions, in their order: some at a time, and each volume once. */
export async function* readLinked(store: ObjectStore, links: readonly Link[], volumes = openVolumes(store)): AsyncGenerator<Revision> {
  for (let start = 0; start < links.length; start += READS_AT_ONCE) {
    yield* await readEachRevision(store, links.slice(start, start + READS_AT_ONCE), volumes)
  }
}

/** Writes the pages that are full, and answers how far they reach then. */
export async function writeChainPages(deps: WriteOnce, pointer: Pointer, page_revisions = CHAIN_PAGE_REVISIONS): Promise<number> {
  const { store } = deps
  const fullThrough = Math.floor(pointer.sequence / page_revisions) * page_revisions
  if (fullThrough <= pointer.chain_through) return pointer.chain_through
  const revisions: Revision[] = []
  for await (const document of walkBack(store, pointer, pointer.chain_through)) revisions.push(document)
  revisions.reverse()
  for (let first = pointer.chain_through; first < fullThrough; first += page_revisions) {
    const page = chainPageOf(first, revisions.slice(first - pointer.chain_through, first - pointer.chain_through + page_revisions))
    // Whoever writes page n writes the same bytes: a page that is there already is this page.
    await writeOnce(deps, chainName(page.n), encodeChainPage(page))
  }
  return fullThrough
}

/** `first` revisions come before these, which are as many as a page has. */
export const chainPageOf = (first: number, revisions: readonly Revision[]): ChainPage => ({
  schema: 'servo-chain-v1',
  n: first / revisions.length,
  first_sequence: first + 1,
  last_sequence: first + revisions.length,
  revisions: revisions.map(({ sequence, revision, published_at, checkpoint, segments }) => ({
    sequence,
    revision,
    published_at,
    checkpoint,
    segments: segments.length,
  })),
})
