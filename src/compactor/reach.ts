// Which objects revisions are read from: checkpoints, the parts below them, cold ones and their sub-lists too, and the L0 files between.
// It asks for a checkpoint each and no revision: L0 files lie under the id of the revision that added them.

import type { ObjectStore } from '../storage/object-store.js'
import { openColdList } from '../tables/cold/list.js'
import type { Listed } from '../tables/history/pages.js'
import { type Checkpoint, type ColdList, checkpointName, l0RevisionOf, type Part } from '../tables/revision.js'
import { filesOfPart, type Reached, reachedBy } from './reached.js'

export type Reach = {
  /** Checkpoints, their parts and cold ones, filters of these, and the sub-lists that name the latter. */
  readonly files: ReadonlySet<string>
  /** By sequence, the revisions whose L0 files are read above those parts. */
  readonly deltas: ReadonlyMap<number, string>
}

/** Where the chain is read; what cannot be told there is `undefined`, and left out. */
type ReachSource = {
  readonly openCheckpoint: (name: string) => Promise<Reached | undefined>
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
  let opened: { readonly name: string; readonly checkpoint: Reached | undefined } | undefined
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
  await addCheckpoint(files, reachedBy(checkpoint), (list) => openColdList(store, list))
  return files
}

/** A sub-list that a newer checkpoint names too is opened once. */
async function addCheckpoint(
  files: Set<string>,
  checkpoint: Reached | undefined,
  openColdList: ReachSource['openColdList'],
): Promise<void> {
  for (const name of checkpoint?.files ?? []) files.add(name)
  for (const list of checkpoint?.cold ?? []) {
    for (const filter of list.filters) files.add(filter)
    if (files.has(list.name)) continue
    files.add(list.name)
    for (const name of ((await openColdList(list)) ?? []).flatMap(filesOfPart)) files.add(name)
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
