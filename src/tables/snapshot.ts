// One revision, opened: its base parts, and the rows of the revisions since its checkpoint. Whoever holds a
// snapshot sees that revision and no other, whatever is published meanwhile. It never writes.

import { assert, corrupt, missing } from '../core/errors.js'
import { CHAIN_PAGE_REVISIONS } from '../core/limits.js'
import { instantMs, instantText } from '../core/time.js'
import { type ChangedRows, rowsByKey, type TableName } from '../projections/tables.js'
import type { ObjectStore } from '../storage/object-store.js'
import { readIntact } from '../storage/read-intact.js'
import { type FoldedNames, NO_NAMES, namesAfter, withNames } from './folded-names.js'
import {
  EMPTY_OVERLAY,
  loadedOnce,
  type Overlay,
  overlayAfter,
  overlayOfPreview,
  overlayRowCount,
  overlayWith,
  type RowsToLoad,
} from './overlay.js'
import {
  type Checkpoint,
  chainName,
  checkpointName,
  freshPart,
  type Part,
  POINTER_NAME,
  type Pointer,
  parseChainPage,
  parseCheckpoint,
  parsePointer,
  parseRevision,
  REVISIONS_PREFIX,
  type Revision,
  revisionName,
} from './revision.js'
import type { TableFiles } from './table-files.js'
import { openVolumes, type Volumes } from './volume.js'

export type PublishedPointer = { readonly pointer: Pointer; readonly generation: string }

export type Snapshot = {
  readonly revision: Revision
  readonly checkpoint: Checkpoint
  /** The revisions after the checkpoint, oldest first; the last one is `revision`, unless the checkpoint is of it. */
  readonly deltas: readonly Revision[]
  readonly overlay: Overlay
  /** Only in a preview: rows over this revision that none has yet. */
  readonly unpublished?: Unpublished
}

/** What was folded in memory alone. The same id is the same rows, in one process. */
export type Unpublished = { readonly id: string; readonly tables: ReadonlySet<TableName>; readonly segments: readonly string[] }

/** Where table files and documents are read from. */
export type TableStore = { readonly store: ObjectStore; readonly files: TableFiles }

/** The pointer, and the server's time of the answer: T0 of whoever asked. */
export async function readPointer(
  store: ObjectStore,
): Promise<{ readonly published: PublishedPointer | undefined; readonly server_time: number }> {
  const answer = await readIntact(store, POINTER_NAME)
  if (answer.kind === 'absent') return { published: undefined, server_time: answer.server_time }
  return {
    published: { pointer: parsePointer(answer.bytes), generation: answer.head.generation },
    server_time: answer.server_time,
  }
}

export async function readDocument<T>(store: ObjectStore, name: string, parse: (name: string, bytes: Uint8Array) => T): Promise<T> {
  const answer = await readIntact(store, name)
  if (answer.kind === 'absent') throw goneThoughNamed(store, name)
  return parse(name, answer.bytes)
}

const goneThoughNamed = (store: ObjectStore, name: string): Error =>
  missing(`${name} is not in ${store.label}, though a revision names it. Read the pointer again; run \`servo ledger verify\`.`)

export type Link = { readonly sequence: number; readonly revision: string }

export async function readRevision(store: ObjectStore, sequence: number, revision: string, volumes?: Volumes): Promise<Revision> {
  const [document] = await readEachRevision(store, [{ sequence, revision }], volumes)
  return document as Revision
}

/** Each by itself, or out of the volume that it is bound in. Whoever reads many gives the volumes that it has open. */
export const readEachRevision = (
  store: ObjectStore,
  links: readonly Link[],
  volumes: Volumes = openVolumes(store),
): Promise<readonly Revision[]> =>
  Promise.all(
    links.map(async ({ sequence, revision }) => {
      const name = revisionName(sequence, revision)
      const bytes = await readBound(store, { name, sequence }, volumes)
      if (bytes === undefined) throw goneThoughNamed(store, name)
      const document = parseRevision(name, bytes)
      if (document.revision === revision) return document
      throw corrupt(`${name} says that it is revision ${document.sequence}, ${document.revision}. Run \`servo ledger verify\`.`)
    }),
  )

