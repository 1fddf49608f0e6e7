// Folds stored segments into the working set, and keeps the account of what became of every event. It publishes nothing.

import { stampMs } from '../core/time.js'
import { readSegment, type SegmentHead } from '../ledger/read.js'
import { type ParsedSegment, segmentObjectName } from '../ledger/segment.js'
import { addToSetSum } from '../ledger/set-sum.js'
import { countEntries, parseStored } from '../ledger/stored-segment.js'
import { foldBatch } from '../projections/fold.js'
import { type Hints, hintsOf } from '../projections/hint.js'
import type { EventOutcome } from '../projections/outcome.js'
import type { RetentionPolicy } from '../projections/retention.js'
import type { WorkingSet } from '../projections/working-set.js'
import { manyAtOnce } from '../storage/many-at-once.js'
import type { ObjectStore } from '../storage/object-store.js'
import type { FoldedSegment, OutcomeCounts } from '../tables/revision.js'
import { isLoaded, type Lookup, loadRows } from './load.js'
import { type Traces, withTrace } from './trace.js'

/** What was folded since the last publish. */
export type Pending = {
  readonly segments: FoldedSegment[]
  counts: OutcomeCounts
  fold_time: number
  set_sum: bigint
  max_event_id: string | null
  has_dispatch: boolean
  /** Of those who said what was folded, where they are traced. */
  traces: Traces
  /** `clock.elapsed()` of the first fold; null: nothing is pending. */
  first_folded_at: number | null
}

export type FoldDeps = {
  readonly store: ObjectStore
  readonly scope: { readonly tenant_id: string; readonly workspace_id: string }
  readonly retention: RetentionPolicy
  /** A segment created later than its minute plus this was never acknowledged, and is quarantined (LEDGER section 7). */
  readonly listing_window_ms: number
}

export type StoredSegment = { readonly head: SegmentHead; readonly bytes: Uint8Array }

const READS_AT_ONCE = 16

export const readSegments = (store: ObjectStore, heads: readonly SegmentHead[]): Promise<StoredSegment[]> =>
  manyAtOnce(heads, READS_AT_ONCE, async (head) => ({ head, bytes: await readSegment(store, head.name, head.crc32c) }))

/** Segments as a revision recorded them, with their bytes: whoever folds them again goes by the record. */
export const asRecorded = (segments: readonly FoldedSegment[], read: readonly Uint8Array[]): StoredSegment[] =>
  segments.map((segment, at) => ({ head: headOf(segment), bytes: read[at] as Uint8Array }))

const headOf = ({ name, creation_time, generation, crc32c, count }: FoldedSegment): SegmentHead => ({
  name: segmentObjectName(name),
  segment_name: name,
  creation_time,
  generation,
  crc32c,
  size: 0,
  meta: { count: String(count) },
})

export async function foldSegments(
  deps: FoldDeps,
  rows: WorkingSet,
  lookup: Lookup,
  pending: Pending,
  stored: readonly StoredSegment[],
): Promise<void> {
  const parsed = stored.map(({ head, bytes }) => {
    const segment = parseStored(head, bytes, deps.scope, deps.listing_window_ms)
    return { head, segment, created_at: stampMs(head.creation_time) }
  })
  const batches = parsed.flatMap(({ head, segment, created_at }) => segment.batches.map((batch) => ({ head, created_at, batch })))
  const hints = hintsOf(batches.flatMap(({ batch }) => batch.entries))
  await loadAhead(deps, rows, lookup, batches.slice(), hints)
  for (const [index, { head, created_at, batch }] of batches.entries()) {
    // Folding an earlier batch may have made rows that lead to further keys: load again for all that is left.
    if (!batch.entries.every((entry) => isLoaded(rows, entry, hints))) await loadAhead(deps, rows, lookup, batches.slice(index), hints)
    pending.fold_time = Math.max(pending.fold_time, created_at)
    const outcomes = foldBatch(batch.entries, rows, {
      fold_time: pending.fold_time,
      segment_name: head.segment_name,
      batch_index: batch.batch_index,
      batch_id: batch.batch_id,
      retention: deps.retention,
    })
    account(pending, batch.entries, outcomes)
  }
  for (const { head, segment } of parsed) note(pending, head, segment)
}

async function loadAhead(
  { store }: FoldDeps,
  rows: WorkingSet,
  lookup: Lookup,
  batches: readonly { readonly batch: { readonly entries: ParsedSegment['batches'][number]['entries'] } }[],
  hints: Hints,
): Promise<void> {
  const entries = batches.flatMap(({ batch }) => batch.entries)
  await loadRows({ store, lookup }, rows, entries, hints)
}

function account(pending: Pending, entries: ParsedSegment['batches'][number]['entries'], outcomes: readonly EventOutcome[]): void {
  for (const [index, outcome] of outcomes.entries()) {
    pending.counts[outcome.kind] += 1
    const entry = entries[index]
    if (entry?.kind !== 'event') continue
    const { event } = entry
    if (event.traceparent !== undefined) pending.traces = withTrace(pending.traces, event.traceparent)
    if (pending.max_event_id === null || event.event_id > pending.max_event_id) pending.max_event_id = event.event_id
    if (event.event_type === 'DispatchRequested' && outcome.kind === 'applied') pending.has_dispatch = true
  }
}

function note(pending: Pending, head: SegmentHead, segment: ParsedSegment): void {
  pending.set_sum = addToSetSum(pending.set_sum, head.segment_name, head.crc32c)
  const count = countEntries(segment)
  const { segment_name, creation_time, generation, crc32c } = head
  pending.segments.push({ name: segment_name, creation_time, generation, crc32c, count })
}
