// The fold: what a batch of events does to the rows. It reads nothing but the rows it is given, never throws for what an
// event says, and emits nothing.

import { assertNever } from '../core/errors.js'
import { instantMs } from '../core/time.js'
import type { LedgerEvent } from '../events/event.js'
import { foldAssetDefined, foldAssetRemoved, foldCodeLocationDeployed, judgeDeploy } from './asset.js'
import {
  foldAttemptLost,
  foldDispatchEnqueued,
  foldDispatchRequested,
  foldTaskFinished,
  foldTaskHeartbeat,
  foldTaskStarted,
} from './attempt.js'
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
import { foldPlanCreated, judgePlans } from './plan.js'
import { foldPoolDefined, foldPoolRemoved } from './pool.js'
import { foldRetentionChanged, retentionIn } from './retention-settings.js'
import { foldPlanFailed, foldRunCancelRequested, foldRunRequested, judgeRunKey, recordRunKeyConflict } from './run.js'
import { foldScheduleDefined, foldScheduleRemoved, foldScheduleStatusChanged } from './schedule.js'
import { foldScheduleTicked } from './schedule-tick.js'
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
        : foldEntry(entry.event, index, { rows, context, judged: judged?.(index), isApplied })
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
  if (event.event_type === 'RunRequested') {
    const holder = judgeRunKey(rows, event, context)
    if (holder === 'duplicate') return DUPLICATE
    if (holder !== 'free') {
      recordRunKeyConflict(rows, event, moment)
      return refuse(event, holder, rows, moment)
    }
  }
  const { causation_id } = event
  const isCauseLost = causation_id !== undefined && isApplied.get(causation_id) === false
  const refused = judged ?? (isCauseLost ? refusal('TRIGGER_NOT_APPLIED', { causation_id }) : foldEvent(event, rows, moment))
  if (refused !== undefined) return refuse(event, refused, rows, moment)
  rememberApplied(rows, event, context)
  return APPLIED
}

function refuse(event: LedgerEvent, refused: Refusal, rows: WorkingSet, moment: Moment): EventOutcome {
  // Beats are many, and nobody looks for one that came too late: it is counted.
  if (event.event_type !== 'TaskHeartbeat') rememberRefused(rows, event, refused, moment)
  return { kind: 'refused', ...refused }
}

function quarantineFor(event: LedgerEvent, index: number, sha256: string, rows: WorkingSet, context: FoldContext): EventOutcome {
  const { event_type, event_version, event_id } = event
  const entry = { kind: 'quarantine', reason: 'LIST_MISSING', raw: JSON.stringify(event), event_type, event_version, event_id } as const
  return rememberQuarantined(rows, { ...entry, detail: { sha256 } }, index, context)
}

/** Deploys and plans are taken whole or not at all, so they are judged before any part of their batch is folded. */
function judgeBatch(
  batch: readonly BatchEntry[],
  rows: WorkingSet,
  context: FoldContext,
): ((index: number) => Refusal | undefined) | undefined {
  const isWhole = batch.some(
    (entry) => entry.kind === 'event' && (entry.event.event_type === 'CodeLocationDeployed' || entry.event.event_type === 'PlanCreated'),
  )
  if (!isWhole) return undefined
  const fresh = freshEvents(batch, rows, context)
  const deployFaults = judgeDeploy(rows, fresh)
  if (deployFaults !== undefined) return (index) => deployFaults.get(index) ?? refusal('TRIGGER_NOT_APPLIED')
  const wholePlans = judgePlans(rows, fresh)
  return (index) => {
    const entry = batch[index]
    if (entry?.kind !== 'event' || entry.event.event_type !== 'PlanCreated') return undefined
    const judged = wholePlans.get(index) ?? refusal('ILLEGAL_TRANSITION', { message: 'The page is no part of a whole plan.' })
    return judged === 'whole' ? undefined : judged
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

/** Applies the event, or says why not. */
function foldEvent(event: LedgerEvent, rows: WorkingSet, moment: Moment): Refusal | undefined {
  switch (event.event_type) {
    case 'CodeLocationDeployed':
      return foldCodeLocationDeployed(rows, event, moment)
    case 'AssetDefined':
      return foldAssetDefined(rows, event, moment)
    case 'AssetRemoved':
      return foldAssetRemoved(rows, event, moment)
    case 'PoolDefined':
      return foldPoolDefined(rows, event, moment)
    case 'PoolRemoved':
      return foldPoolRemoved(rows, event, moment)
    case 'RetentionChanged':
      return foldRetentionChanged(rows, event, moment)
    case 'ScheduleDefined':
      return foldScheduleDefined(rows, event, moment)
    case 'ScheduleRemoved':
      return foldScheduleRemoved(rows, event, moment)
    case 'ScheduleStatusChanged':
      return foldScheduleStatusChanged(rows, event, moment)
    case 'ScheduleTicked':
      return foldScheduleTicked(rows, event, moment)
    case 'RunRequested':
      return foldRunRequested(rows, event, moment)
    case 'RunCancelRequested':
      return foldRunCancelRequested(rows, event, moment)
    case 'PlanCreated':
      return foldPlanCreated(rows, event, moment)
    case 'PlanFailed':
      return foldPlanFailed(rows, event, moment)
    case 'DispatchRequested':
      return foldDispatchRequested(rows, event, moment)
    case 'DispatchEnqueued':
      return foldDispatchEnqueued(rows, event, moment)
    case 'TaskStarted':
      return foldTaskStarted(rows, event, moment)
    case 'TaskHeartbeat':
      return foldTaskHeartbeat(rows, event, moment)
    case 'TaskFinished':
      return foldTaskFinished(rows, event, moment)
    case 'AttemptLost':
      return foldAttemptLost(rows, event, moment)
  }
  return assertNever(event, 'The event')
}
