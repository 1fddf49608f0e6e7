// Removes packs that no index names: those of a packing that died, or that another one was ahead of. It deletes by generation,
// judges age by the server's stamps alone, and never touches an index or a pack that one names.

import { ORPHAN_AGE_MS } from '../../core/limits.js'
import { stampMs } from '../../core/time.js'
import { isPackObject, PACKS_PREFIX } from '../../ledger/pack.js'
import { type IndexedPage, listIndexedPages, readPackIndex } from '../../ledger/pack-index.js'
import { listAll } from '../../storage/list-all.js'
import { manyAtOnce } from '../../storage/many-at-once.js'
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
  const named = await namedPacks(store, pagesOf(suspects, pages))
  const orphans = suspects.filter(({ name }) => !named.has(name))
  const answers = await manyAtOnce(orphans, AT_ONCE, ({ name, generation }) => store.delete(name, { if_generation: generation }))
  return { packs_deleted_count: answers.filter(({ kind }) => kind === 'deleted').length }
}

const AT_ONCE = 16

/** Whoever writes a pack says of which page it is, and only that page's index names it. */
function pagesOf(suspects: readonly ObjectHead[], pages: readonly IndexedPage[]): readonly IndexedPage[] {
  const said = new Set(suspects.map(({ meta }) => meta['page']))
  return said.has(undefined) ? pages : pages.filter(({ page }) => said.has(String(page)))
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
  const indices = await manyAtOnce(pages, AT_ONCE, ({ page }) => readPackIndex(store, page))
  return new Set(indices.flatMap((stored) => stored?.index.packs.map(({ name }) => name) ?? []))
}