/** The document by itself goes when the volume stands, so that who does not find it finds the volume. undefined: neither is there. */
export async function readBound(
  store: ObjectStore,
  { name, sequence }: { readonly name: string; readonly sequence: number },
  volumes: Volumes,
): Promise<Uint8Array | undefined> {
  const held = volumes.held(sequence)
  if (held !== undefined) return held
  const single = await readIntact(store, name)
  return single.kind === 'found' ? single.bytes : volumes.find(sequence)
}

/** Whether any revision of this number was ever written, published or not. */
export async function hasRevision(store: ObjectStore, sequence: number): Promise<boolean> {
  const { objects } = await store.list(`${REVISIONS_PREFIX}${sequence}-`)
  return objects.length > 0 || (await openVolumes(store).find(sequence)) !== undefined
}

/** How many revisions a page of this chain has: all have as many as the first one. Only tests have others than what is usual. */
export async function chainPageRevisions(store: ObjectStore, { chain_through }: Pick<Pointer, 'chain_through'>): Promise<number> {
  if (chain_through % CHAIN_PAGE_REVISIONS === 0) return CHAIN_PAGE_REVISIONS
  return (await readDocument(store, chainName(0), parseChainPage)).last_sequence
}

/** Opens what the pointer says. With the snapshot that the process has already, only the newer deltas are read. */
export async function openSnapshot(tables: TableStore, pointer: Pointer, before?: Snapshot): Promise<Snapshot> {
  const { store } = tables
  if (before !== undefined && before.revision.revision === pointer.revision) return before
  const isSameBase = before?.checkpoint.name === pointer.checkpoint.name
  const checkpoint = isSameBase ? before.checkpoint : await readDocument(store, checkpointName(pointer.checkpoint.name), parseCheckpoint)
  const known = new Map((before?.deltas ?? []).map((delta) => [delta.revision, delta]))
  const newer = await readEachRevision(
    store,
    pointer.deltas.filter(({ revision }) => !known.has(revision)),
  )
  for (const delta of newer) known.set(delta.revision, delta)
  const deltas = pointer.deltas.map(({ revision }) => known.get(revision) as Revision)
  const overlay = buildOverlay(tables, pointer, deltas, before)
  const newest = deltas.at(-1) ?? (await readRevision(store, pointer.sequence, pointer.revision))
  return { revision: newest, checkpoint, deltas, overlay }
}

function buildOverlay(tables: TableStore, pointer: Pointer, deltas: readonly Revision[], before: Snapshot | undefined): Overlay {
  // The overlay at hand may be built upon only if every revision in it is still an ancestor: true for any snapshot of
  // this chain, since a published revision is never taken back. A foreign chain (a restored prefix) starts afresh.
  const held = before?.revision
  const isAncestor =
    held !== undefined && (deltas.some(({ revision }) => revision === held.revision) || held.sequence === pointer.checkpoint.sequence)
  let overlay = isAncestor && before !== undefined ? overlayFrom(before, pointer) : EMPTY_OVERLAY
  const first = isAncestor && held !== undefined ? held.sequence : pointer.checkpoint.sequence
  for (const delta of deltas) {
    if (delta.sequence > first) overlay = overlayWith(overlay, delta.sequence, deltaFiles(tables, delta))
  }
  return overlay
}

/** Over the same base all of it stays: to go through its rows took as long as to read those of a delta. */
const overlayFrom = ({ checkpoint, overlay }: Snapshot, pointer: Pointer): Overlay =>
  checkpoint.name === pointer.checkpoint.name ? overlay : overlayAfter(overlay, pointer.checkpoint.sequence)

/** The rows that one revision changed in the tables that are wanted. */
export async function readDelta(tables: TableStore, delta: Revision, isWanted: (table: TableName) => boolean): Promise<ChangedRows> {
  const files = [...deltaFiles(tables, delta)].filter(([table]) => isWanted(table))
  return new Map(await Promise.all(files.map(async ([table, { load }]) => [table, await load()] as const)))
}

type DeltaFiles = ReadonlyMap<TableName, RowsToLoad>

/** By the document itself, which a process holds once: who follows the hot rows and the overlay above the base read the same files. */
const filesOfDeltas = new WeakMap<Revision, DeltaFiles>()

