// Copies everything that one revision of a workspace is made of, and the ledger up to an instant; and a backup back, which is
// just that. Of what is listed nothing is missed: who deletes writes what holds it before, and that is listed later.

import { CHAIN_PREFIX, CLAIMS_PREFIX, LISTS_PREFIX, LOGS_PREFIX, STARTS_PREFIX } from '../../core/keys.js'
import { compareStamps } from '../../core/time.js'
import { PACKS_PREFIX } from '../../ledger/pack.js'
import { type IndexedPage, listIndexedPages, packIndexName, readPackIndex } from '../../ledger/pack-index.js'
import { isSegmentObject, LEDGER_PREFIX } from '../../ledger/segment.js'
import type { ObjectHead, ObjectStore } from '../../storage/object-store.js'
import { MANIFESTS_PREFIX, type Pointer, REVISIONS_PREFIX, STATE_PREFIX } from '../../tables/revision.js'
import { chainPageRevisions } from '../../tables/snapshot.js'
import { volumePageOf } from '../../tables/volume.js'
import { FILTER_ENDING } from '../base/write-part.js'
import { reachKept } from '../collect.js'
import { reachesOf } from '../reach.js'
import { type CopyDeps, type CopyTally, copyObjects, emptyTally } from './copy.js'

export type WhatToCopy = {
  readonly pointer: Pointer
  /** The newest creation of a segment that belongs to it. */
  readonly segments_through: string | null
  /** Table files of every older revision that could be opened then. */
  readonly kept_at: number
}

/** What vanished meanwhile of what is never collected while it is needed: then the pointer is read again. */
export async function copyRevision(deps: CopyDeps, what: WhatToCopy): Promise<CopyTally> {
  const { source } = deps
  const { pointer, segments_through } = what
  const total = emptyTally()
  const copy = async (request: Parameters<typeof copyObjects>[1]) => add(total, await copyObjects(deps, request))
  // A stray under the name of a packed segment is not what was folded, and nobody was told that it is durable.
  await copy({ prefix: LEDGER_PREFIX, isWanted: isCreatedBy(segments_through, deps), differing: 'beside' })
  const page_revisions = await chainPageRevisions(source, pointer)
  const page_count = pointer.chain_through / page_revisions
  const isPaged = isOfPages(page_count)
  // A page that this pointer does not know: its segments lay where they were when they were listed, or in its packs.
  const { pages } = await listIndexedPages(source)
  total.vanished.push(...pages.filter(({ page }) => page >= page_count).map(({ head }) => head.name))
  // Those that are packed from here on lie single in the copy, and their packs are not copied.
  const indexed = pages.filter(({ page }) => page < page_count)
  const indices = new Set(indexed.map(({ page }) => packIndexName(page)))
  const packs = await packsOf(source, indexed)
  await copy({ prefix: PACKS_PREFIX, isWanted: ({ name }) => packs.has(name) })
  await copy({
    prefix: MANIFESTS_PREFIX,
    isWanted: ({ name }) => !name.startsWith(CHAIN_PREFIX) && (!name.startsWith(REVISIONS_PREFIX) || sequenceOf(name) <= pointer.sequence),
  })
  // A page is named by its number alone, and so is what lies beside it: a workspace that was restored has others under the names.
  await copy({ prefix: CHAIN_PREFIX, isWanted: ({ name }) => !isPart(name) && isPaged(name), differing: 'beside' })
  await copy({ prefix: CHAIN_PREFIX, isWanted: ({ name }) => indices.has(name), differing: 'beside' })
  await copy({ prefix: CHAIN_PREFIX, isWanted: ({ name }) => volumePageOf(name) !== undefined && isPaged(name), differing: 'beside' })
  const isReached = reachesOf(await reachKept(source, pointer, what.kept_at))
  await copy({
    prefix: STATE_PREFIX,
    isWanted: ({ name }) => isReached(name),
    // One that was damaged has been rebuilt under its name.
    differing: (name) => (name.endsWith(FILTER_ENDING) ? 'beside' : 'refuse'),
  })
  // After the ledger: whoever appended had written its list and its claim before.
  await copy({ prefix: LISTS_PREFIX })
  await copy({ prefix: LOGS_PREFIX, differing: 'beside' })
  for (const prefix of [CLAIMS_PREFIX, STARTS_PREFIX]) {
    // One that is old enough to be removed may be removed, and made anew: then nobody misses it.
    add(total, { ...(await copyObjects(deps, { prefix, differing: 'beside' })), vanished: [] })
  }
  return total
}

/** All that a backup's document names, and nothing else (view.ts). Indices come before packs, for one that is younger than its
 *  packs would be void (packs/settle.ts). */
export async function copyBackup(deps: CopyDeps): Promise<CopyTally> {
  const total = emptyTally()
  const prefixes = [LEDGER_PREFIX, MANIFESTS_PREFIX, PACKS_PREFIX, STATE_PREFIX, LISTS_PREFIX, LOGS_PREFIX, CLAIMS_PREFIX, STARTS_PREFIX]
  for (const prefix of prefixes) add(total, await copyObjects(deps, { prefix }))
  return total
}

function add(total: CopyTally, { copied, bytes, present, vanished }: CopyTally): void {
  total.copied += copied
  total.bytes += bytes
  total.present += present
  total.vanished.push(...vanished)
}

/** What of a ledger belongs to a backup; null: nothing. */
const isCreatedBy =
  (through: string | null, { originOf }: CopyDeps) =>
  (head: ObjectHead) =>
    isSegmentObject(head.name) && through !== null && compareStamps(originOf(head).creation_time, through) <= 0

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
