// The table files of a workspace, as verify looks at them: which there have to be, by the rule that readers and collection go
// by, and whether each is whole. It reads every one of them.

import { isOperatingError, messageOf, missing } from '../core/errors.js'
import { crc32cHex } from '../core/hash.js'
import { manyAtOnce } from '../storage/many-at-once.js'
import type { ObjectStore } from '../storage/object-store.js'
import { openFilter } from '../tables/bloom.js'
import { CHECKPOINTS_PREFIX, checkpointName, POINTER_NAME, type Pointer } from '../tables/revision.js'
import { openSnapshot, readDelta, readPointer, readRevision, type TableStore } from '../tables/snapshot.js'
import { openVolumes } from '../tables/volume.js'
import { FILTER_ENDING } from './base/write-part.js'
import { reachKept } from './collect.js'
import { reachesOf, reachOf } from './reach.js'
import { reachedBy } from './reached.js'
import type { KeptRevisions } from './verified/kept.js'
import type { Links } from './verified/links.js'
import { findCheckpoint, findColdList, findRevision, orDamage, RESTORE_IT } from './verify-documents.js'

export const READS_AT_ONCE = 16

/** Every reachable file is there; those of the current revision have the size and checksum that it states. It answers how many
 *  they are, checkpoints apart. */
export async function verifyFiles(
  tables: TableStore,
  pointer: Pointer,
  { links, kept }: { readonly links: Links; readonly kept: KeptRevisions },
  problems: string[],
): Promise<number> {
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
  const damaged = new Set<string>()
  const { files, deltas } = await reachOf(kept.newest_first, {
    openCheckpoint: async (name) => {
      const first = kept.named_since.get(name)
      const found = await findCheckpoint(store, name, first === undefined ? 'the pointer' : `revision ${first}`)
      if ('document' in found) return reachedBy(found.document)
      problems.push(found.problem)
      damaged.add(checkpointName(name))
      return undefined
    },
    openColdList: async (list) => {
      const found = await findColdList(store, list)
      return 'document' in found ? found.document : undefined
    },
    revisionAt: links.at,
  })
  const reachable = new Set([...files, ...(await filesAdded(store, deltas))].filter((name) => !damaged.has(name)))
  for (const link of pointer.deltas) {
    const found = await findRevision(store, link)
    if ('document' in found) for (const { name, crc32c } of found.document.files_added) stated.set(name, crc32c)
  }
  const names = [...new Set([...reachable, ...stated.keys()])]
  const found = await manyAtOnce(names, READS_AT_ONCE, (name) => verifyFile(store, name, stated.get(name)))
  for (const problem of found) if (problem !== undefined && problem !== 'gone') problems.push(problem)
  const gone = names.filter((_, index) => found[index] === 'gone')
  const isNeeded = gone.length === 0 ? () => true : await neededNow(store)
  for (const name of gone.filter(isNeeded)) problems.push(`${name} is gone, though a revision names it. ${cureOf(name)}`)
  // Last, and only where nothing is known to be damaged: it would be the same sentence once more.
  const opened = problems.length > 0 ? undefined : await orDamage('The current revision', () => openNewest(tables))
  if (opened !== undefined && 'problem' in opened) problems.push(`The current revision cannot be opened: ${opened.problem}`)
  return [...reachable].filter((name) => !name.startsWith(CHECKPOINTS_PREFIX)).length
}

/** Whoever reads for hours finds that collection has removed what no revision needs any more which can be opened by now. */
async function neededNow(store: ObjectStore): Promise<(name: string) => boolean> {
  const found = await orDamage(POINTER_NAME, async () => {
    const { published, server_time } = await readPointer(store)
    return published === undefined ? undefined : reachKept(store, published.pointer, server_time)
  })
  // Where that cannot be told, all of it counts as needed.
  return 'problem' in found || found.document === undefined ? () => true : reachesOf(found.document)
}

/** The one that readers find now, with every file above the base decoded, which they leave until somebody asks for its table. */
async function openNewest(tables: TableStore): Promise<void> {
  const { published } = await readPointer(tables.store)
  if (published === undefined) throw missing(`${POINTER_NAME} is gone.`)
  const { pointer } = published
  await openSnapshot(tables, pointer)
  // A document of its own for each, so that its rows are forgotten with it.
  for (const { sequence, revision } of pointer.deltas)
    await readDelta(tables, await readRevision(tables.store, sequence, revision), () => true)
}

async function filesAdded(store: ObjectStore, deltas: ReadonlyMap<number, string>): Promise<string[]> {
  const volumes = openVolumes(store)
  const names = await manyAtOnce([...deltas], READS_AT_ONCE, async ([sequence, revision]) => {
    const found = await findRevision(store, { sequence, revision }, volumes)
    return 'document' in found ? found.document.files_added.map(({ name }) => name) : []
  })
  return names.flat()
}

/** What is wrong with it. */
async function verifyFile(store: ObjectStore, name: string, crc32c: string | undefined): Promise<string | undefined> {
  const got = await orDamage(name, () => store.get(name))
  if ('problem' in got) return isFilter(name) ? got.problem.replace(RESTORE_IT, REBUILD_IT) : got.problem
  const answer = got.document
  if (answer.kind === 'absent') return 'gone'
  const found = crc32cHex(answer.bytes)
  if (found !== answer.head.crc32c)
    return `${name} is damaged: its bytes have checksum ${found}, the store recorded ${answer.head.crc32c}. ${cureOf(name)}`
  if (crc32c !== undefined && found !== crc32c)
    return `${name} has checksum ${found}; the revision that names it says ${crc32c}. ${RESTORE_IT}`
  return isFilter(name) ? filterProblem(name, answer.bytes) : undefined
}

/** No revision says what checksum a filter has: the filter itself does. */
function filterProblem(name: string, bytes: Uint8Array): string | undefined {
  try {
    openFilter(bytes, name)
    return undefined
  } catch (error) {
    if (!isOperatingError(error, 'corrupt')) throw error
    return `${messageOf(error)} ${REBUILD_IT}`
  }
}

const isFilter = (name: string): boolean => name.endsWith(FILTER_ENDING)

/** What is looked up is found without it, and it can be made again from its table file. */
const REBUILD_IT = 'Rebuild it with `servo ledger compact --filters`.'

const cureOf = (name: string): string => (isFilter(name) ? REBUILD_IT : RESTORE_IT)
