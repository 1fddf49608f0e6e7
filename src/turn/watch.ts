// What a turn tells those who count: after each publish what it made visible, and at its end how long it took. It is told
// within the turn, so who listens does no I/O; nothing that is decided depends on it.

import type { LateKind } from '../controllers/decision.js'
import { EVERY_NOUN, type NounKind } from '../controllers/nouns/every.js'
import { compareText } from '../core/order.js'
import { instantMs, stampMs } from '../core/time.js'
import type { RunRow } from '../projections/run-table.js'
import { OUTCOME_TALLY } from '../projections/tallies/outcome.js'
import { type Metric, type Tally, tallyOf } from '../projections/tallies/tally.js'
import type { WorkingSet } from '../projections/working-set.js'
import type { OutcomeCounts } from '../tables/revision.js'
import type { Snapshot } from '../tables/snapshot.js'
import type { Pending } from './fold-segments.js'

export type PublishReport = {
  readonly tally: Tally
  readonly counts: OutcomeCounts
  /** Of each segment: from its creation to the publish, both by the store's clock. */
  readonly fold_delays_ms: readonly number[]
  /** The first few that it shows as failed. */
  readonly failed_runs: readonly RunRow[]
}

/** As many as a page has room for. */
const FAILED_RUNS_MAX = 5

export type TurnEnd = {
  readonly outcome: 'published' | 'quiet' | 'failed'
  readonly duration_ms: number
  /** How often controllers spoke. */
  readonly rounds: number
}

/** What a turn finds stuck, and sets going by doing what it always does (turn/mended.ts). */
export type Mended = LateKind | 'hot_state' | 'late_segment' | 'poke_missed' | 'wake_missed'

export type TurnWatch = {
  readonly onPublished: (report: PublishReport) => void
  /** Another turn published first: what was folded is folded again. */
  readonly onLost: () => void
  readonly onMended: (kind: Mended, count: number) => void
  readonly onEnded: (end: TurnEnd) => void
}

/** By kind, the ids of what a publish changed and has a loop of its own, so that a listener can poke it. A loop that is not
 *  poked looks by itself when something is due: a poke that is lost costs time. */
export type ChangedEntities = ReadonlyMap<NounKind, readonly string[]>

/** Before the rows are settled, as well. */
export const changedEntities = (rows: WorkingSet): ChangedEntities =>
  new Map(
    EVERY_NOUN.flatMap(([kind, { changed }]) => {
      const ids = changed === undefined ? [] : [...new Set(changed(rows))].sort(compareText)
      return ids.length === 0 ? [] : [[kind, ids] as const]
    }),
  )

const TALLIES = [...EVERY_NOUN.flatMap(([, { tally }]) => tally ?? []), OUTCOME_TALLY]

/** All metrics that a tally can have. */
export const TALLIED: readonly Metric[] = TALLIES.flatMap(({ metrics }) => metrics)

/** Before the rows are settled: after it nobody knows what they were. */
export function reportOf(rows: WorkingSet, { segments, counts }: Pending, { revision, deltas }: Snapshot): PublishReport {
  const published_at = instantMs(revision.published_at)
  const by_sequence = new Map(deltas.map((delta) => [delta.sequence, delta.published_at]))
  const publishedAt = (sequence: number): number | undefined => {
    const at = by_sequence.get(sequence)
    return at === undefined ? undefined : instantMs(at)
  }
  return {
    tally: tallyOf(TALLIES, rows, { published_at, publishedAt }),
    counts,
    fold_delays_ms: segments.map(({ creation_time }) => Math.max(0, published_at - stampMs(creation_time))),
    failed_runs: failedRuns(rows),
  }
}

function failedRuns(rows: WorkingSet): readonly RunRow[] {
  const failed = rows.changesOf('runs').filter(({ before, after }) => after.state === 'FAILED' && before?.state !== 'FAILED')
  return failed.slice(0, FAILED_RUNS_MAX).map(({ after }) => after)
}
