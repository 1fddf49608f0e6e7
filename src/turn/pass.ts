// The state of one turn while it runs: its time, what it still has to fold, and what it folded and has not published.

import { CLOSED_MINUTE_SLACK_MS, FOLD_VERSION, SLICE_EVENTS_MAX } from '../core/limits.js'
import { type Clock, floorTo, instantMs, MINUTE_MS, stampMs } from '../core/time.js'
import { newUlid, type RandomBytes, ulidTime } from '../core/ulid.js'
import type { Appender } from '../ledger/append.js'
import type { SegmentHead } from '../ledger/read.js'
import { EMPTY_SET_SUM, setSumFrom } from '../ledger/set-sum.js'
import { recentListingAfter, wholeListingAfter } from '../tables/listed-after.js'
import type { OutcomeCounts, Revision } from '../tables/revision.js'
import type { TableStore } from '../tables/snapshot.js'
import type { Tracing } from '../telemetry/tracing.js'
import type { FoldDeps, Pending } from './fold-segments.js'
import type { Unheard } from './outage.js'
import { publishIntervalMs } from './publish-pace.js'
import type { Reconcile } from './reconcile.js'
import { NO_TRACES } from './trace.js'
import type { ChangedEntities, Mended, TurnWatch } from './watch.js'
import type { Workspace } from './workspace.js'

export type TurnDeps = TableStore &
  FoldDeps & {
    readonly clock: Clock
    readonly random: RandomBytes
    readonly appender: Appender
    readonly reconcile: Reconcile
    /** Told of every publish at once, before the turn goes on: what it hands over has to be copied within the call, and
     *  nothing of it is waited for. */
    readonly onPublish?: (workspace: Workspace, changed: ChangedEntities) => void
    readonly watch?: TurnWatch
    readonly tracing?: Tracing | undefined
    /** Whether workers can speak, as far as this process knows. */
    readonly unheard?: () => Unheard | undefined
    /** Another than this version's own is for tests of a rollout. */
    readonly fold_version?: number
    /** With other than DELTAS_TURN_MERGES deltas: for tests of what a turn does then. */
    readonly turn_merges_at?: number
    readonly log?: (message: string) => void
  }

export type Pass = {
  readonly turn_id: string
  /** The server's time of the pointer read. */
  readonly server_time: number
  /** T0: the same in whole milliseconds. It is taken before the listing, and the store's clock had passed it by then. */
  readonly now: number
  readonly started: number
  /** All open minutes, or those in which something may still be acknowledged. */
  readonly listing: Listing
  /** Where the listing begins. */
  readonly listed_after: number
  /** The last minute that a published revision closed. */
  readonly closed_through: number
  /** The instant at which all open minutes were listed, now or by a turn before, and nothing is left of what they showed. */
  readonly whole_at: number
  queue: SegmentHead[]
  pending: Pending
  /** How old the oldest thing was that this turn found unfolded: what workers were told meanwhile was as old. */
  lag_ms: number
  /** How long turns of this process had not reached the store before this one. */
  readonly outage_ms: number
  /** Workers cannot speak, or could not until a moment ago, or nobody knows whether they could: how long a hold for it may
   *  last; 0: they can. */
  readonly unheard_hold_ms: number
  /** No deadline is acted on before it. */
  hold_until: number | null
  more: boolean
  published_count: number
  reconcile_count: number
  /** What it found that nobody had come for. */
  readonly mended: Map<Mended, number>
  readonly counts: { -readonly [K in keyof OutcomeCounts]: number }
}

/** What the process remembers of the turns before this one. */
type Remembered = Pick<Pass, 'outage_ms' | 'unheard_hold_ms' | 'listing'> & {
  /** T0 of the last turn of this process that listed all open minutes and folded all of it. */
  readonly whole_at: number
}

type Listing = 'whole' | 'recent'

