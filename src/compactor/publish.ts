// Publishes one revision: table files first, then the revision, the pointer last. A crash before the swap leaves files
// that nobody points at, which collection removes by age; a crash after it leaves nothing to do.

import { assert, unavailable } from '../core/errors.js'
import { crc32cHex } from '../core/hash.js'
import { type Clock, floorTo, instantMs, instantText } from '../core/time.js'
import { newUlid, type RandomBytes } from '../core/ulid.js'
import type { RetentionPolicy } from '../projections/retention.js'
import { type ChangedRows, type LooseRow, sortedRows, type TableName, tableNamed } from '../projections/tables.js'
import type { ObjectStore } from '../storage/object-store.js'
import { writeOnce } from '../storage/write-once.js'
import { type FoldedNames, listOf } from '../tables/folded-names.js'
import { lettingGo } from '../tables/history/kept.js'
import {
  type Checkpoint,
  checkpointName,
  encodeCheckpoint,
  encodeRevision,
  type FoldedSegment,
  freshPart,
  l0Name,
  type OutcomeCounts,
  type Part,
  type Pointer,
  type Revision,
  revisionName,
  type Watermarks,
} from '../tables/revision.js'
import { type PublishedPointer, type Snapshot, snapshotAfterPublish } from '../tables/snapshot.js'
import type { TableFiles } from '../tables/table-files.js'
import { type SwapOutcome, swapPointer } from './swap.js'

export type PublishDeps = {
  readonly store: ObjectStore
  readonly files: TableFiles
  readonly clock: Clock
  readonly random: RandomBytes
}

/** What a turn folded and wants to be seen. */
type Publication = {
  readonly sequence: number
  readonly fold_version: number
  readonly base: PublishedPointer | undefined
  readonly snapshot: Snapshot | undefined
  readonly changed: ChangedRows
  readonly segments: readonly FoldedSegment[]
  readonly fold_time: number
  readonly turn_id: string
  /** By the store's clock, never by this machine's: `as_of` and collection go by it. */
  readonly published_at: number
  readonly retention: RetentionPolicy
  /** What holds where nobody set anything, for the replay; absent: `retention` is that. */
  readonly retention_defaults?: RetentionPolicy | undefined
  readonly listing_window_ms: number
  readonly watermarks: Watermarks
  readonly counts: OutcomeCounts
  readonly applied_total: number
  readonly set_sum: string
  /** The first revision of a workspace or of a fold version brings a checkpoint of its own. */
  readonly with_checkpoint: boolean
  /** Of what is folded, this revision with it. */
  readonly open_segments: FoldedNames
  /** `clock.elapsed()` past which this must not be published any more: collection may have taken its files. */
  readonly abort_after: number
}

type Published =
  | { readonly kind: 'published'; readonly published: PublishedPointer; readonly snapshot: Snapshot; readonly bytes_written: number }
  | { readonly kind: 'superseded' | 'lost' }

type AddedFile = Revision['files_added'][number]
type WrittenFile = { readonly added: AddedFile; readonly times: Part['times'] }

export async function publish(deps: PublishDeps, publication: Publication): Promise<Published> {
  const { clock, random } = deps
  const revision_id = newUlid(clock.now(), random)
  const written = await writeTableFiles(deps, revision_id, publication.changed)
  const checkpoint = publication.with_checkpoint ? ownCheckpoint(deps, publication, revision_id, written) : publication.snapshot?.checkpoint
  assert(checkpoint, 'A revision has a checkpoint below it.')
  const revision = describe(publication, revision_id, checkpoint, written)
  const revisionBytes = encodeRevision(revision)
  if (publication.with_checkpoint) await writeOnce(deps, checkpointName(checkpoint.name), encodeCheckpoint(checkpoint))
  await writeOnce(deps, revisionName(publication.sequence, revision_id), revisionBytes)
  if (clock.elapsed() > publication.abort_after) {
    throw unavailable('The turn took longer than its deadline and was not published: collection may take its files. It starts again.')
  }
  const swapped: SwapOutcome = await swapPointer(deps, pointerTo(revision, checkpoint, publication.base?.pointer), publication.base)
  if (swapped.kind !== 'won') return { kind: swapped.kind }
  const bytes_written = written.reduce((sum, { added }) => sum + added.bytes, revisionBytes.byteLength)
  return {
    kind: 'published',
    published: swapped.published,
    snapshot: snapshotAfterPublish(publication.snapshot, revision, checkpoint, publication.changed),
    bytes_written,
  }
}

