// Publishes tables that were made anew beside the live ones: their files are copied first, and the checkpoint of a revision of its
// own comes by the swap of everybody. It folds nothing.

import { missing, unavailable } from '../core/errors.js'
import { type Clock, instantText } from '../core/time.js'
import { newUlid, type RandomBytes } from '../core/ulid.js'
import { TABLE_NAMES, type TableName } from '../projections/tables.js'
import { CREATE } from '../storage/object-store.js'
import { readIntact } from '../storage/read-intact.js'
import { writeOnce } from '../storage/write-once.js'
import { listOf } from '../tables/folded-names.js'
import {
  type Checkpoint,
  checkpointName,
  encodeCheckpoint,
  encodePointer,
  encodeRevision,
  type Part,
  POINTER_NAME,
  type Revision,
  revisionName,
} from '../tables/revision.js'
import { filesAbove, openSegmentNames, openSnapshot, type PublishedPointer, type Snapshot, type TableStore } from '../tables/snapshot.js'
import { notBefore, pointerTo } from './publish.js'
import { filesOfCheckpoint } from './reach.js'
import { swapPointer } from './swap.js'

type RebuiltDeps = {
  readonly live: TableStore
  readonly scratch: TableStore
  readonly clock: Clock
  readonly random: RandomBytes
  readonly fold_version: number
}

/** Parts of the base and cold ones, with their filters and lists, and what was folded since they were merged. */
export async function copyRebuilt({ live, scratch, clock }: RebuiltDeps, snapshot: Snapshot, copied: Set<string>): Promise<void> {
  const fresh = TABLE_NAMES.flatMap((table) => filesAbove(snapshot, table)).map(({ name }) => name)
  for (const file of new Set([...(await filesOfCheckpoint(scratch.store, snapshot.checkpoint)), ...fresh])) {
    if (copied.has(file)) continue
    const answer = await readIntact(scratch.store, file)
    if (answer.kind === 'absent') throw missing(`${file} is gone from ${scratch.store.label}. Rebuild again.`)
    await writeOnce({ store: live.store, clock }, file, answer.bytes)
    copied.add(file)
  }
}

/** undefined: somebody else has published. */
export async function publishRebuilt(
  deps: RebuiltDeps,
  base: PublishedPointer & { readonly server_time: number },
  rebuilt: Snapshot,
  abort_after: number,
): Promise<number | undefined> {
  const { live, clock, random, fold_version } = deps
  const { store } = live
  const { pointer, server_time } = base
  const before = await openSnapshot(live, pointer)
  const revision_id = newUlid(clock.now(), random)
  const sequence = pointer.sequence + 1
  const tables = new Map<TableName, readonly Part[]>()
  for (const table of TABLE_NAMES) {
    const files = filesAbove(rebuilt, table)
    if (files.length > 0) tables.set(table, files)
  }
  const checkpoint: Checkpoint = {
    schema: 'servo-checkpoint-v1',
    name: newUlid(clock.now(), random),
    // Its own: whoever has rows of the revision before it in memory loads them afresh.
    sequence,
    revision: revision_id,
    fold_version,
    tables,
    cold: rebuilt.checkpoint.cold,
    cold_through: rebuilt.checkpoint.cold_through,
    open_segments: listOf(openSegmentNames(before)),
    folded_since: sequence,
  }
  const revision: Revision = {
    ...before.revision,
    revision: revision_id,
    sequence,
    previous: pointer.revision,
    checkpoint: checkpoint.name,
    fold_version,
    turn_id: newUlid(clock.now(), random),
    published_at: instantText(notBefore(pointer, server_time)),
    segments: [],
    files_added: [],
    files_removed: TABLE_NAMES.flatMap((table) => filesAbove(before, table)).map(({ name }) => name),
    counts: { applied: 0, duplicate: 0, refused: 0, quarantined: 0 },
  }
  await writeOnce({ store, clock }, checkpointName(checkpoint.name), encodeCheckpoint(checkpoint))
  await writeOnce({ store, clock }, revisionName(sequence, revision_id), encodeRevision(revision))
  if (clock.elapsed() > abort_after) {
    throw unavailable('The rebuild took longer than its deadline and was not published: collection may take its files. Rebuild again.')
  }
  const swapped = await swapPointer({ store, clock }, pointerTo(revision, checkpoint, pointer), base)
  return swapped.kind === 'lost' ? undefined : sequence
}

/** A checkpoint of the live tables in empty ones, as if it had been published there. */
export async function copyCheckpoint(
  { live, scratch }: Pick<RebuiltDeps, 'live' | 'scratch'>,
  checkpoint: Checkpoint,
  revision: Revision,
): Promise<void> {
  const put = async (name: string, bytes: Uint8Array) => void (await scratch.store.put(name, bytes, { if_generation: CREATE }))
  for (const file of await filesOfCheckpoint(live.store, checkpoint)) {
    const answer = await readIntact(live.store, file)
    if (answer.kind === 'absent') throw missing(`${file} was collected meanwhile. Replay again.`)
    await put(file, answer.bytes)
  }
  await put(checkpointName(checkpoint.name), encodeCheckpoint(checkpoint))
  await put(revisionName(revision.sequence, revision.revision), encodeRevision(revision))
  await put(POINTER_NAME, encodePointer(pointerTo(revision, checkpoint, undefined)))
}
