// Removes packs that no index names: those of a packing that died, or that another one was ahead of. It deletes by generation,
// judges age by the server's stamps alone, and never touches an index or a pack that one names.

import { ORPHAN_AGE_MS } from '../../core/limits.js'
import { stampMs } from '../../core/time.js'
import { isPackObject, PACKS_PREFIX } from '../../ledger/pack.js'
import { type IndexedPage, listIndexedPages, readPackIndex } from '../../ledger/pack-index.js'
import { listAll } from '../../storage/list-all.js'
import type { ObjectHead, ObjectStore } from '../../storage/object-store.js'

export async function collectPacks(store: ObjectStore): Promise<{ readonly packs_deleted_count: number }> {
  // Packs are listed before indices are looked at. An index that is made after that look names no pack which was old in the
  // listing: it would be void, since it came so long after the pack, and nobody deletes a segment for it.
  const { objects, server_time } = await listAll(store, PACKS_PREFIX)
  const packs = objects.filter(({ name }) => isPackObject(name))
  const isOld = ({ creation_time }: ObjectHead) => server_time - stampMs(creation_time) > ORPHAN_AGE_MS
  if (!packs.some(isOld)) return { packs_deleted_count: 0 }
  const { pages } = await listIndexedPages(store)
  const suspects = packsInDoubt(packs, pages).filter(isOld)
  if (suspects.length === 0) return { packs_deleted_count: 0 }
  const named = await namedPacks(store, pages)
  let packs_deleted_count = 0
  for (const { name, generation } of suspects) {
    if (named.has(name)) continue
    const { kind } = await store.delete(name, { if_generation: generation })
    if (kind === 'deleted') packs_deleted_count += 1
  }
  return { packs_deleted_count }
}

/** Where a page has an index, and all packs that were ever written for it are of one attempt, they are those that the index
 *  names: nearly always, so that no index has to be read. */
function packsInDoubt(packs: readonly ObjectHead[], pages: readonly IndexedPage[]): ObjectHead[] {
  const attempts = new Map<string | undefined, Set<string | undefined>>()
  for (const { meta } of packs) attempts.set(meta['page'], (attempts.get(meta['page']) ?? new Set()).add(meta['attempt']))
  const settled = new Set(pages.map(({ page }) => String(page)).filter((page) => attempts.get(page)?.size === 1))
  return packs.filter(({ meta }) => !settled.has(meta['page'] ?? ''))
}

async function namedPacks(store: ObjectStore, pages: readonly IndexedPage[]): Promise<ReadonlySet<string>> {
  const named = new Set<string>()
  for (const { page } of pages) {
    for (const { name } of (await readPackIndex(store, page))?.index.packs ?? []) named.add(name)
  }
  return named
}
