// The unpublished tail of the ledger, folded in memory over the newest revision, for readers that ask for what is fresh. It
// publishes nothing and asks no controller: what it shows is a preview, and what a later revision says stands.

import { isOperatingError } from '../core/errors.js'
import {
  FOLD_VERSION,
  FRESH_FOLD_AGE_MS_MAX,
  FRESH_FOLD_EVENTS_MAX,
  FRESH_FOLD_MS_MAX,
  FRESH_FOLD_SLICE_EVENTS,
  HOT_STATE_CHECK_INTERVAL_MS,
} from '../core/limits.js'
import { type Clock, compareStamps, stampMs } from '../core/time.js'
import type { SegmentHead } from '../ledger/read.js'
import { retentionIn } from '../projections/retention-settings.js'
import type { Tail, TailAnswer } from '../readers/fresh.js'
import { listedAfter } from '../readers/fresh.js'
import type { Reader, View } from '../readers/reader.js'
import { shared } from '../readers/shared.js'
import { isAmong, NO_NAMES } from '../tables/folded-names.js'
import { createFilterCache } from '../tables/lookup.js'
import { forgetReplaced } from '../tables/replaced.js'
import { openSegmentNames, previewOf, type Snapshot, type TableStore } from '../tables/snapshot.js'
import { type FoldDeps, foldSegments, type Pending, readSegments } from './fold-segments.js'
import { findDrift } from './hot-state.js'
import { listNewSegments } from './order.js'
import { pendingAfter, takeSlice } from './pass.js'
import { followSnapshot, lookupIn, NO_STANDING, type Standing } from './workspace.js'

export type FreshTailDeps = TableStore &
  FoldDeps & {
    readonly reader: Pick<Reader, 'latest' | 'viewOf'>
    readonly clock: Clock
    /** The store's time, as far as this process knows it. */
    readonly now: () => number
    readonly log?: (message: string) => void
  }

/** What was folded over the revision that the memory stands on, in fold order. */
type Folded = { readonly heads: SegmentHead[]; readonly pending: Pending; view: View | undefined }

const NOTHING_MISSING: ReadonlySet<string> = new Set()

