// The chain as far as it can be told where documents of it are gone or damaged: names from the pointer, the pages, the
// links of those that can be read, and at last the listing. It guesses nothing: what cannot be told is a problem.

import { CHAIN_PREFIX } from '../core/keys.js'
import { CHAIN_PAGE_REVISIONS } from '../core/limits.js'
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
import { readDocument } from '../tables/snapshot.js'
import { openVolumes } from '../tables/volume.js'
import { type Found, findRevision, orDamage, RESTORE_IT } from './verify-documents.js'

/** Names of revisions by sequence. */
export type Links = ReadonlyMap<number, string>

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
  const { server_time } = 'document' in found ? found.document : await store.list(CHAIN_PREFIX)
  return { pointer: newest === undefined ? undefined : pointerTo(newest.revision), server_time }
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

const pointerTo = ({ revision, sequence, fold_version, published_at, checkpoint }: Revision): Pointer => ({
  schema: 'servo-pointer-v1',
  revision,
  sequence,
  fold_version,
  published_at,
  checkpoint: { name: checkpoint, sequence },
  deltas: [],
  chain_through: 0,
})

export async function findLinks(store: ObjectStore, pointer: Pointer, problems: string[]): Promise<Links> {
  const links = new Map(pointer.deltas.map(({ sequence, revision }) => [sequence, revision]))
  links.set(pointer.sequence, pointer.revision)
  await addPages(store, pointer, links, problems)
  const unknown: number[] = []
  const volumes = openVolumes(store)
  for (let sequence = pointer.sequence - 1; sequence >= 1; sequence--) {
    if (links.has(sequence)) continue
    const after = links.get(sequence + 1)
    const next = after === undefined ? undefined : await findRevision(store, { sequence: sequence + 1, revision: after }, volumes)
    const previous = next !== undefined && 'document' in next ? next.document.previous : null
    if (previous !== null) {
      links.set(sequence, previous)
      continue
    }
    // Number by number: a document whose head cannot be read keeps every listing that shows it from being answered.
    const [only, ...others] = (await listRevisions(store, `${sequence}-`, [])).get(sequence) ?? []
    if (only !== undefined && others.length === 0) links.set(sequence, only)
    else unknown.push(sequence)
  }
  for (const range of rangesOf(unknown)) {
    problems.push(
      `${range} cannot be told: nothing that can be read names it, and no document is the only one of its number. ${RESTORE_IT}`,
    )
  }
  return links
}

async function addPages(store: ObjectStore, pointer: Pointer, links: Map<number, string>, problems: string[]): Promise<void> {
  let page_revisions = CHAIN_PAGE_REVISIONS
  for (let page = 0; page * page_revisions < pointer.chain_through; page++) {
    const name = chainName(page)
    const found = await orDamage(name, () => readDocument(store, name, parseChainPage))
    if ('problem' in found) {
      problems.push(found.problem)
      continue
    }
    const { revisions } = found.document
    page_revisions = revisions.length
    for (const { sequence, revision } of revisions) links.set(sequence, revision)
  }
}

async function listRevisions(store: ObjectStore, within: string, problems: string[]): Promise<ReadonlyMap<number, readonly string[]>> {
  const named = new Map<number, string[]>()
  let start_after: string | undefined
  do {
    const listing = await orDamage(REVISIONS_PREFIX, () => store.list(`${REVISIONS_PREFIX}${within}`, start_after))
    if ('problem' in listing) {
      problems.push(listing.problem)
      return named
    }
    for (const { name } of listing.document.objects) {
      const link = revisionLinkOf(name)
      if (link !== undefined) named.set(link.sequence, [...(named.get(link.sequence) ?? []), link.revision])
    }
    start_after = listing.document.next
  } while (start_after !== undefined)
  return named
}

/** Descending numbers as `Revision 7`, `Revisions 3 to 5`, oldest first. */
function rangesOf(sequences: readonly number[]): string[] {
  const ranges: { first: number; last: number }[] = []
  for (const sequence of [...sequences].reverse()) {
    const open = ranges.at(-1)
    if (open?.last === sequence - 1) open.last = sequence
    else ranges.push({ first: sequence, last: sequence })
  }
  return ranges.map(({ first, last }) => (first === last ? `Revision ${first}` : `Revisions ${first} to ${last}`))
}

const READS_AT_ONCE = 32

/** Every revision that can be named, oldest first: read, or with what is wrong with it. */
export async function* readLinked(
  store: ObjectStore,
  links: Links,
): AsyncGenerator<{ readonly sequence: number; readonly found: Found<Revision> }> {
  const sorted = [...links].sort(([left], [right]) => left - right).map(([sequence, revision]) => ({ sequence, revision }))
  const volumes = openVolumes(store)
  for (let start = 0; start < sorted.length; start += READS_AT_ONCE) {
    const some = sorted.slice(start, start + READS_AT_ONCE)
    yield* await Promise.all(some.map(async (link) => ({ sequence: link.sequence, found: await findRevision(store, link, volumes) })))
  }
}
