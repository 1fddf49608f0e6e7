// Whether a copy has what its revision needs, by listings and by the documents of the copy itself. It reads no table file and
// no segment: those had the right checksum when they were written, and the store keeps one of its own.

import { isOperatingError } from '../../core/errors.js'
import { PACKS_PREFIX } from '../../ledger/pack.js'
import { type IndexedPage, listIndexedPages, readPackIndex } from '../../ledger/pack-index.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { type ColdPart, openColdList } from '../../tables/cold/list.js'
import { openHistory } from '../../tables/history/history.js'
import {
  COLD_PREFIX,
  checkpointName,
  type Pointer,
  parseCheckpoint,
  REVISIONS_PREFIX,
  revisionName,
  STATE_PREFIX,
} from '../../tables/revision.js'
import { chainPageRevisions, readDocument, readRevision } from '../../tables/snapshot.js'
import { volumePageOf } from '../../tables/volume.js'
import { headsOf } from './copy.js'

/** The first that is not there; undefined: all is. */
export async function lackOf(store: ObjectStore, pointer: Pointer): Promise<string | undefined> {
  const revisions = new Set<string>()
  for await (const { name } of headsOf(store, REVISIONS_PREFIX)) revisions.add(name)
  const page_revisions = await chainPageRevisions(store, pointer)
  const { pages, names } = await listIndexedPages(store)
  const pack = await packLackOf(
    store,
    pages.filter(({ page }) => page < pointer.chain_through / page_revisions),
  )
  if (pack !== undefined) return pack
  const bound = new Set(names.map(volumePageOf))
  const history = openHistory(store, pointer)
  for (let sequence = pointer.sequence; sequence > 0; sequence--) {
    if (bound.has(Math.floor((sequence - 1) / page_revisions))) continue
    const name = revisionName(sequence, (await history.at(sequence)).revision)
    if (!revisions.has(name)) return name
  }
  const files = new Map<string, string>()
  for (const prefix of [STATE_PREFIX, COLD_PREFIX]) for await (const { name, crc32c } of headsOf(store, prefix)) files.set(name, crc32c)
  for (const { name, crc32c } of await filesOf(store, pointer)) {
    const found = files.get(name)
    if (found === undefined || found !== (crc32c ?? found)) return name
  }
  return undefined
}

/** An index may have been made anew while its packs were copied. */
async function packLackOf(store: ObjectStore, pages: readonly IndexedPage[]): Promise<string | undefined> {
  const packs = new Map<string, string>()
  for await (const { name, crc32c } of headsOf(store, PACKS_PREFIX)) packs.set(name, crc32c)
  for (const { page } of pages) {
    const stored = await readPackIndex(store, page)
    for (const { name, crc32c } of stored?.index.packs ?? []) if (packs.get(name) !== crc32c) return name
  }
  return undefined
}

function noneWhereGone(error: unknown): readonly ColdPart[] {
  if (isOperatingError(error, 'missing')) return []
  throw error
}

async function filesOf(store: ObjectStore, pointer: Pointer): Promise<{ readonly name: string; readonly crc32c?: string }[]> {
  const checkpoint = await readDocument(store, checkpointName(pointer.checkpoint.name), parseCheckpoint)
  const lists = [...checkpoint.cold.values()].flat()
  // A list that is gone is named by its own entry, and what it would name is not asked for.
  const cold = await Promise.all(lists.map((list) => openColdList(store, list).catch(noneWhereGone)))
  const parts = [...[...checkpoint.tables.values()].flat(), ...cold.flat()]
  const filters = new Set([
    ...parts.flatMap(({ filter, day_filter }) => [filter ?? [], day_filter ?? []].flat()),
    ...lists.flatMap((list) => list.filters),
  ])
  const deltas = await Promise.all(pointer.deltas.map(({ sequence, revision }) => readRevision(store, sequence, revision)))
  return [
    ...lists.map(({ name }) => ({ name })),
    ...parts,
    ...[...filters].map((name) => ({ name })),
    ...deltas.flatMap(({ files_added }) => files_added),
  ]
}
