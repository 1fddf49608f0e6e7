// What a process knows of its workspace between turns: the revision it stands on, the hot rows, and which segments of the
// open minutes are folded. All of it comes from published documents, and is kept by what each revision changed.

import { isOperatingError } from '../core/errors.js'
import { MERGE_DUE_DELTAS } from '../core/limits.js'
import { createWorkingSet, type WorkingSet } from '../projections/working-set.js'
import { type FoldedNames, NO_NAMES, withNames } from '../tables/folded-names.js'
import { walkBack } from '../tables/history/history.js'
import type { FilterCache } from '../tables/lookup.js'
import type { Revision } from '../tables/revision.js'
import { rowsAt } from '../tables/rows-at.js'
import {
  openSegmentNames,
  openSnapshot,
  type PublishedPointer,
  type Snapshot,
  segmentsOf,
  stillOpen,
  type TableStore,
} from '../tables/snapshot.js'
import { loadHotState, readChanges, takeIn } from './hot-state.js'
import type { Lookup } from './load.js'

/** The memory of one revision; `snapshot` is undefined before the first. */
export type Standing = {
  readonly snapshot: Snapshot | undefined
  readonly rows: WorkingSet
  /** Names of folded segments that a listing from the last closed minute may still show. */
  readonly folded: FoldedNames
}

export type Workspace = Standing & { readonly published: PublishedPointer | undefined }

export const NO_STANDING = (): Standing => ({ snapshot: undefined, rows: createWorkingSet(0), folded: NO_NAMES })

export const EMPTY_WORKSPACE = (): Workspace => ({ published: undefined, ...NO_STANDING() })

/** Brings the workspace to what the pointer says. */
export async function followPointer(tables: TableStore, workspace: Workspace, published: PublishedPointer): Promise<Workspace> {
  const { pointer } = published
  if (workspace.snapshot?.revision.revision === pointer.revision) return { ...workspace, published }
  const snapshot = await openSnapshot(tables, pointer, workspace.snapshot)
  return { published, ...(await followSnapshot(tables, workspace, snapshot)) }
}

/** Brings the memory to this snapshot: by what the revisions between changed, merged meanwhile or not, else by loading afresh.
 *  It moves whole or not at all. */
export async function followSnapshot(tables: TableStore, standing: Standing, snapshot: Snapshot): Promise<Standing> {
  const held = standing.snapshot?.revision
  if (held?.revision === snapshot.revision.revision) return standing
  const between = held === undefined ? undefined : await readBetween(tables, held, snapshot)
  if (between === undefined) return { snapshot, rows: await loadHotState(tables, snapshot), folded: openSegmentNames(snapshot) }
  takeIn(standing.rows, between.changes, snapshot.revision.applied_total)
  const folded = withNames(standing.folded, segmentsOf(between.newer))
  return { snapshot, rows: standing.rows, folded: stillOpen(folded, snapshot.revision) }
}

/** undefined: they do not lead back to what is held, are too many, or were collected. */
async function readBetween(tables: TableStore, held: Revision, snapshot: Snapshot) {
  try {
    const newer = await revisionsSince(tables, held, snapshot)
    return newer === undefined ? undefined : { newer, changes: await readChanges(tables, newer) }
  } catch (error) {
    if (isOperatingError(error, 'missing')) return undefined
    throw error
  }
}

/** What a merge has taken into the base still lies in the chain, a document each; a whole load costs less than very many. */
async function revisionsSince({ store }: TableStore, held: Revision, snapshot: Snapshot): Promise<readonly Revision[] | undefined> {
  const { revision, deltas, checkpoint } = snapshot
  // A rebuild says in no delta which rows it mended.
  if ((checkpoint.folded_since ?? 0) > held.sequence) return undefined
  if (revision.sequence <= held.sequence || revision.fold_version !== held.fold_version) return undefined
  const known = deltas.filter(({ sequence }) => sequence > held.sequence)
  const [lowest = revision] = known
  const newer = known.length === 0 ? [revision] : known
  if (lowest.previous === held.revision) return newer
  if (lowest.previous === null || lowest.sequence - held.sequence > FOLLOWED_MERGED_MAX) return undefined
  const merged: Revision[] = []
  const from = { sequence: lowest.sequence - 1, revision: lowest.previous }
  for await (const document of walkBack(store, from, held.sequence)) merged.unshift(document)
  return merged[0]?.previous === held.revision ? [...merged, ...newer] : undefined
}

/** They are read one after the other, as each names the one before it: two rounds of merges, and some. */
const FOLLOWED_MERGED_MAX = 2 * MERGE_DUE_DELTAS

/** Rows of the published revision: the overlay first, then the base and the cold parts through filters and key ranges. */
export function lookupIn(tables: TableStore, filters: FilterCache, { snapshot }: Pick<Standing, 'snapshot'>): Lookup {
  if (snapshot === undefined) return async () => []
  return (table, keys) => rowsAt({ ...tables, snapshot, filters }, table, keys)
}