/** The same, by table, and none of them read before it is asked for. */
function deltaFiles(tables: TableStore, delta: Revision): DeltaFiles {
  const known = filesOfDeltas.get(delta)
  if (known !== undefined) return known
  const files = filesToLoad(tables, delta)
  filesOfDeltas.set(delta, files)
  return files
}

function filesToLoad({ store, files }: TableStore, delta: Revision): DeltaFiles {
  return new Map(
    delta.files_added.map((file) => {
      const load = async () => {
        const answer = await readIntact(store, file.name)
        if (answer.kind === 'absent') {
          throw missing(`${file.name} is gone, though revision ${delta.sequence} names it. Read the pointer again.`)
        }
        return rowsByKey(file.table, await files.decode(file.table, answer.bytes, file))
      }
      return [file.table, { row_count: file.rows, load: loadedOnce(load) }]
    }),
  )
}

const namesOfCheckpoints = new WeakMap<Checkpoint, FoldedNames>()
const namesOfSnapshots = new WeakMap<object, FoldedNames>()

/** Segments folded at this revision that a listing from its last closed minute may still show. Made once for each snapshot, from
 *  what its checkpoint has. */
export function openSegmentNames(snapshot: Pick<Snapshot, 'revision' | 'checkpoint' | 'deltas'>): FoldedNames {
  const known = namesOfSnapshots.get(snapshot)
  if (known !== undefined) return known
  const { revision, checkpoint, deltas } = snapshot
  const below = namesOfCheckpoints.get(checkpoint) ?? withNames(NO_NAMES, checkpoint.open_segments)
  namesOfCheckpoints.set(checkpoint, below)
  const names = stillOpen(withNames(below, segmentsOf(deltas)), revision)
  namesOfSnapshots.set(snapshot, names)
  return names
}

export function* segmentsOf(deltas: readonly Revision[]): Generator<string> {
  for (const { segments } of deltas) for (const { name } of segments) yield name
}

/** Forgets the names that no listing from this revision's last closed minute will show again. */
export const stillOpen = (names: FoldedNames, { watermarks }: Revision): FoldedNames =>
  namesAfter(names, instantMs(watermarks.closed_through))

export const partsOf = (snapshot: Snapshot, table: TableName): readonly Part[] => snapshot.checkpoint.tables.get(table) ?? []

/** The files that a revision added to a table, as parts of level 0. */
export const freshParts = (delta: Revision, table: TableName): Part[] =>
  delta.files_added.filter((file) => file.table === table).map((file) => freshPart(file, {}))

/** Every file above the cold parts that has rows of the table at this revision. They overlap: of a key the highest
 *  row_version counts. */
export const filesAbove = (snapshot: Snapshot, table: TableName): readonly Part[] => [
  ...partsOf(snapshot, table),
  ...snapshot.deltas.flatMap((delta) => freshParts(delta, table)),
]

/** Rows that only memory holds until the next base merge: what makes a merge due besides the number of deltas. */
export const overlaySize = (snapshot: Snapshot): number => overlayRowCount(snapshot.overlay)

/** Our own publish needs no reading: the rows are at hand. */
export function snapshotAfterPublish(
  before: Snapshot | undefined,
  revision: Revision,
  checkpoint: Checkpoint,
  changed: ChangedRows,
): Snapshot {
  const isOwnCheckpoint = checkpoint.sequence === revision.sequence
  if (isOwnCheckpoint) return { revision, checkpoint, deltas: [], overlay: EMPTY_OVERLAY }
  assert(before !== undefined, 'A revision without a checkpoint of its own needs one before it.')
  return {
    revision,
    checkpoint,
    deltas: [...before.deltas, revision],
    overlay: overlayWith(before.overlay, revision.sequence, changed),
  }
}

/** A preview of the revision after this one: for readers alone, and never the ground of another snapshot. */
export function previewOf(
  { revision, checkpoint, deltas, overlay }: Snapshot,
  changed: ChangedRows,
  { fold_time, retention, ...unpublished }: Omit<Unpublished, 'tables'> & Pick<Revision, 'retention'> & { readonly fold_time: number },
): Snapshot {
  return {
    revision: { ...revision, retention, fold_time: instantText(fold_time) },
    checkpoint,
    deltas,
    overlay: overlayOfPreview(overlay, revision.sequence + 1, changed),
    unpublished: { ...unpublished, tables: new Set(changed.keys()) },
  }
}
