// Copies everything that one revision of a workspace is made of, and the ledger up to an instant. What names comes after what
// it names, wherever somebody could read the names alone.

import { CHAIN_PREFIX, CLAIMS_PREFIX, LISTS_PREFIX, LOGS_PREFIX, STARTS_PREFIX } from '../../core/keys.js'
import { PACKS_PREFIX } from '../../ledger/pack.js'
import { type IndexedPage, listIndexedPages, packIndexName, readPackIndex } from '../../ledger/pack-index.js'
import { LEDGER_PREFIX } from '../../ledger/segment.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { MANIFESTS_PREFIX, type Pointer, REVISIONS_PREFIX, STATE_PREFIX } from '../../tables/revision.js'
import { chainPageRevisions } from '../../tables/snapshot.js'
import { volumePageOf } from '../../tables/volume.js'
import { reachKept } from '../collect.js'
import { reachesOf } from '../reach.js'
import { type CopyDeps, type CopyTally, copyObjects, emptyTally } from './copy.js'
import { isCreatedBy } from './view.js'

export type WhatToCopy = {
  readonly pointer: Pointer
  /** The newest creation of a segment that belongs to it. */
  readonly segments_through: string | null
  /** Table files of every older revision that could be opened then. */
  readonly kept_at: number
  /** `backup`: packs come first, so that a copy that breaks off has no index of packs that it lacks. `workspace`: indices do, for
   *  one that is younger than its packs would be void (packs/settle.ts). */
  readonly into: 'backup' | 'workspace'
}

/** What vanished meanwhile of what is never collected while it is needed: then the pointer is read again. */
export async function copyRevision(deps: CopyDeps, what: WhatToCopy): Promise<CopyTally> {
  const { source } = deps
  const { pointer, segments_through } = what
  const total = emptyTally()
  const copy = async (request: Parameters<typeof copyObjects>[1]) => add(total, await copyObjects(deps, request))
  // A stray under the name of a packed segment is not what was folded, and nobody was told that it is durable.
  await copy({ prefix: LEDGER_PREFIX, isWanted: isCreatedBy(segments_through, deps.originOf), differing: 'keep' })
  const page_revisions = await chainPageRevisions(source, pointer)
  const page_count = pointer.chain_through / page_revisions
  const isPaged = isOfPages(page_count)
  // A page that this pointer does not know: its segments lay where they were when they were listed, or in its packs.
  const { pages } = await listIndexedPages(source)
  if (what.into === 'backup') total.vanished += pages.filter(({ page }) => page >= page_count).length
  // Those that are packed from here on lie single in the copy, and their packs are not copied.
  const indexed = pages.filter(({ page }) => page < page_count)
  const indices = new Set(indexed.map(({ page }) => packIndexName(page)))
  const packs = await packsOf(source, indexed)
  const copyPacks = () => copy({ prefix: PACKS_PREFIX, isWanted: ({ name }) => packs.has(name) })
  if (what.into === 'backup') await copyPacks()
  await copy({
    prefix: MANIFESTS_PREFIX,
    isWanted: ({ name }) => !name.startsWith(CHAIN_PREFIX) && (!name.startsWith(REVISIONS_PREFIX) || sequenceOf(name) <= pointer.sequence),
  })
  await copy({ prefix: CHAIN_PREFIX, isWanted: ({ name }) => !isPart(name) && isPaged(name) })
  // One that was void has been taken away, and the page packed again.
  await copy({ prefix: CHAIN_PREFIX, isWanted: ({ name }) => indices.has(name), differing: 'replace' })
  // Two that bind a page write the same, and may compress it in different ways.
  await copy({ prefix: CHAIN_PREFIX, isWanted: ({ name }) => volumePageOf(name) !== undefined && isPaged(name), differing: 'keep' })
  if (what.into === 'workspace') await copyPacks()
  const isReached = reachesOf(await reachKept(source, pointer, what.kept_at))
  await copy({ prefix: STATE_PREFIX, isWanted: ({ name }) => isReached(name) })
  // After the ledger: whoever appended had written its list and its claim before.
  await copy({ prefix: LISTS_PREFIX })
  await copy({ prefix: LOGS_PREFIX })
  for (const prefix of [CLAIMS_PREFIX, STARTS_PREFIX]) {
    // One that is old enough to be removed may be removed, and made anew.
    const { copied, present, bytes } = await copyObjects(deps, { prefix, differing: 'replace' })
    add(total, { copied, present, bytes, vanished: 0 })
  }
  return total
}

function add(total: CopyTally, tally: CopyTally): void {
  for (const count of ['copied', 'bytes', 'present', 'vanished'] as const) total[count] += tally[count]
}

const sequenceOf = (name: string): number => Number.parseInt(name.slice(REVISIONS_PREFIX.length), 10)

const isIndex = (name: string): boolean => name.endsWith('.packs.json')
const isPart = (name: string): boolean => isIndex(name) || volumePageOf(name) !== undefined

/** What stands behind the pages of this pointer is of revisions after it, which a copy will have others of. */
const isOfPages = (page_count: number) => (name: string) => Number.parseInt(name.slice(CHAIN_PREFIX.length), 10) < page_count

async function packsOf(source: ObjectStore, pages: readonly IndexedPage[]): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (const { page } of pages) for (const { name } of (await readPackIndex(source, page))?.index.packs ?? []) names.add(name)
  return names
}
