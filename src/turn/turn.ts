// One turn of a workspace: fold what is new, ask every controller, append their answers, fold the stored bytes of them,
// until quiet; then publish once. It never hands work over, merges only where nobody else does for long, and never trusts its
// memory of what it sent.

import { publish } from '../compactor/publish.js'
import { refuseLostPointer, refuseNewerFold } from '../compactor/swap.js'
import { conflict } from '../core/errors.js'
import {
  HOT_STATE_CHECK_INTERVAL_MS,
  MERGE_DUE_DELTAS,
  MERGE_DUE_ROWS,
  PUBLISH_AFTER_MS,
  TURN_DEADLINE_MS,
  TURN_GAP_HOLD_MS_MAX,
  TURN_MS_MAX,
  WHOLE_LISTING_EVERY_MS,
} from '../core/limits.js'
import { instantMs, instantText } from '../core/time.js'
import type { SegmentHead } from '../ledger/read.js'
import { setSumText } from '../ledger/set-sum.js'
import { retentionIn } from '../projections/retention-settings.js'
import { isAmong, withNames } from '../tables/folded-names.js'
import { createFilterCache } from '../tables/lookup.js'
import { forgetReplaced } from '../tables/replaced.js'
import type { OutcomeCounts } from '../tables/revision.js'
import { overlaySize, readPointer, stillOpen } from '../tables/snapshot.js'
import { decide } from './decide.js'
import { foldSegments, readSegments } from './fold-segments.js'
import { endedRunIn, findDrift } from './hot-state.js'
import { isRoomScarce, makeRoom } from './make-room.js'
import { noteWaiting } from './mended.js'
import { findMissed, listNewSegments } from './order.js'
import { createOutages, unheardHoldMs } from './outage.js'
import {
  beginPass,
  closedThrough,
  foldVersionOf,
  lagOf,
  notePublish,
  type Pass,
  pendingAfter,
  processedThrough,
  type TurnDeps,
  takeSlice,
  waitForPointer,
  waitToBegin,
} from './pass.js'
import { traceCompaction } from './trace.js'
import { changedEntities, reportOf } from './watch.js'
import { EMPTY_WORKSPACE, followPointer, lookupIn, type Workspace } from './workspace.js'

export type TurnRequest = {
  /** Segments that a full listing of the window found and no revision names. */
  readonly missed?: readonly string[]
}

export type TurnAnswer = {
  /** The revision that stands when the turn ends; 0 only where another fold version keeps this one from starting. */
  readonly sequence: number
  /** T0: what was acknowledged before it is in this revision, unless `more`. */
  readonly processed_at: number
  /** The store's time when the turn ends. */
  readonly ended_at: number
  readonly published_count: number
  readonly counts: OutcomeCounts
  readonly more: boolean
  readonly merge_due: boolean
  /** Milliseconds after T0 at which something is due; null: nothing is. */
  readonly wake_in_ms: number | null
}

export type Turn = {
  readonly run: (request?: TurnRequest) => Promise<TurnAnswer>
  /** Brings the memory to the newest revision and does nothing else, so that a turn here has the last few deltas to read where
   *  another process has taken the turns so far. Whether there was a newer one. */
  readonly follow: () => Promise<boolean>
  /** What this process stands on: for readers in the same process, and for tests. */
  readonly workspace: () => Workspace
}

/** A turn that loses this many races in a row lets the winners work, and comes again. */
const LOST_RACES_MAX = 3

