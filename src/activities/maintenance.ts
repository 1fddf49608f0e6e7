// What no turn does: base merges, a look through the whole listing window, packing of old segments, collection.

import { Context } from '@temporalio/activity'
import { repairFilters } from '../compactor/base/repair-filters.js'
import { collectAll } from '../compactor/collect.js'
import { type MergeAnswer, mergeBase } from '../compactor/merge.js'
import { packSegments } from '../compactor/packs/pack.js'
import type { PublishDeps } from '../compactor/publish.js'
import { idleMs, lookAgainMs, rememberingStore } from '../compactor/upkeep.js'
import { createMissedLook } from '../compactor/window.js'
import { messageOf } from '../core/errors.js'
import type { Scope } from '../core/ids.js'
import { MAINTENANCE_EVERY_MS } from '../core/limits.js'
import type { ObjectStore } from '../storage/object-store.js'
import { stoppableStore } from '../storage/stoppable.js'
import type { MaintenanceCall, MaintenanceReport } from '../workflows/contract.js'
import { beforeAbort, withAnySignal } from './aborts.js'
import { explained } from './failures.js'
import { leaving } from './leave.js'
import { servedScope } from './served-scope.js'
import { whileBeating } from './workspace.js'

export type MaintenanceDeps = PublishDeps & {
  readonly scope: Scope
  readonly listing_window_ms: number
  /** Aborted when this process is about to end: what is half done is done again by the next one. */
  readonly stopping: AbortSignal
  readonly log?: (message: string) => void
}

/** Names of this many late segments fit a signal; the next look finds the others. */
const MISSED_MAX = 1_000

export const createMaintenance = (deps: MaintenanceDeps) => {
  const { stopping } = deps
  const store = rememberingStore(deps.store)
  const findMissed = createMissedLook(stoppableStore(store, stopping), deps.listing_window_ms)
  const inTurn = createQueue()

  async function maintainUntil(
    { merge, collect }: Pick<MaintenanceCall, 'merge' | 'collect'>,
    over: AbortSignal,
  ): Promise<MaintenanceReport> {
    // First, and told whatever becomes of the rest: otherwise late segments wait for as long as something else is damaged.
    const missed = collect ? (await findMissed()).slice(0, MISSED_MAX) : []
    try {
      const kept = await keepSmall({ merge, collect }, over)
      return { ...kept, missed, again_in_ms: await againInMs(store, kept) }
    } catch (error) {
      if (over.aborted || missed.length === 0) throw error
      const failed = messageOf(error)
      deps.log?.(`Maintenance found ${missed.length} late segments, which the next turn folds, and failed afterwards: ${failed}`)
      return { merged_files: 0, collected_files: 0, packed_segments: 0, missed, failed }
    }
  }

  async function keepSmall(
    { merge, collect }: Pick<MaintenanceCall, 'merge' | 'collect'>,
    over: AbortSignal,
  ): Promise<Omit<MaintenanceReport, 'missed' | 'again_in_ms'>> {
    const within = { ...deps, store: stoppableStore(store, over) }
    await repairFilters(within)
    // A call by the clock and one that a turn asked for may come at once: the second merge would lose to the first.
    const merged = merge ? await inTurn(() => mergeBase(within, { is_patient: true })) : undefined
    // Before collection, which looks at what packing may have left behind.
    const packed = collect ? await packSegments(within) : undefined
    for (const sentence of packed?.left ?? []) deps.log?.(sentence)
    const collected = collect ? await collectAll(within) : undefined
    return {
      merged_files: mergedCount(merged),
      collected_files:
        collected === undefined ? 0 : collected.deleted_count + collected.claims_deleted_count + collected.packs_deleted_count,
      packed_segments: packed?.segment_count ?? 0,
    }
  }

  return {
    async maintain({ merge, collect, ...scope }: MaintenanceCall): Promise<MaintenanceReport> {
      servedScope(deps, scope)
      const { cancelled, cancellationSignal } = Context.current()
      const report = await whileBeating(() =>
        withAnySignal([stopping, cancellationSignal], (over) =>
          beforeAbort(
            over,
            explained(() => maintainUntil({ merge, collect }, over)),
          ),
        ),
      )
      if (report !== undefined) return report
      if (stopping.aborted) throw leaving()
      // Rejects as Temporal wants a cancelled call to end.
      return cancelled
    },
  }
}

/** One after the other; what failed keeps nothing after it waiting. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work)
    last = next.catch(() => undefined)
    return next
  }
}

async function againInMs(store: ObjectStore, done: Pick<MaintenanceReport, 'collected_files' | 'packed_segments'>): Promise<number> {
  // Where something was taken away there may be more of it.
  if (done.collected_files > 0 || (done.packed_segments ?? 0) > 0) return MAINTENANCE_EVERY_MS
  return lookAgainMs(await idleMs(store))
}

const mergedCount = (merged: MergeAnswer | undefined): number => (merged?.kind === 'merged' ? merged.parts_written : 0)
