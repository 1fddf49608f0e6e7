// A replay that begins with a checkpoint: the oldest whose files are still there and whose tables were folded as they are
// folded now. It proves what was folded since; what is older is proved by a replay from the first event.

import { type Compared, compareTables, rowsOfTables } from '../compactor/compare.js'
import { copyCheckpoint } from '../compactor/rebuilt.js'
import { conflict, missing } from '../core/errors.js'
import { CHECKPOINT_COPY_MS_MAX } from '../core/limits.js'
import type { ObjectStore } from '../storage/object-store.js'
import { NO_NAMES } from '../tables/folded-names.js'
import { type History, openHistory } from '../tables/history/history.js'
import { keptRevisions } from '../tables/history/kept-revisions.js'
import { type Checkpoint, checkpointName, type Pointer, parseCheckpoint } from '../tables/revision.js'
import { openSnapshot, readDocument, readPointer, readRevision } from '../tables/snapshot.js'
import { loadHotState } from './hot-state.js'
import { createRefold, type RefoldDeps, type RefoldStart } from './refold.js'
import { readNewest, throughNewest } from './through-newest.js'

type ReplaySinceAnswer = Compared & {
  /** The sequence of the checkpoint. */
  readonly from: number
  readonly sequence: number
  readonly revision_count: number
}

export async function replaySince(deps: RefoldDeps): Promise<ReplaySinceAnswer> {
  const { live, scratch } = deps
  const first = await readNewest(live.store)
  const history = openHistory(live.store, first.pointer)
  // One that will still be there when it has been copied.
  const checkpoint = await oldestCheckpoint(live.store, history, first.pointer, first.server_time + CHECKPOINT_COPY_MS_MAX)
  const refold = createRefold(deps, await goOnFrom(deps, history, checkpoint))
  const { pointer, folded } = await throughNewest(() => readNewest(live.store), refold.through)
  const snapshot = await openSnapshot(live, pointer)
  if (snapshot.checkpoint.folded_since !== checkpoint.folded_since) {
    throw conflict(`The tables of ${live.store.label} were made anew meanwhile, by a rebuild or by another version. Replay again.`)
  }
  const compared = await compareTables(live, snapshot, rowsOfTables(scratch, folded))
  return { from: checkpoint.sequence, sequence: pointer.sequence, revision_count: pointer.sequence - checkpoint.sequence, ...compared }
}

/** Collection keeps the files of every revision that can be opened. */
async function oldestCheckpoint(store: ObjectStore, history: History, pointer: Pointer, now: number): Promise<Checkpoint> {
  const open = (name: string) => readDocument(store, checkpointName(name), parseCheckpoint)
  let oldest = await open(pointer.checkpoint.name)
  // Of an older version: nobody knows what came before it.
  if (oldest.folded_since === undefined) return oldest
  const { retention } = await readRevision(store, pointer.sequence, pointer.revision)
  for await (const { checkpoint } of keptRevisions(history, { now, retention })) {
    if (checkpoint === oldest.name) continue
    const found = await open(checkpoint)
    if (found.folded_since !== oldest.folded_since) break
    oldest = found
  }
  return oldest
}

/** The checkpoint with its files in the tables of the replay, as if they had been folded there. */
async function goOnFrom({ live, scratch }: RefoldDeps, history: History, checkpoint: Checkpoint): Promise<RefoldStart> {
  const link = await history.at(checkpoint.sequence)
  const revision = await readRevision(live.store, link.sequence, link.revision)
  await copyCheckpoint({ live, scratch }, checkpoint, revision)
  const { published } = await readPointer(scratch.store)
  if (published === undefined) throw missing(`${scratch.store.label} has lost its pointer. Replay again.`)
  const snapshot = await openSnapshot(scratch, published.pointer)
  const rows = await loadHotState(scratch, snapshot)
  return { workspace: { published, snapshot, rows, folded: NO_NAMES }, revision }
}