export function createTurn(deps: TurnDeps): Turn {
  let workspace = EMPTY_WORKSPACE()
  const filters = createFilterCache(deps)
  let last_publish_at = Number.NEGATIVE_INFINITY
  /** How long the last turn that published had worked when it could; 0: not known, so that a turn begins late rather than twice. */
  let ready_ms = 0
  let checked_at = deps.clock.elapsed()
  /** Also after an error, which forgets the workspace. */
  let has_seen_pointer = false
  /** When this process has listed all open minutes and folded what it found, by its own clock and by the store's. */
  let whole: Whole | undefined
  const outages = createOutages()

  async function follow(): Promise<number> {
    const { published, server_time } = await readPointer(deps.store)
    if (published === undefined) {
      await refuseLostPointer(deps.store, has_seen_pointer)
      return server_time
    }
    has_seen_pointer = true
    refuseNewerFold(published.pointer, foldVersionOf(deps))
    const before = workspace.snapshot
    workspace = await followPointer(deps, workspace, published)
    forgetReplaced({ ...deps, filters }, before, workspace.snapshot)
    if (deps.clock.elapsed() - checked_at >= HOT_STATE_CHECK_INTERVAL_MS) await checkHotState()
    return server_time
  }

  async function checkHotState(): Promise<void> {
    checked_at = deps.clock.elapsed()
    const { snapshot, rows } = workspace
    const drift = snapshot === undefined ? undefined : await findDrift(deps, snapshot, rows)
    if (drift === undefined) return
    deps.log?.(drift.line)
    deps.watch?.onMended('hot_state', 1)
    workspace = { ...workspace, rows: drift.loaded }
  }

  /** false: another turn won; everything folded since the last publish is dropped and will be folded again. */
  async function publishPending(pass: Pass): Promise<boolean> {
    const { published: base, snapshot, rows } = workspace
    const sequence = (base?.pointer.sequence ?? 0) + 1
    const fold_version = foldVersionOf(deps)
    rows.stamp(sequence)
    const changed = changedEntities(rows)
    const closed_through = closedThrough(pass)
    const { pending } = pass
    const wake_at = wakeAt(deps, workspace, pass)
    const folded = withNames(
      workspace.folded,
      pending.segments.map(({ name }) => name),
    )
    const answer = await publish(deps, {
      sequence,
      fold_version,
      base,
      snapshot,
      changed: rows.dirtyRows(),
      segments: pending.segments,
      fold_time: pending.fold_time,
      turn_id: pass.turn_id,
      published_at: publishedAt(deps, pass),
      retention: retentionIn(rows, deps.retention),
      retention_defaults: deps.retention,
      listing_window_ms: deps.listing_window_ms,
      watermarks: {
        last_processed_at: instantText(processedThrough(pass, snapshot?.revision)),
        closed_through: instantText(closed_through),
        events_processed_through: instantText(closed_through),
        max_event_id_seen: pending.max_event_id,
        wake_at: wake_at === null ? null : instantText(wake_at),
        hold_until: pass.hold_until === null ? null : instantText(pass.hold_until),
      },
      counts: { ...pending.counts },
      applied_total: rows.appliedTotal(),
      set_sum: setSumText(pending.set_sum),
      with_checkpoint: base === undefined || base.pointer.fold_version < fold_version,
      open_segments: folded,
      abort_after: pass.started + TURN_DEADLINE_MS,
    })
    if (answer.kind !== 'published') {
      deps.watch?.onLost()
      return false
    }
    deps.watch?.onPublished(reportOf(rows, pending, answer.snapshot))
    traceCompaction(deps, pending, { 'servo.sequence': sequence, 'servo.turn_id': pass.turn_id, 'servo.rounds': pass.reconcile_count })
    rows.settle()
    workspace = { published: answer.published, snapshot: answer.snapshot, rows, folded: stillOpen(folded, answer.snapshot.revision) }
    has_seen_pointer = true
    notePublish(pass)
    last_publish_at = deps.clock.elapsed()
    pass.pending = pendingAfter(answer.snapshot.revision)
    deps.onPublish?.(workspace, changed)
    return true
  }

  const isPublishDue = (pass: Pass, isLast: boolean): boolean => {
    if (pass.pending.first_folded_at === null) return isLast && (needsFirstPublish() || isNewHold(pass) || isWakePassed(pass))
    if (isLast || pass.pending.has_dispatch) return true
    return deps.clock.elapsed() - pass.pending.first_folded_at >= PUBLISH_AFTER_MS
  }

  /** A hold is given once, so it has to be on record. */
  const isNewHold = ({ hold_until }: Pass): boolean =>
    hold_until !== null && workspace.snapshot?.revision.watermarks.hold_until !== instantText(hold_until)

  /** A recorded wake-up that passed and found nothing to do, such as a retry without room, is replaced by the next one: readers take
   *  one that stays in the past for a sign that no automation is alive. */
  const isWakePassed = (pass: Pass): boolean => {
    const recorded = workspace.snapshot?.revision.watermarks.wake_at ?? null
    if (recorded === null || instantMs(recorded) > pass.now) return false
    return wakeAt(deps, workspace, pass) !== instantMs(recorded)
  }

  /** A workspace without a pointer, or of an older fold version, gets a checkpoint at once, idle or not. */
  const needsFirstPublish = (): boolean => {
    const pointer = workspace.published?.pointer
    return pointer === undefined || pointer.fold_version < foldVersionOf(deps)
  }

  async function attempt(request: TurnRequest): Promise<Pass | 'lost'> {
    await waitToBegin(deps, last_publish_at, ready_ms)
    const server_time = await followWithRoom()
    const revision = workspace.snapshot?.revision
    const outage_ms = outages.before(revision, server_time, deps.clock.elapsed())
    const isBlind = outages.isBlind(revision, server_time)
    const unheard_hold_ms = isBlind ? TURN_GAP_HOLD_MS_MAX : unheardHoldMs(deps.unheard?.(), workspace.rows, server_time)
    const listing = isLately(whole, deps.clock.elapsed(), server_time) ? 'recent' : 'whole'
    const pass = beginPass(deps, workspace, server_time, { outage_ms, unheard_hold_ms, listing, whole_at: whole?.at ?? 0 })
    pass.queue = await listQueue(request, pass)
    pass.lag_ms = lagOf(pass)
    for (;;) {
      const lookup = lookupIn(deps, filters, workspace)
      const endedRun = endedRunIn(deps, filters, workspace.snapshot)
      if (pass.queue.length > 0) {
        pass.pending.first_folded_at ??= deps.clock.elapsed()
        await foldSegments(deps, workspace.rows, lookup, pass.pending, await readSegments(deps.store, takeSlice(pass)))
      }
      // Controllers are asked when everything listed is folded: what they would say may lie further back in the queue, and
      // no deadline is judged while the answer to it may be there.
      const spoken = pass.queue.length === 0 ? await decide(deps, workspace, pass, { lookup, endedRun }) : 'quiet'
      const isTimeUp = deps.clock.elapsed() - pass.started >= TURN_MS_MAX
      const isDone = pass.queue.length === 0 && spoken === 'quiet'
      const isLast = isTimeUp || isDone || spoken === 'cut_off'
      if (isPublishDue(pass, isLast)) {
        if (pass.published_count === 0) ready_ms = deps.clock.elapsed() - pass.started
        await waitForPointer(deps, last_publish_at, workspace.snapshot?.deltas.length ?? 0)
        if (!(await publishPending(pass))) return 'lost'
      }
      if (isLast) {
        pass.more = !isDone
        whole = wholeAfter(whole, pass)
        return pass
      }
    }
  }

  async function followWithRoom(): Promise<number> {
    const server_time = await follow()
    if (!isRoomScarce(deps, workspace)) return server_time
    await makeRoom(deps, workspace)
    return follow()
  }

  async function listQueue({ missed = [] }: TurnRequest, pass: Pass): Promise<SegmentHead[]> {
    const isFolded = (name: string) => isAmong(workspace.folded, name)
    const late = workspace.published === undefined ? [] : await findMissed(deps.store, workspace.published.pointer, missed)
    const listed = await listNewSegments(deps.store, pass.listed_after, isFolded)
    const names = new Set(listed.map(({ segment_name }) => segment_name))
    const late_only = late.filter(({ segment_name }) => !names.has(segment_name))
    noteWaiting(pass, workspace, { late_only, listed })
    return [...late_only, ...listed]
  }

  /** undefined: it failed. */
  function noteEnd(pass: Pass | undefined, began: number): void {
    const { watch } = deps
    if (watch === undefined) return
    for (const [kind, count] of pass?.mended ?? []) watch.onMended(kind, count)
    const outcome = pass === undefined ? 'failed' : pass.published_count > 0 ? 'published' : 'quiet'
    watch.onEnded({ outcome, duration_ms: deps.clock.elapsed() - began, rounds: pass?.reconcile_count ?? 0 })
  }

  async function runAlone(request: TurnRequest): Promise<TurnAnswer> {
    const began = deps.clock.elapsed()
    for (let races = 0; races < LOST_RACES_MAX; races++) {
      try {
        const pass = await attempt(request)
        if (pass !== 'lost') {
          outages.reached()
          noteEnd(pass, began)
          return answerOf(deps, pass, workspace, wakeAt(deps, workspace, pass))
        }
        workspace.rows.discard()
      } catch (error) {
        // Whatever was folded and not published is as if it had never been read; the ledger still has it.
        workspace = EMPTY_WORKSPACE()
        outages.failed(error, began)
        noteEnd(undefined, began)
        throw error
      }
    }
    noteEnd(undefined, began)
    throw conflict(`Another turn of this workspace published first, ${LOST_RACES_MAX} times in a row. Nothing is lost: ask again.`)
  }

  /** What is followed is taken in whole or not at all: where it fails, the memory stands where it stood. */
  async function followAlone(): Promise<boolean> {
    const held = workspace.published?.pointer.revision
    await follow()
    return workspace.published?.pointer.revision !== held
  }

  /** One after the other, however many ask at once: two in one memory would fold the same segments twice. */
  let previous: Promise<unknown> = Promise.resolve()
  function alone<T>(work: () => Promise<T>): Promise<T> {
    const answer = previous.then(work)
    previous = answer.catch(() => undefined)
    return answer
  }

  return { run: (request = {}) => alone(() => runAlone(request)), follow: () => alone(followAlone), workspace: () => workspace }
}