const writeTableFiles = (deps: PublishDeps, revision_id: string, changed: ChangedRows): Promise<WrittenFile[]> =>
  Promise.all(
    [...changed].map(async ([table, rows]) => {
      const sorted = sortedRows(table, rows)
      const encoded = await deps.files.encode(table, sorted)
      const name = l0Name(revision_id, table, deps.files.extension)
      const { bytes, min_key, max_key, times } = encoded
      await writeOnce(deps, name, bytes)
      const added = {
        table,
        name,
        rows: encoded.rows,
        bytes: bytes.byteLength,
        crc32c: crc32cHex(bytes),
        min_key: [...min_key],
        max_key: [...max_key],
        ...periodsOf(table, sorted),
      }
      return { added, times }
    }),
  )

function periodsOf(table: TableName, rows: readonly LooseRow[]): { readonly periods?: string[] } {
  const { period } = tableNamed(table)
  if (period === undefined) return {}
  const periods = new Set(rows.map((row) => floorTo(row[period.column] as number, period.unit_ms)))
  return { periods: [...periods].sort((left, right) => left - right).map(instantText) }
}

function ownCheckpoint(deps: PublishDeps, publication: Publication, revision_id: string, written: readonly WrittenFile[]): Checkpoint {
  const { snapshot } = publication
  const tables = new Map<TableName, Part[]>()
  for (const [table, parts] of snapshot?.checkpoint.tables ?? []) tables.set(table, [...parts])
  const addAtLevelZero = (table: TableName, file: AddedFile, times: Part['times']) => {
    tables.set(table, [...(tables.get(table) ?? []), freshPart(file, times)])
  }
  for (const delta of snapshot?.deltas ?? []) for (const file of delta.files_added) addAtLevelZero(file.table, file, {})
  for (const { added, times } of written) addAtLevelZero(added.table, added, times)
  return {
    schema: 'servo-checkpoint-v1',
    name: newUlid(deps.clock.now(), deps.random),
    sequence: publication.sequence,
    revision: revision_id,
    fold_version: publication.fold_version,
    tables,
    cold: snapshot?.checkpoint.cold ?? new Map(),
    cold_through: snapshot?.checkpoint.cold_through ?? null,
    open_segments: listOf(publication.open_segments),
    folded_since: publication.sequence,
  }
}

function describe(publication: Publication, revision_id: string, checkpoint: Checkpoint, written: readonly WrittenFile[]): Revision {
  const { sequence, fold_version, turn_id, segments, listing_window_ms, watermarks, counts, applied_total, set_sum } = publication
  const { retention, retention_defaults } = publication
  const published_at = notBefore(publication.base?.pointer, publication.published_at)
  return {
    schema: 'servo-revision-v1',
    revision: revision_id,
    sequence,
    previous: publication.base?.pointer.revision ?? null,
    checkpoint: checkpoint.name,
    fold_version,
    fold_time: instantText(publication.fold_time),
    turn_id,
    published_at: instantText(published_at),
    segments: [...segments],
    files_added: written.map(({ added }) => added),
    files_removed: [],
    retention: lettingGo(publication.snapshot?.revision.retention, retention, published_at),
    ...(retention_defaults === undefined || retention_defaults === retention ? {} : { retention_defaults }),
    listing_window_ms,
    watermarks,
    counts,
    applied_total,
    set_sum,
  }
}

/** Instants never go back along the chain, whatever the store's clock does: whoever looks for one goes by that. */
export const notBefore = (base: Pick<Pointer, 'published_at'> | undefined, published_at: number): number =>
  base === undefined ? published_at : Math.max(published_at, instantMs(base.published_at))

export function pointerTo(revision: Revision, checkpoint: Checkpoint, before: Pointer | undefined, chain_through?: number): Pointer {
  const own = { sequence: revision.sequence, revision: revision.revision }
  const after = (before?.deltas ?? []).filter(({ sequence }) => sequence > checkpoint.sequence)
  return {
    schema: 'servo-pointer-v1',
    revision: revision.revision,
    sequence: revision.sequence,
    fold_version: revision.fold_version,
    published_at: revision.published_at,
    checkpoint: { name: checkpoint.name, sequence: checkpoint.sequence },
    deltas: checkpoint.sequence === revision.sequence ? [] : [...after, own],
    chain_through: chain_through ?? before?.chain_through ?? 0,
  }
}
