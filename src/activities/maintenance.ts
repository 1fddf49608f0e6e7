// What no turn does: base merges, a look through the whole listing window, packing of old segments, collection.

import { repairFilters } from '../compactor/base/repair-filters.js'
import { collectAll } from '../compactor/collect.js'
import { type MergeAnswer, mergeBase } from '../compactor/merge.js'
import { packSegments } from '../compactor/packs/pack.js'
import type { PublishDeps } from '../compactor/publish.js'
import { createMissedLook } from '../compactor/window.js'
import type { Scope } from '../core/ids.js'
import type { MaintenanceCall, MaintenanceReport } from '../workflows/contract.js'
import { explained } from './failures.js'
import { servedScope } from './served-scope.js'
import { whileBeating } from './workspace.js'

export type MaintenanceDeps = PublishDeps & {
  readonly scope: Scope
  readonly listing_window_ms: number
  readonly log?: (message: string) => void
}

/** Names of this many late segments fit a signal; the next look finds the others. */
const MISSED_MAX = 1_000

export const createMaintenance = (deps: MaintenanceDeps) => {
  const findMissed = createMissedLook(deps.store, deps.listing_window_ms)
  return {
    async maintain({ merge, collect, ...scope }: MaintenanceCall): Promise<MaintenanceReport> {
      servedScope(deps, scope)
      return whileBeating(() =>
        explained(async () => {
          await repairFilters(deps)
          const merged = merge ? await mergeBase(deps, { is_patient: true }) : undefined
          const missed = collect ? await findMissed() : []
          // Before collection, which looks at what packing may have left behind.
          const packed = collect ? await packSegments(deps) : undefined
          for (const sentence of packed?.left ?? []) deps.log?.(sentence)
          const collected = collect ? await collectAll(deps) : undefined
          return {
            merged_files: mergedCount(merged),
            collected_files:
              collected === undefined ? 0 : collected.deleted_count + collected.claims_deleted_count + collected.packs_deleted_count,
            packed_segments: packed?.segment_count ?? 0,
            missed: missed.slice(0, MISSED_MAX),
          }
        }),
      )
    },
  }
}

const mergedCount = (merged: MergeAnswer | undefined): number => (merged?.kind === 'merged' ? merged.parts_written : 0)
