// Folds the whole ledger again in the order that revisions recorded, into tables of its own, and compares them with the
// live ones row for row. It takes every stamp and every rule from the record, and writes nothing to the live workspace.

import { readRevisions } from '../compactor/chain.js'
import { compareTables, DIFFERENCES_MAX, type Difference } from '../compactor/compare.js'
import { mergeBase } from '../compactor/merge.js'
import { openRecorded } from '../compactor/packs/recorded.js'
import { publish } from '../compactor/publish.js'
import { canonicalJson } from '../core/canonical.js'
import { assert, missing } from '../core/errors.js'
import { FOLD_VERSION, MERGE_DUE_ROWS } from '../core/limits.js'
import { type Clock, instantMs } from '../core/time.js'
import type { RandomBytes } from '../core/ulid.js'
import { RETENTION_SETTINGS } from '../events/retention.js'
import type { SegmentHead } from '../ledger/read.js'
import { segmentObjectName } from '../ledger/segment.js'
import { setSumText } from '../ledger/set-sum.js'
import { isExpirySetting, type RetentionPolicy } from '../projections/retention.js'
import { retentionIn } from '../projections/retention-settings.js'
import { createFilterCache } from '../tables/lookup.js'
import type { FoldedSegment, Revision } from '../tables/revision.js'
import { chainPageRevisions, openSnapshot, overlaySize, readPointer, type TableStore } from '../tables/snapshot.js'
import { foldSegments, type Pending } from './fold-segments.js'
import { pendingAfter } from './pass.js'
import { EMPTY_WORKSPACE, lookupIn, type Workspace } from './workspace.js'

type ReplayDeps = {
  readonly live: TableStore
  /** Empty, used by nobody else, and thrown away afterwards. */
  readonly scratch: TableStore
  readonly scope: { readonly tenant_id: string; readonly workspace_id: string }
  readonly clock: Clock
  readonly random: RandomBytes
}

type ReplayAnswer = {
  readonly from: 'genesis'
  readonly sequence: number
  readonly revision_count: number
  readonly segment_count: number
  readonly event_count: number
  readonly row_count: number
  readonly differences: readonly Difference[]
}

/** Rows folded between two publishes into the scratch tables: bounds the memory of a replay of any length. */
const SCRATCH_PUBLISH_ROWS = 30_000

export async function replay(deps: ReplayDeps): Promise<ReplayAnswer> {
  const { published } = await readPointer(deps.live.store)
  if (published === undefined) throw missing(`${deps.live.store.label} has no revision yet: run \`servo ledger compact\` first.`)
  const { pointer } = published
  const differences: Difference[] = []
  const filters = createFilterCache(deps.scratch)
  const readRecorded = openRecorded(deps.live.store, await chainPageRevisions(deps.live.store, pointer))
  let workspace = EMPTY_WORKSPACE()
  let before: Revision | undefined
  const totals = { revision_count: 0, segment_count: 0, event_count: 0 }
  for await (const revision of readRevisions(deps.live.store, pointer)) {
    const pending = pendingAfter(before)
    const retention = revision.retention_defaults ?? revision.retention
    const foldDeps = { ...deps.live, scope: deps.scope, retention, listing_window_ms: revision.listing_window_ms }
    const read = await readRecorded(revision)
    const stored = revision.segments.map((segment, at) => ({ head: headOf(segment), bytes: read[at] as Uint8Array }))
    await foldSegments(foldDeps, workspace.rows, lookupIn(deps.scratch, filters, workspace), pending, stored)
    workspace.rows.stamp(revision.sequence)
    if (differences.length < DIFFERENCES_MAX) differences.push(...compareRecord(revision, pending, workspace, retention))
    totals.revision_count += 1
    totals.segment_count += revision.segments.length
    totals.event_count += revision.segments.reduce((sum, { count }) => sum + count, 0)
    const isLast = revision.sequence === pointer.sequence
    if (isLast || workspace.rows.dirtyCount() >= SCRATCH_PUBLISH_ROWS) workspace = await publishScratch(deps, workspace, revision)
    before = revision
  }
  const compared = await compareTables(deps.live, await openSnapshot(deps.live, pointer), deps.scratch, await openScratch(deps))
  return {
    from: 'genesis',
    sequence: pointer.sequence,
    ...totals,
    row_count: compared.row_count,
    differences: [...differences, ...compared.differences],
  }
}

const headOf = ({ name, creation_time, generation, crc32c, count }: FoldedSegment): SegmentHead => ({
  name: segmentObjectName(name),
  segment_name: name,
  creation_time,
  generation,
  crc32c,
  size: 0,
  meta: { count: String(count) },
})

/** What the revision says of itself, against what the replay found at the same place. */
function compareRecord(revision: Revision, pending: Pending, { rows }: Workspace, defaults: RetentionPolicy): Difference[] {
  const live = {
    ...revision.counts,
    applied_total: revision.applied_total,
    set_sum: revision.set_sum,
    retention: foldedText(revision.retention),
  }
  const replayed = {
    ...pending.counts,
    applied_total: rows.appliedTotal(),
    set_sum: setSumText(pending.set_sum),
    retention: foldedText(retentionIn(rows, defaults)),
  }
  const columns = Object.keys(live).filter((name) => live[name as keyof typeof live] !== replayed[name as keyof typeof live])
  if (columns.length === 0) return []
  return [{ table: 'revisions', key: [revision.sequence], columns, live, replayed }]
}

/** Which older revisions were let go is a matter of when this one was published, and no fold's. */
function foldedText({ gone_before = {}, ...settings }: RetentionPolicy): string {
  const folded = RETENTION_SETTINGS.filter(isExpirySetting).map((setting) => gone_before[setting] ?? null)
  return canonicalJson({ ...settings, folded })
}

/** The scratch tables are published under the recorded sequence, so that row versions and overlay agree. */
async function publishScratch(deps: ReplayDeps, workspace: Workspace, revision: Revision): Promise<Workspace> {
  const { rows } = workspace
  const scratch = { ...deps.scratch, clock: deps.clock, random: deps.random }
  const answer = await publish(scratch, {
    sequence: revision.sequence,
    fold_version: FOLD_VERSION,
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
    open_segments: [],
    abort_after: Number.POSITIVE_INFINITY,
  })
  assert(answer.kind === 'published', 'Somebody else published into the scratch tables of a replay.')
  rows.settle()
  const isMergeDue = overlaySize(answer.snapshot) >= MERGE_DUE_ROWS
  if (!isMergeDue) return { ...workspace, published: answer.published, snapshot: answer.snapshot }
  await mergeBase(scratch, { is_scratch: true })
  const { published } = await readPointer(scratch.store)
  assert(published, 'The scratch tables have lost their pointer.')
  return { ...workspace, published, snapshot: await openSnapshot(deps.scratch, published.pointer, answer.snapshot) }
}

async function openScratch({ scratch }: ReplayDeps) {
  const { published } = await readPointer(scratch.store)
  assert(published, 'A replay has published nothing.')
  return openSnapshot(scratch, published.pointer)
}
