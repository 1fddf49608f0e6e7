// Folds what revisions recorded once more, from the first event or from a checkpoint on, into tables of its own, which lie as those of a workspace
// do. It takes every stamp and every rule from the record, goes on where it ended, and writes nothing to the live workspace.

import { readRevisions } from '../compactor/chain.js'
import { mergeBase } from '../compactor/merge.js'
import { openRecorded } from '../compactor/packs/recorded.js'
import { publish } from '../compactor/publish.js'
import { assert } from '../core/errors.js'
import { FOLD_VERSION, MERGE_DUE_ROWS } from '../core/limits.js'
import { type Clock, instantMs } from '../core/time.js'
import type { RandomBytes } from '../core/ulid.js'
import { NO_NAMES } from '../tables/folded-names.js'
import { createFilterCache } from '../tables/lookup.js'
import type { Pointer, Revision } from '../tables/revision.js'
import { chainPageRevisions, openSnapshot, overlaySize, readPointer, type Snapshot, type TableStore } from '../tables/snapshot.js'
import { asRecorded, foldSegments } from './fold-segments.js'
import { pendingAfter } from './pass.js'
import { EMPTY_WORKSPACE, lookupIn, type Workspace } from './workspace.js'

export type RefoldDeps = {
  readonly live: TableStore
  /** Empty, used by nobody else, and thrown away afterwards. */
  readonly scratch: TableStore
  readonly scope: { readonly tenant_id: string; readonly workspace_id: string }
  readonly clock: Clock
  readonly random: RandomBytes
  /** Another than this version's own is for tests of a rollout. */
  readonly fold_version?: number
}

export type Refold = {
  /** Up to this pointer, from where the call before it ended; the tables are then those of its revision. */
  readonly through: (pointer: Pointer, onRevision?: (sequence: number) => void) => Promise<Snapshot>
  /** All that was folded so far in one sorted run a table. */
  readonly mergeWhole: () => Promise<Snapshot>
}

/** Rows folded between two publishes into the tables: bounds the memory of a history of any length. */
const PUBLISH_ROWS = 30_000

/** What a refold goes on from. */
export type RefoldStart = { readonly workspace: Workspace; readonly revision: Revision }

/** From the first event on, unless it is given something to go on from. */
export function createRefold(deps: RefoldDeps, start?: RefoldStart): Refold {
  const { live, scratch, scope } = deps
  const filters = createFilterCache(scratch)
  let workspace = start?.workspace ?? EMPTY_WORKSPACE()
  let before: Revision | undefined = start?.revision

  async function fold(revision: Revision, read: readonly Uint8Array[]): Promise<void> {
    const { retention_defaults, listing_window_ms } = revision
    const retention = retention_defaults ?? revision.retention
    const stored = asRecorded(revision.segments, read)
    const foldDeps = { store: live.store, scope, retention, listing_window_ms }
    await foldSegments(foldDeps, workspace.rows, lookupIn(scratch, filters, workspace), pendingAfter(before), stored)
    workspace.rows.stamp(revision.sequence)
    before = revision
  }

  return {
    async through(pointer, onRevision) {
      const readRecorded = openRecorded(live.store, await chainPageRevisions(live.store, pointer))
      for await (const revision of readRevisions(live.store, pointer, before)) {
        await fold(revision, await readRecorded(revision))
        const isLast = revision.sequence === pointer.sequence
        if (isLast || workspace.rows.dirtyCount() >= PUBLISH_ROWS) workspace = await publishScratch(deps, workspace, revision)
        onRevision?.(revision.sequence)
      }
      return snapshotOf(workspace)
    },
    async mergeWhole() {
      workspace = await merged(deps, workspace, true)
      return snapshotOf(workspace)
    },
  }
}

function snapshotOf({ snapshot }: Workspace): Snapshot {
  assert(snapshot, 'Nothing was folded again.')
  return snapshot
}

const scratchOf = ({ scratch, clock, random }: RefoldDeps) => ({ ...scratch, clock, random })

/** The tables are published under the recorded sequence, so that row versions and overlay agree. */
async function publishScratch(deps: RefoldDeps, workspace: Workspace, revision: Revision): Promise<Workspace> {
  const { rows } = workspace
  const answer = await publish(scratchOf(deps), {
    sequence: revision.sequence,
    fold_version: deps.fold_version ?? FOLD_VERSION,
    base: workspace.published,
    snapshot: workspace.snapshot,
    changed: rows.dirtyRows(),
    segments: [],
    fold_time: Date.parse(revision.fold_time),
    turn_id: revision.turn_id,
    published_at: instantMs(revision.published_at),
    retention: revision.retention,
    listing_window_ms: revision.listing_window_ms,
    watermarks: revision.watermarks,
    counts: revision.counts,
    applied_total: revision.applied_total,
    set_sum: revision.set_sum,
    with_checkpoint: workspace.snapshot === undefined,
    open_segments: NO_NAMES,
    abort_after: Number.POSITIVE_INFINITY,
  })
  assert(answer.kind === 'published', 'Somebody else published into the tables of a refold.')
  rows.settle()
  const after = { ...workspace, published: answer.published, snapshot: answer.snapshot }
  return overlaySize(answer.snapshot) >= MERGE_DUE_ROWS ? merged(deps, after, false) : after
}

async function merged(deps: RefoldDeps, workspace: Workspace, whole: boolean): Promise<Workspace> {
  await mergeBase(scratchOf(deps), { is_scratch: true, whole })
  const { published } = await readPointer(deps.scratch.store)
  assert(published, 'The tables of a refold have lost their pointer.')
  return { ...workspace, published, snapshot: await openSnapshot(deps.scratch, published.pointer, workspace.snapshot) }
}
