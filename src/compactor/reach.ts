// Which table files revisions are made of: the parts below them, and the L0 files between. It opens a checkpoint each and no
// revision: L0 files lie under the id of the revision that added them.

import type { Listed } from '../tables/history/pages.js'
import { type Checkpoint, l0RevisionOf } from '../tables/revision.js'

export type Reach = {
  /** Parts of the base, and their filters. */
  readonly files: ReadonlySet<string>
  /** By sequence, the revisions whose L0 files are read above those parts. */
  readonly deltas: ReadonlyMap<number, string>
}

/** Where the chain is read; what cannot be told there is `undefined`, and left out. */
type ReachSource = {
  readonly openCheckpoint: (name: string) => Promise<Checkpoint | undefined>
  readonly revisionAt: (sequence: number) => Promise<string | undefined>
}

/** Of these revisions, newest first. */
export async function reachOf(
  revisions: AsyncIterable<Listed> | Iterable<Listed>,
  { openCheckpoint, revisionAt }: ReachSource,
): Promise<Reach> {
  const files = new Set<string>()
  const deltas = new Map<number, string>()
  let opened: { readonly name: string; readonly checkpoint: Checkpoint | undefined } | undefined
  // Checkpoints only move on along the chain, so what newer revisions need of the deltas begins above what is left here.
  let lowest = Number.POSITIVE_INFINITY
  for await (const { sequence, checkpoint: name } of revisions) {
    if (opened?.name !== name) {
      opened = { name, checkpoint: await openCheckpoint(name) }
      for (const file of filesOf(opened.checkpoint)) files.add(file)
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

function* filesOf(checkpoint: Checkpoint | undefined): Generator<string> {
  for (const parts of checkpoint?.tables.values() ?? []) {
    for (const { name, filter } of parts) {
      yield name
      if (filter !== null) yield filter
    }
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
