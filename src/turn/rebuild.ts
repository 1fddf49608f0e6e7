// Makes the tables anew: folds all that was recorded with the fold of this version, and publishes the result as a checkpoint,
// by the same swap as everybody else. Turns go on meanwhile; what they publish is folded too, until nobody was faster.

import { compareTables, type Difference } from '../compactor/compare.js'
import { notBefore, pointerTo } from '../compactor/publish.js'
import { refuseNewerFold, swapPointer } from '../compactor/swap.js'
import { conflict, missing, unavailable } from '../core/errors.js'
import { FOLD_VERSION, MERGE_DEADLINE_MS } from '../core/limits.js'
import { instantText } from '../core/time.js'
import { newUlid } from '../core/ulid.js'
import type { TableName } from '../projections/tables.js'
import { TABLE_NAMES } from '../projections/tables.js'
import { readIntact } from '../storage/read-intact.js'
import { writeOnce } from '../storage/write-once.js'
import {
  type Checkpoint,
  checkpointName,
  encodeCheckpoint,
  encodeRevision,
  type Part,
  type Revision,
  revisionName,
} from '../tables/revision.js'
import { filesAt, openSegmentNames, openSnapshot, type PublishedPointer, readPointer, type Snapshot } from '../tables/snapshot.js'
import { createRefold, type RefoldDeps } from './refold.js'

export type RebuildRequest = {
  /** Nothing is written: what would change is only said. */
  readonly is_dry?: boolean
  readonly say?: (line: string) => void
}

export type RebuildAnswer = {
  /** The revision that the tables were rebuilt at. */
  readonly sequence: number
  readonly row_count: number
  /** The first rows that are other ones now, or would be. */
  readonly differences: readonly Difference[]
  /** The revision that was published; undefined: nothing was. */
  readonly published_sequence?: number
}

/** Each folds what was published during the one before it: with a second between two publishes a few are enough. */
const ROUNDS_MAX = 100
const SAY_EVERY = 1_000

export async function rebuild(deps: RefoldDeps, { is_dry = false, say }: RebuildRequest = {}): Promise<RebuildAnswer> {
  const { live, scratch } = deps
  const first = await current(deps)
  const refold = createRefold(deps)
  const note = (sequence: number) => {
    if (sequence % SAY_EVERY === 0) say?.(`Folded revision ${sequence} of ${first.pointer.sequence}.`)
  }
  const rebuilt = await refold.through(first.pointer, note)
  const compared = await compareTables(live, await openSnapshot(live, first.pointer), scratch, rebuilt)
  const { row_count, differences } = compared
  if (is_dry) return { sequence: first.pointer.sequence, row_count, differences }
  let snapshot = await refold.mergeWhole()
  const began = deps.clock.elapsed()
  const copied = new Set<string>()
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const base = await current(deps)
    if (base.pointer.sequence > snapshot.revision.sequence) snapshot = await refold.through(base.pointer)
    await copyFiles(deps, snapshot, copied)
    const published_sequence = await publishCheckpoint(deps, base, snapshot, began + MERGE_DEADLINE_MS)
    if (published_sequence !== undefined) return { sequence: base.pointer.sequence, row_count, differences, published_sequence }
    say?.('Something was published meanwhile: folding it too.')
  }
  throw conflict(
    `Somebody else published first, ${ROUNDS_MAX} times in a row. The tables are as they were: stop the automation, or try again.`,
  )
}

async function current({ live, fold_version = FOLD_VERSION }: RefoldDeps): Promise<PublishedPointer & { readonly server_time: number }> {
  const { published, server_time } = await readPointer(live.store)
  if (published === undefined) throw missing(`${live.store.label} has no revision yet, so there is nothing to rebuild.`)
  refuseNewerFold(published.pointer, fold_version)
  return { ...published, server_time }
}

/** Parts of the base with their filters, and what was folded since they were merged. */
async function copyFiles({ live, scratch, clock }: RefoldDeps, snapshot: Snapshot, copied: Set<string>): Promise<void> {
  for (const { name, filter } of TABLE_NAMES.flatMap((table) => filesAt(snapshot, table))) {
    for (const file of filter === null ? [name] : [name, filter]) {
      if (copied.has(file)) continue
      const answer = await readIntact(scratch.store, file)
      if (answer.kind === 'absent') throw missing(`${file} is gone from ${scratch.store.label}. Rebuild again.`)
      await writeOnce({ store: live.store, clock }, file, answer.bytes)
      copied.add(file)
    }
  }
}

/** undefined: somebody else has published. */
async function publishCheckpoint(
  deps: RefoldDeps,
  base: PublishedPointer & { readonly server_time: number },
  rebuilt: Snapshot,
  abort_after: number,
): Promise<number | undefined> {
  const { live, clock, random, fold_version = FOLD_VERSION } = deps
  const { store } = live
  const { pointer, server_time } = base
  const before = await openSnapshot(live, pointer)
  const revision_id = newUlid(clock.now(), random)
  const sequence = pointer.sequence + 1
  const tables = new Map<TableName, readonly Part[]>()
  for (const table of TABLE_NAMES) {
    const files = filesAt(rebuilt, table)
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
    open_segments: [...openSegmentNames(before)],
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
    files_removed: TABLE_NAMES.flatMap((table) => filesAt(before, table)).map(({ name }) => name),
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
