// The fold: what a batch of events does to the rows. It reads nothing but the rows it is given, never throws for what an
// event says, and emits nothing.

import { instantMs } from '../core/time.js'
import type { LedgerEvent } from '../events/event.js'
import type { Verdict } from './folds/event-fold.js'
import { BATCH_JUDGES, foldOf } from './folds/every.js'
import { missingListOf } from './need.js'
import {
  APPLIED,
  type BatchEntry,
  DUPLICATE,
  type EventOutcome,
  type FoldContext,
  isKeyApplied,
  type Moment,
  type Refusal,
  refusal,
  rememberApplied,
  rememberQuarantined,
  rememberRefused,
} from './outcome.js'
import { retentionIn } from './retention-settings.js'
import type { WorkingSet } from './working-set.js'

/** What became of each entry of the batch, in its order. Everything that it may read is loaded (need.ts). */
export function foldBatch(batch: readonly BatchEntry[], rows: WorkingSet, given: FoldContext): readonly EventOutcome[] {
  // A batch is never split, so what one changes counts from the next one on, wherever revisions begin and end.
  const context = { ...given, retention: retentionIn(rows, given.retention) }
  const judged = judgeBatch(batch, rows, context)
  const isApplied = new Map<string, boolean>()
  return batch.map((entry, index) => {
    const outcome =
      entry.kind === 'quarantine'
        ? rememberQuarantined(rows, entry, index, context)
        : foldEntry(entry.event, index, { rows, context, judged: judged?.(entry.event, index), isApplied })
    const event_id = entry.kind === 'event' ? entry.event.event_id : entry.event_id
    if (event_id !== undefined && isApplied.get(event_id) !== true) isApplied.set(event_id, outcome.kind === 'applied')
    return outcome
  })
}

type Step = {
  readonly rows: WorkingSet
  readonly context: FoldContext
  /** What was found before any part of the batch was folded. */
  readonly judged: Refusal | undefined
  /** Of the events before it in the batch. */
  readonly isApplied: ReadonlyMap<string, boolean>
}

/** The five steps of DATA section 3, in their order. */
function foldEntry(event: LedgerEvent, index: number, { rows, context, judged, isApplied }: Step): EventOutcome {
  const missingList = missingListOf(event, rows)
  if (missingList !== undefined) return quarantineFor(event, index, missingList.sha256, rows, context)
  if (isKeyApplied(rows, context, event.idempotency_key)) return DUPLICATE
  const moment: Moment = { context, event_id: event.event_id, at: instantMs(event.timestamp), ordinal: rows.appliedTotal() + 1 }
  const { judge, fold } = foldOf(event)
  const before = judge?.(event, rows, moment)
  if (before === 'duplicate') return DUPLICATE
  if (before !== undefined) return refuse(event, before, rows, moment)
  const { causation_id } = event
  const isCauseLost = causation_id !== undefined && isApplied.get(causation_id) === false
  const refused = judged ?? (isCauseLost ? refusal('TRIGGER_NOT_APPLIED', { causation_id }) : fold(rows, event, moment))
  if (refused !== undefined) return refuse(event, refused, rows, moment)
  rememberApplied(rows, event, context)
  return APPLIED
}

function refuse(event: LedgerEvent, refused: Refusal, rows: WorkingSet, moment: Moment): EventOutcome {
  const { entity, has_no_refusal_row } = foldOf(event)
  if (has_no_refusal_row !== true) rememberRefused(rows, event, entity(event), refused, moment)
  return { kind: 'refused', ...refused }
}

function quarantineFor(event: LedgerEvent, index: number, sha256: string, rows: WorkingSet, context: FoldContext): EventOutcome {
  const { event_type, event_version, event_id } = event
  const entry = { kind: 'quarantine', reason: 'LIST_MISSING', raw: JSON.stringify(event), event_type, event_version, event_id } as const
  return rememberQuarantined(rows, { ...entry, detail: { sha256 } }, index, context)
}

/** What is wrong with the parts of a batch that is taken as a whole or not at all. undefined: the batch has no such parts. */
function judgeBatch(batch: readonly BatchEntry[], rows: WorkingSet, context: FoldContext): Verdict | undefined {
  const judges = BATCH_JUDGES.filter(({ types }) => batch.some((entry) => entry.kind === 'event' && types.has(entry.event.event_type)))
  if (judges.length === 0) return undefined
  const fresh = freshEvents(batch, rows, context)
  const verdicts = judges.flatMap(({ judge }) => judge(rows, fresh) ?? [])
  return (event, index) => {
    for (const verdict of verdicts) {
      const refused = verdict(event, index)
      if (refused !== undefined) return refused
    }
    return undefined
  }
}

/** The events that steps 1 and 2 will leave for certain, each in its place. */
function freshEvents(batch: readonly BatchEntry[], rows: WorkingSet, context: FoldContext): readonly (LedgerEvent | undefined)[] {
  const keys = new Set<string>()
  return batch.map((entry) => {
    if (entry.kind !== 'event') return undefined
    const { event } = entry
    const isRepeated = keys.has(event.idempotency_key) || isKeyApplied(rows, context, event.idempotency_key)
    keys.add(event.idempotency_key)
    return isRepeated || missingListOf(event, rows) !== undefined ? undefined : event
  })
}
