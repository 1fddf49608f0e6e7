// Which table files revisions are made of: the parts below them, cold ones and their sub-lists too, and the L0 files between.
// It opens a checkpoint each and no revision: L0 files lie under the id of the revision that added them.

import type { Listed } from '../tables/history/pages.js'
import { type Checkpoint, type ColdList, l0RevisionOf, type Part } from '../tables/revision.js'

export type Reach = {
  /** Parts of the base and cold ones, their filters, and the sub-lists that name the latter. */
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
      for (const parts of opened.checkpoint?.tables.values() ?? []) addParts(files, parts)
      await addCold(files, opened.checkpoint, openColdList)
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
