// How far the tables are behind the ledger, for scrapes of the metrics, which come every few seconds from several servers. The
// ledger is listed once a minute at most, and of a workspace that has nothing to do the pointer is not read in between either.

import { GAUGES_LISTING_EVERY_MS } from '../core/limits.js'
import { type Clock, instantMs } from '../core/time.js'
import { isAmong } from '../tables/folded-names.js'
import { wholeListingAfter } from '../tables/listed-after.js'
import { openSegmentNames } from '../tables/snapshot.js'
import { listUnfolded } from './fresh.js'
import { type OldestUnfolded, oldestOf } from './oldest-unfolded.js'
import type { Reader, View } from './reader.js'
import { turnOverdue } from './turn-overdue.js'

export type Gauges = {
  readonly sequence: number
  readonly lag_ms: number
  readonly turn_overdue_ms: number
  readonly unfolded_segments: number
  readonly unfolded_events: number
}

export type GaugeDeps = {
  readonly reader: Reader
  readonly clock: Pick<Clock, 'elapsed'>
  /** The store's time. */
  readonly now: () => number
  /** What a listing finds is shared with the probes. */
  readonly unfolded: Pick<OldestUnfolded, 'note'>
}

type Listed = { readonly view: View | undefined; readonly segments: Awaited<ReturnType<typeof listUnfolded>>; readonly listed_at: number }

/** Segments that were appended since the last listing are missing, for a minute at most. */
export function createGauges({ reader, clock, now, unfolded }: GaugeDeps): () => Promise<Gauges> {
  let known: Listed | undefined

  async function look(): Promise<Listed> {
    const listed_at = clock.elapsed()
    if (known !== undefined && listed_at - known.listed_at < GAUGES_LISTING_EVERY_MS) {
      return isIdle(known, now()) ? known : withoutFolded(known, await reader.latest())
    }
    const view = await reader.latest()
    // All open minutes: what was never acknowledged is unfolded as well.
    const segments = await listUnfolded(reader, view, view === undefined ? 0 : wholeListingAfter(view.snapshot.revision.watermarks))
    unfolded.note(view?.sequence ?? 0, oldestOf(segments))
    return { view, segments, listed_at }
  }

  return async () => {
    known = await look()
    return gaugesOf(known, now())
  }
}

/** Nothing waits for a turn, and none has published for as long as a listing is used. */
function isIdle({ view, segments }: Listed, now: number): boolean {
  if (view === undefined || segments.length > 0) return false
  const { published_at } = view.snapshot.revision
  return now - instantMs(published_at) >= GAUGES_LISTING_EVERY_MS && turnOverdue(view, null, now) === undefined
}

function withoutFolded({ segments, listed_at }: Listed, view: View | undefined): Listed {
  if (view === undefined) return { view, segments, listed_at }
  const folded = openSegmentNames(view.snapshot)
  return { view, segments: segments.filter(({ segment_name }) => !isAmong(folded, segment_name)), listed_at }
}

function gaugesOf({ view, segments }: Listed, now: number): Gauges {
  const oldest_at = oldestOf(segments)
  return {
    sequence: view?.sequence ?? 0,
    lag_ms: oldest_at === null ? 0 : Math.max(0, now - oldest_at),
    turn_overdue_ms: view === undefined ? 0 : (turnOverdue(view, oldest_at, now)?.overdue_ms ?? 0),
    unfolded_segments: segments.length,
    unfolded_events: segments.reduce((sum, { meta }) => sum + Number(meta['count'] ?? 1), 0),
  }
}
