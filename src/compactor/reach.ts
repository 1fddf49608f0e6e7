// Which objects revisions are read from: checkpoints, the parts below them, cold ones and their sub-lists too, and the L0 files between.
// It opens a checkpoint each and no revision: L0 files lie under the id of the revision that added them.

import type { ObjectStore } from '../storage/object-store.js'
import { openColdList } from '../tables/cold/list.js'
import type { Listed } from '../tables/history/pages.js'
import { type Checkpoint, type ColdList, checkpointName, l0RevisionOf, type Part } from '../tables/revision.js'

export type Reach = {
  /** Checkpoints, their parts and cold ones, filters of these, and the sub-lists that name the latter. */
  readonly files: ReadonlySet<string>
  /** By sequence, the revisions whose L0 files are read above those parts. */
  readonly deltas: ReadonlyMap<number, string>
}

/** Where the chain is read; what cannot be told there is `undefined`, and left out. */
type ReachSource = {
  readonly openCheckpoint: (name: string) => Promise<Checkpoint | undefined>
  readonly openColdList: (list: ColdList) => Promise<readonly Part[] | undefined>
  readonly revisionAt: (sequence: number) => Promise<string | undefined>
}

/** Of these revisions, newest first. */
export async function reachOf(
  revisions: AsyncIterable<Listed> | Iterable<Listed>,
  { openCheckpoint, openColdList, revisionAt }: ReachSource,
): Promise<Reach> {
  const files = new Set<string>()
  const deltas = new Map<number, string>()
  let opened: { readonly name: string; readonly checkpoint: Checkpoint | undefined } | undefined
  // Checkpoints only move on along the chain, so what newer revisions need of the deltas begins above what is left here.
  let lowest = Number.POSITIVE_INFINITY
  for await (const { sequence, checkpoint: name } of revisions) {
    if (opened?.name !== name) {
      opened = { name, checkpoint: await openCheckpoint(name) }
      files.add(checkpointName(name))
      await addCheckpoint(files, opened.checkpoint, openColdList)
    }
    const stop_after = opened.checkpoint?.sequence ?? sequence - 1
    for (let at = Math.min(sequence, lowest - 1); at > stop_after; at--) {
      const revision = await revisionAt(at)
      if (revision !== undefined) deltas.set(at, revision)
      lowest = at
    }
  }
  return { files, deltas }
}

/** Of one checkpoint, whose sub-lists are all there. */
export async function filesOfCheckpoint(store: ObjectStore, checkpoint: Checkpoint): Promise<ReadonlySet<string>> {
  const files = new Set<string>()
  await addCheckpoint(files, checkpoint, (list) => openColdList(store, list))
  return files
}

async function addCheckpoint(files: Set<string>, checkpoint: Checkpoint | undefined, open: ReachSource['openColdList']): Promise<void> {
  for (const parts of checkpoint?.tables.values() ?? []) addParts(files, parts)
  await addCold(files, checkpoint, open)
}

function addParts(files: Set<string>, parts: readonly Part[]): void {
  for (const { name, filter, day_filter } of parts) {
    files.add(name)
    if (filter !== null) files.add(filter)
    if (day_filter !== undefined) files.add(day_filter)
  }
}

/** A sub-list that a newer checkpoint names too is opened once. */
async function addCold(files: Set<string>, checkpoint: Checkpoint | undefined, openColdList: ReachSource['openColdList']): Promise<void> {
  for (const list of [...(checkpoint?.cold.values() ?? [])].flat()) {
    for (const filter of list.filters) files.add(filter)
    if (files.has(list.name)) continue
    files.add(list.name)
    addParts(files, (await openColdList(list)) ?? [])
  }
}

/** Whether any of these reaches the file. */
export function reachesOf(...reaches: readonly Reach[]): (name: string) => boolean {
  const revisions = new Set(reaches.flatMap(({ deltas }) => [...deltas.values()]))
  return (name) => {
    if (reaches.some(({ files }) => files.has(name))) return true
    const revision = l0RevisionOf(name)
    return revision !== undefined && revisions.has(revision)
  }
}
