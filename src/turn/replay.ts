// Folds the whole ledger again in the order that revisions recorded, keeps the rows for itself, and compares them with the
// live ones row for row. It takes every stamp and every rule from the record, and writes nothing to the live workspace.

import { readRevisions } from '../compactor/chain.js'
import { type Compared, DIFFERENCES_MAX, type Difference } from '../compactor/compare.js'
import { openRecorded } from '../compactor/packs/recorded.js'
import { canonicalJson } from '../core/canonical.js'
import { RETENTION_SETTINGS } from '../events/retention.js'
import { setSumText } from '../ledger/set-sum.js'
import { isExpirySetting, type RetentionPolicy } from '../projections/retention.js'
import { retentionIn } from '../projections/retention-settings.js'
import { type ChangedRows, rowsByKey, TABLE_NAMES, type TableName } from '../projections/tables.js'
import { createWorkingSet, type WorkingSet } from '../projections/working-set.js'
import type { Pointer, Revision } from '../tables/revision.js'
import { chainPageRevisions, type TableStore } from '../tables/snapshot.js'
import { asRecorded, foldSegments, type Pending, type StoredSegment } from './fold-segments.js'
import { pendingAfter } from './pass.js'
import { type CompareBeside, compareKept } from './replayed/compare-kept.js'
import { createDoneRows } from './replayed/done-rows.js'
import { readNewest, throughNewest } from './through-newest.js'

type ReplayDeps = {
  readonly live: TableStore
  readonly scope: { readonly tenant_id: string; readonly workspace_id: string }
  /** Where a file may be made for the rows that memory does not hold. */
  readonly scratch_folder: string
  /** Where half of the tables are compared, if there are many rows; absent: here, after the others. */
  readonly beside?: CompareBeside
  /** Rows that changed, or events that were folded, until what is done leaves memory, and bytes until it goes into the file;
   *  less than usual is for tests. */
  readonly held?: { readonly rows: number; readonly bytes: number }
}

type ReplayAnswer = Compared & {
  readonly from: 'genesis'
  readonly sequence: number
  readonly revision_count: number
  readonly segment_count: number
  readonly event_count: number
}

/** Bounds the memory of a replay of any length, together with the rows that are hot. */
const HELD_ROWS_MAX = 30_000
/** What is parsed at a time is garbage soon: a seventh less to collect than with the 4,000 of a turn (measured). */
const SLICE_EVENTS_MAX = 500

export async function replay(deps: ReplayDeps): Promise<ReplayAnswer> {
  const { store } = deps.live
  const differences: Difference[] = []
  const totals = { revision_count: 0, segment_count: 0, event_count: 0 }
  const done = createDoneRows(deps.scratch_folder, deps.held?.bytes)
  const rows = createWorkingSet(0)
  let before: Revision | undefined
  let held_events = 0

  async function foldThrough(pointer: Pointer): Promise<void> {
    const readRecorded = openRecorded(store, await chainPageRevisions(store, pointer))
    for await (const revision of readRevisions(store, pointer, before)) {
      const pending = pendingAfter(before)
      // The fold knows what was set since; how long rows are kept by it the revision says.
      const retention = revision.retention_defaults ?? revision.retention
      const read = await readRecorded(revision)
      const stored = asRecorded(revision.segments, read)
      const foldDeps = { ...deps.live, scope: deps.scope, retention, listing_window_ms: revision.listing_window_ms }
      for (const slice of slicesOf(stored)) await foldSegments(foldDeps, rows, done.lookup, pending, slice)
      rows.stamp(revision.sequence)
      if (differences.length < DIFFERENCES_MAX) differences.push(...compareRecord(revision, pending, rows, retention))
      const event_count = revision.segments.reduce((sum, { count }) => sum + count, 0)
      totals.revision_count += 1
      totals.segment_count += revision.segments.length
      totals.event_count += event_count
      // An event that changes no row has had its keys looked up.
      held_events += event_count
      if (Math.max(rows.dirtyCount(), held_events) >= (deps.held?.rows ?? HELD_ROWS_MAX)) {
        done.add(rows.leavingRows(), pending.fold_time, revision.retention)
        rows.settle()
        held_events = 0
      }
      before = revision
    }
  }

  try {
    const { pointer } = await throughNewest(() => readNewest(store), foldThrough)
    const compared = await compareKept(deps.live, pointer, done.finish(heldRows(rows)), deps.beside)
    return { from: 'genesis', sequence: pointer.sequence, ...totals, ...compared, differences: [...differences, ...compared.differences] }
  } finally {
    done.close()
  }
}

/** What the working set alone has. */
function heldRows(rows: WorkingSet): ChangedRows {
  const leaving = rows.leavingRows()
  const held = (table: TableName) => new Map([...(leaving.get(table) ?? []), ...rowsByKey(table, rows.hotRows(table))])
  return new Map(TABLE_NAMES.map((table) => [table, held(table)]))
}

/** Segments that are folded together. */
function* slicesOf(stored: readonly StoredSegment[]): Generator<readonly StoredSegment[]> {
  let slice: StoredSegment[] = []
  let events = 0
  for (const segment of stored) {
    const count = Number(segment.head.meta['count'])
    if (slice.length > 0 && events + count > SLICE_EVENTS_MAX) {
      yield slice
      slice = []
      events = 0
    }
    slice.push(segment)
    events += count
  }
  if (slice.length > 0) yield slice
}

/** What the revision says of itself, against what the replay found at the same place. */
function compareRecord(revision: Revision, pending: Pending, rows: WorkingSet, defaults: RetentionPolicy): Difference[] {
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