/** One for a process: it holds the hot rows, and what it has folded is folded for all who ask until it is published. */
export function createFreshTail(deps: FreshTailDeps): Tail {
  const { store, reader, clock } = deps
  const filters = createFilterCache(deps)
  let standing: Standing = NO_STANDING()
  let folded: Folded = foldedOver(undefined)
  let fold_count = 0
  let checked_at = clock.elapsed()

  async function read(): Promise<TailAnswer> {
    const view = await reader.latest()
    const known = view === undefined ? NO_NAMES : openSegmentNames(view.snapshot)
    const unfolded = await listNewSegments(store, listedAfter(view), (name) => isAmong(known, name))
    if (unfolded.length === 0) return { view, missing: NOTHING_MISSING }
    const preview = view !== undefined && isWithinBounds(view, unfolded) ? await foldInTime(view.snapshot, unfolded) : undefined
    if (preview !== undefined) return { view: preview, missing: NOTHING_MISSING }
    return { view, missing: new Set(unfolded.map(({ segment_name }) => segment_name)) }
  }

  function isWithinBounds({ snapshot }: View, unfolded: readonly SegmentHead[]): boolean {
    // Another version folds otherwise: what it will publish is not for this one to say.
    if (snapshot.revision.fold_version !== FOLD_VERSION) return false
    const oldest = Math.min(...unfolded.map(({ creation_time }) => stampMs(creation_time)))
    return countEvents(unfolded) <= FRESH_FOLD_EVENTS_MAX && deps.now() - oldest <= FRESH_FOLD_AGE_MS_MAX
  }

  /** One after the other, each for as long as somebody waits for it. */
  let previous: Promise<unknown> = Promise.resolve()

  /** undefined: the time was up, or the store did not answer. What is folded by then is folded for whoever asks next. */
  function foldInTime(snapshot: Snapshot, unfolded: readonly SegmentHead[]): Promise<View | undefined> {
    const started = clock.elapsed()
    const isTimeUp = () => clock.elapsed() - started >= FRESH_FOLD_MS_MAX
    const folding = previous.then(() => foldUntil(isTimeUp, snapshot, unfolded))
    previous = folding.catch(() => undefined)
    // Hot rows are loaded to their end, whoever still waits.
    const isOver = new AbortController()
    const late = clock.sleep(FRESH_FOLD_MS_MAX, isOver.signal).then(() => undefined)
    return Promise.race([folding, late]).finally(() => isOver.abort())
  }

  async function foldUntil(isTimeUp: () => boolean, snapshot: Snapshot, unfolded: readonly SegmentHead[]): Promise<View | undefined> {
    if (isTimeUp()) return undefined
    try {
      await standOn(snapshot)
      const queue = nextOf(unfolded)
      while (queue.length > 0) {
        if (isTimeUp()) return undefined
        folded.view = undefined
        const slice = takeSlice({ queue }, FRESH_FOLD_SLICE_EVENTS)
        await foldSegments(deps, standing.rows, lookupIn(deps, filters, standing), folded.pending, await readSegments(store, slice))
        folded.heads.push(...slice)
      }
      folded.view ??= viewOfFolded(snapshot)
      return folded.view
    } catch (error) {
      // What is half folded is nothing. The turn meets the same trouble, and says what it is.
      standing = NO_STANDING()
      folded = foldedOver(undefined)
      if (isOperatingError(error)) return undefined
      throw error
    }
  }

  async function standOn(snapshot: Snapshot): Promise<void> {
    if (standing.snapshot?.revision.revision === snapshot.revision.revision) return
    const before = standing.snapshot
    standing.rows.discard()
    standing = await followSnapshot(deps, standing, snapshot)
    forgetReplaced({ ...deps, filters }, before, snapshot)
    folded = foldedOver(snapshot)
    if (clock.elapsed() - checked_at >= HOT_STATE_CHECK_INTERVAL_MS) await checkRows(snapshot)
  }

  /** While nothing is folded over them: as the turn does it. */
  async function checkRows(snapshot: Snapshot): Promise<void> {
    checked_at = clock.elapsed()
    const drift = await findDrift(deps, snapshot, standing.rows)
    if (drift === undefined) return
    deps.log?.(drift.line)
    standing = { ...standing, rows: drift.loaded }
  }

  /** What is still to be folded. What comes late and belongs further to the front makes it begin again: the turn folds in order. */
  function nextOf(unfolded: readonly SegmentHead[]): SegmentHead[] {
    const names = new Set(folded.heads.map(({ segment_name }) => segment_name))
    const queue = unfolded.filter(({ segment_name }) => !names.has(segment_name))
    const [last, first] = [folded.heads.at(-1), queue[0]]
    if (last === undefined || first === undefined || isBefore(last, first)) return queue
    standing.rows.discard()
    folded = foldedOver(standing.snapshot)
    return [...unfolded]
  }

  function viewOfFolded(snapshot: Snapshot): View {
    const { rows } = standing
    rows.stamp(snapshot.revision.sequence + 1)
    fold_count += 1
    const { heads, pending } = folded
    const segments = heads.map(({ segment_name }) => segment_name)
    const preview = {
      id: `unpublished ${fold_count}`,
      segments,
      fold_time: pending.fold_time,
      retention: retentionIn(rows, deps.retention),
    }
    return reader.viewOf(previewOf(snapshot, rows.dirtyRows(), preview))
  }

  return { read: shared(read) }
}

const foldedOver = (snapshot: Snapshot | undefined): Folded => ({ heads: [], pending: pendingAfter(snapshot?.revision), view: undefined })

const countEvents = (heads: readonly SegmentHead[]): number => heads.reduce((sum, { meta }) => sum + Number(meta['count'] ?? 1), 0)

const isBefore = (left: SegmentHead, right: SegmentHead): boolean => {
  const order = compareStamps(left.creation_time, right.creation_time)
  return order < 0 || (order === 0 && left.segment_name < right.segment_name)
}