export function beginPass(deps: TurnDeps, workspace: Workspace, server_time: number, remembered: Remembered): Pass {
  const revision = workspace.snapshot?.revision
  return {
    turn_id: newUlid(deps.clock.now(), deps.random),
    server_time,
    now: Math.floor(server_time),
    started: deps.clock.elapsed(),
    listed_after: revision === undefined ? 0 : LISTED_AFTER[remembered.listing](revision.watermarks),
    closed_through: revision === undefined ? 0 : instantMs(revision.watermarks.closed_through),
    queue: [],
    pending: pendingAfter(revision),
    lag_ms: 0,
    ...remembered,
    whole_at: remembered.listing === 'whole' ? Math.floor(server_time) : remembered.whole_at,
    hold_until: null,
    more: false,
    published_count: 0,
    reconcile_count: 0,
    mended: new Map(),
    counts: { applied: 0, duplicate: 0, refused: 0, quarantined: 0 },
  }
}

const LISTED_AFTER = { whole: wholeListingAfter, recent: recentListingAfter }

/** Nothing is pending: the sums stand where the revision left them. */
export function pendingAfter(revision: Revision | undefined): Pending {
  return {
    segments: [],
    counts: { applied: 0, duplicate: 0, refused: 0, quarantined: 0 },
    fold_time: revision === undefined ? 0 : Date.parse(revision.fold_time),
    set_sum: revision === undefined ? EMPTY_SET_SUM : setSumFrom(revision.set_sum),
    max_event_id: revision?.watermarks.max_event_id_seen ?? null,
    has_dispatch: false,
    traces: NO_TRACES,
    first_folded_at: null,
  }
}

/** At T0: what has come since is not judged by this turn. */
export function lagOf({ now, queue }: Pick<Pass, 'now' | 'queue'>): number {
  return queue.reduce((lag, { creation_time }) => Math.max(lag, now - stampMs(creation_time)), 0)
}

/** As many segments from the front of the queue as are folded before anything else is looked at. */
export function takeSlice({ queue }: Pick<Pass, 'queue'>, events_max = SLICE_EVENTS_MAX): SegmentHead[] {
  let events = 0
  let count = 0
  for (const { meta } of queue) {
    events += Number(meta['count'] ?? 1)
    if (count > 0 && events > events_max) break
    count += 1
  }
  return queue.splice(0, count)
}

/** The last minute whose end was five minutes past when it was listed, but none that still has a segment to fold, and never back. */
export function closedThrough(pass: Pass): number {
  const byTime = floorTo(pass.whole_at - CLOSED_MINUTE_SLACK_MS, MINUTE_MS) - MINUTE_MS
  const beforeUnread = pass.queue.reduce(
    (earliest, { segment_name }) => Math.min(earliest, floorTo(ulidTime(segment_name), MINUTE_MS) - MINUTE_MS),
    byTime,
  )
  return Math.max(pass.closed_through, beforeUnread)
}

/** Everything acknowledged before this is in the revision: T0, unless something that was listed is still to be folded. */
export function processedThrough(pass: Pass, before: Revision | undefined): number {
  const claimed = before === undefined ? 0 : instantMs(before.watermarks.last_processed_at)
  const oldestUnread = pass.queue.reduce((oldest, { creation_time }) => Math.min(oldest, stampMs(creation_time)), Number.POSITIVE_INFINITY)
  return Math.max(claimed, Math.min(pass.now, oldestUnread))
}

export const foldVersionOf = (deps: TurnDeps): number => deps.fold_version ?? FOLD_VERSION

export function notePublish(pass: Pass): void {
  pass.published_count += 1
  const { counts } = pass.pending
  pass.counts.applied += counts.applied
  pass.counts.duplicate += counts.duplicate
  pass.counts.refused += counts.refused
  pass.counts.quarantined += counts.quarantined
}

/** Waits before a turn reads anything, so that it is ready when its store takes the next publish: what is acknowledged meanwhile is in
 *  the same revision, and so are the decisions that follow from it. `ready_ms`: how long a turn works until it can publish. */
export async function waitToBegin({ store, clock }: TurnDeps, last_publish_at: number, ready_ms: number): Promise<void> {
  const rest = last_publish_at + store.same_name_interval_ms - ready_ms - clock.elapsed()
  if (rest > 0) await clock.sleep(rest)
}

/** Stores that admit one write a name and second get no more; and publishing slows down while merges do not keep up. */
export async function waitForPointer({ store, clock }: TurnDeps, last_publish_at: number, delta_count: number): Promise<void> {
  const interval_ms = Math.max(store.same_name_interval_ms, publishIntervalMs(delta_count))
  const rest = last_publish_at + interval_ms - clock.elapsed()
  if (rest > 0) await clock.sleep(rest)
}
