// The table files of a workspace, as verify looks at them: which there have to be, by the rule that readers and collection go
// by, and whether each is whole. It reads every one of them.

import { crc32cHex } from '../core/hash.js'
import { instantMs } from '../core/time.js'
import { RETENTION } from '../projections/retention.js'
import type { ObjectStore } from '../storage/object-store.js'
import { keptUntil } from '../tables/history/kept.js'
import type { KeptAt } from '../tables/history/kept-revisions.js'
import type { Listed } from '../tables/history/pages.js'
import { layersOf } from '../tables/overlay.js'
import { CHECKPOINTS_PREFIX, checkpointName, type Pointer } from '../tables/revision.js'
import { openSnapshot, type Snapshot, type TableStore } from '../tables/snapshot.js'
import { openVolumes } from '../tables/volume.js'
import { reachOf } from './reach.js'
import { reachedBy } from './reached.js'
import type { Links } from './verify-chain.js'
import { findCheckpoint, findColdList, findRevision, orDamage, RESTORE_IT } from './verify-documents.js'

/** What was found out on the way along the chain. */
export type ReadChain = {
  readonly links: Links
  /** Every revision that could be read, oldest first. */
  readonly listed: readonly Listed[]
  readonly server_time: number
}

const READS_AT_ONCE = 16

/** Every reachable file is there; those of the current revision have the size and checksum that it states. It answers their
 *  names, checkpoints apart. */
export async function verifyFiles(
  tables: TableStore,
  pointer: Pointer,
  { links, listed, server_time }: ReadChain,
  problems: string[],
): Promise<ReadonlySet<string>> {
  const { store } = tables
  const stated = new Map<string, string>()
  // What is wrong with it is said where all that are kept are looked at.
  const current = await findCheckpoint(store, pointer.checkpoint.name, 'the pointer')
  if ('document' in current) {
    for (const parts of current.document.tables.values()) for (const { name, crc32c } of parts) stated.set(name, crc32c)
    for (const list of [...current.document.cold.values()].flat()) {
      const found = await findColdList(store, list)
      if ('problem' in found) problems.push(found.problem)
      else for (const { name, crc32c } of found.document) stated.set(name, crc32c)
    }
  }
  // Where the newest revision cannot be read, that is said already.
  const newest = await findRevision(store, pointer)
  const retention = 'document' in newest ? newest.document.retention : RETENTION
  const damaged = new Set<string>()
  const { files, deltas } = await reachOf(keptOf(listed, pointer, { now: server_time, retention }), {
    openCheckpoint: async (name) => {
      const first = listed.find(({ checkpoint }) => checkpoint === name)
      const found = await findCheckpoint(store, name, first === undefined ? 'the pointer' : `revision ${first.sequence}`)
      if ('document' in found) return reachedBy(found.document)
      problems.push(found.problem)
      damaged.add(checkpointName(name))
      return undefined
    },
    openColdList: async (list) => {
      const found = await findColdList(store, list)
      return 'document' in found ? found.document : undefined
    },
    revisionAt: async (sequence) => links.get(sequence),
  })
  const reachable = new Set([...files, ...(await filesAdded(store, deltas))].filter((name) => !damaged.has(name)))
  for (const link of pointer.deltas) {
    const found = await findRevision(store, link)
    if ('document' in found) for (const { name, crc32c } of found.document.files_added) stated.set(name, crc32c)
  }
  for (const some of inGroups([...new Set([...reachable, ...stated.keys()])])) {
    const found = await Promise.all(some.map((name) => verifyFile(store, name, stated.get(name))))
    problems.push(...found.filter((problem) => problem !== undefined))
  }
  // Last, and only where nothing is known to be damaged: it would be the same sentence once more.
  const opened = problems.length > 0 ? undefined : await orDamage('The current revision', () => openWhole(tables, pointer))
  if (opened !== undefined && 'problem' in opened) problems.push(`The current revision cannot be opened: ${opened.problem}`)
  return new Set([...reachable].filter((name) => !name.startsWith(CHECKPOINTS_PREFIX)))
}

/** With every file above the base decoded, which a reader leaves until somebody asks for its table. */
async function openWhole(tables: TableStore, pointer: Pointer): Promise<Snapshot> {
  const snapshot = await openSnapshot(tables, pointer)
  for (const table of snapshot.overlay.keys()) await layersOf(snapshot.overlay, table)
  return snapshot
}

/** Those that readers may open, newest first. Of one whose successor cannot be read nobody can say when it was replaced, and
 *  so not whether it is kept: it is left out. */
function keptOf(listed: readonly Listed[], pointer: Pointer, { now, retention }: KeptAt): Listed[] {
  const newest = { ...pointer, published_at: instantMs(pointer.published_at), checkpoint: pointer.checkpoint.name }
  const kept: Listed[] = [newest]
  let next: Listed = newest
  for (const one of listed.toReversed()) {
    if (one.sequence >= pointer.sequence) continue
    const isKept = next.sequence === one.sequence + 1 && now <= keptUntil({ ...one, replaced_at: next.published_at }, retention)
    if (isKept) kept.push(one)
    next = one
  }
  return kept
}

async function filesAdded(store: ObjectStore, deltas: ReadonlyMap<number, string>): Promise<string[]> {
  const names: string[] = []
  const volumes = openVolumes(store)
  for (const some of inGroups([...deltas].map(([sequence, revision]) => ({ sequence, revision })))) {
    for (const found of await Promise.all(some.map((link) => findRevision(store, link, volumes)))) {
      if ('document' in found) names.push(...found.document.files_added.map(({ name }) => name))
    }
  }
  return names
}

async function verifyFile(store: ObjectStore, name: string, crc32c: string | undefined): Promise<string | undefined> {
  const got = await orDamage(name, () => store.get(name))
  if ('problem' in got) return got.problem
  const answer = got.document
  if (answer.kind === 'absent') return `${name} is gone, though a revision names it. ${RESTORE_IT}`
  const found = crc32cHex(answer.bytes)
  if (found !== answer.head.crc32c)
    return `${name} is damaged: its bytes have checksum ${found}, the store recorded ${answer.head.crc32c}. ${RESTORE_IT}`
  if (crc32c !== undefined && found !== crc32c)
    return `${name} has checksum ${found}; the revision that names it says ${crc32c}. ${RESTORE_IT}`
  return undefined
}

export function* inGroups<T>(values: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < values.length; start += READS_AT_ONCE) yield values.slice(start, start + READS_AT_ONCE)
}