type Whole = { readonly listed_at: number; readonly at: number }

/** By both clocks: a process that was suspended counts nothing meanwhile, and a store's clock may be set back. */
const isLately = (whole: Whole | undefined, elapsed: number, server_time: number): boolean =>
  whole !== undefined && Math.max(elapsed - whole.listed_at, server_time - whole.at) < WHOLE_LISTING_EVERY_MS

/** Where a turn has left something, the next one lists all. */
function wholeAfter(before: Whole | undefined, { listing, queue, started, now }: Pass): Whole | undefined {
  if (queue.length > 0) return undefined
  return listing === 'whole' ? { listed_at: started, at: now } : before
}

/** As the pass read it, and what has passed since by this process's own clock. */
/** Never before anything that the revision has folded: a machine that was suspended during the turn has counted too little, and
 *  looks for missed segments would take the revision for one from before them (compactor/window.ts). */
const publishedAt = (deps: TurnDeps, pass: Pass): number => Math.max(storeTime(deps, pass), pass.pending.fold_time)

const storeTime = ({ clock }: TurnDeps, { server_time, started }: Pass): number => server_time + (clock.elapsed() - started)

/** Of the rows as they are now: what was just said has deadlines of its own. */
const wakeAt = ({ reconcile }: TurnDeps, { rows }: Workspace, { now, hold_until }: Pass): number | null =>
  reconcile.wakeAt({ rows, now, hold_until })

function answerOf(deps: TurnDeps, pass: Pass, { published, snapshot }: Workspace, wake_at: number | null): TurnAnswer {
  const isMergeDue = snapshot !== undefined && (snapshot.deltas.length >= MERGE_DUE_DELTAS || overlaySize(snapshot) >= MERGE_DUE_ROWS)
  return {
    sequence: published?.pointer.sequence ?? 0,
    processed_at: pass.now,
    ended_at: storeTime(deps, pass),
    published_count: pass.published_count,
    counts: pass.counts,
    more: pass.more,
    merge_due: isMergeDue,
    wake_in_ms: wake_at === null ? null : Math.max(0, wake_at - pass.now),
  }
}
