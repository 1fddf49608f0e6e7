// What a turn's process knows of its workspace between turns: the revision it stands on, the hot rows, and which
// segments of the open minutes are folded. All of it comes from published documents.

import { createWorkingSet, type WorkingSet } from '../projections/working-set.js'
import type { FilterCache } from '../tables/lookup.js'
import type { Revision } from '../tables/revision.js'
import { rowsAt } from '../tables/rows-at.js'
import { openSegmentNames, openSnapshot, type PublishedPointer, type Snapshot, stillOpen, type TableStore } from '../tables/snapshot.js'
import { followDeltas, loadHotState } from './hot-state.js'
import type { Lookup } from './load.js'

export type Workspace = {
  readonly published: PublishedPointer | undefined
  readonly snapshot: Snapshot | undefined
  readonly rows: WorkingSet
  /** Names of folded segments that a listing from the last closed minute may still show. */
  readonly folded: ReadonlySet<string>
}

export const EMPTY_WORKSPACE = (): Workspace => ({
  published: undefined,
  snapshot: undefined,
  rows: createWorkingSet(0),
  folded: new Set(),
})

/** Brings the workspace to what the pointer says: by the deltas where they reach, else by loading afresh. */
export async function followPointer(tables: TableStore, workspace: Workspace, published: PublishedPointer): Promise<Workspace> {
  const { pointer } = published
  const held = workspace.snapshot?.revision
  if (held !== undefined && held.revision === pointer.revision) return { ...workspace, published }
  const snapshot = await openSnapshot(tables, pointer, workspace.snapshot)
  const isReachable = held !== undefined && reaches(snapshot, held)
  if (!isReachable) return { published, snapshot, rows: await loadHotState(tables, snapshot), folded: openSegmentNames(snapshot) }
  const newer = snapshot.deltas.filter(({ sequence }) => sequence > held.sequence)
  await followDeltas(tables, workspace.rows, newer)
  const folded = new Set(workspace.folded)
  for (const { segments } of newer) for (const { name } of segments) folded.add(name)
  return { published, snapshot, rows: workspace.rows, folded: stillOpen(folded, snapshot.revision) }
}

/** Every revision between the one held and the newest is a delta at hand, or changed no row. */
function reaches(snapshot: Snapshot, held: Revision): boolean {
  if (snapshot.revision.sequence === held.sequence) return false
  if (snapshot.checkpoint.sequence > held.sequence) return false
  const next = snapshot.deltas.find(({ sequence }) => sequence === held.sequence + 1)
  return next?.previous === held.revision
}

/** Rows of the published revision: the overlay first, then the base and the cold parts through filters and key ranges. */
export function lookupIn(tables: TableStore, filters: FilterCache, { snapshot }: Workspace): Lookup {
  if (snapshot === undefined) return async () => []
  return (table, keys) => rowsAt({ ...tables, snapshot, filters }, table, keys)
}
