// Every row and list that the fold of an event may read: named by the event, then by what was loaded, until nothing new is
// named. What is not named here fails an assert in the fold.

import { assertNever } from '../core/errors.js'
import type { EventOf, LedgerEvent } from '../events/event.js'
import type { ListReference } from '../events/value.js'
import { keysOfAssetDefined } from './asset.js'
import { keysOfAttemptEnd, keysOfTask } from './attempt.js'
import { type Hints, NO_HINTS } from './hint.js'
import type { BatchEntry } from './outcome.js'
import { listReferenceOf, listsOfTask } from './partition.js'
import { keysOfPlan } from './plan.js'
import { keysOfRun, keysOfRunRequested } from './run.js'
import { keysOfScheduleTicked } from './schedule-tick.js'
import type { KeyedRow } from './tables.js'
import type { WorkingSet } from './working-set.js'

export function keysOf(entry: BatchEntry, rows: WorkingSet, hints: Hints = NO_HINTS): readonly KeyedRow[] {
  if (entry.kind !== 'event') return NONE
  const { event } = entry
  const own: KeyedRow = { table: 'idempotency_keys', key: [event.idempotency_key] }
  const others = keysOfEvent(event, rows, hints)
  return others.length === 0 ? [own] : [own, ...others]
}

/** Whether folding what comes before may lead this entry to further keys: where a row that may just have been made says
 *  what else is read, or where the run that held its rows may just have ended. For all others, what was named once is all. */
export const mayNameMore = (entry: BatchEntry): boolean => entry.kind === 'event' && MAY_NAME_MORE.has(entry.event.event_type)

const MAY_NAME_MORE: ReadonlySet<LedgerEvent['event_type']> = new Set([
  'RunRequested',
  'DispatchRequested',
  'DispatchEnqueued',
  'TaskStarted',
  'TaskHeartbeat',
  'TaskFinished',
  'AttemptLost',
])

/** The keys besides its own idempotency key, which is known from the start: those that may have become more. */
export const furtherKeysOf = (entry: BatchEntry, rows: WorkingSet, hints: Hints): readonly KeyedRow[] =>
  entry.kind === 'event' ? keysOfEvent(entry.event, rows, hints) : NONE

function keysOfEvent(event: LedgerEvent, rows: WorkingSet, hints: Hints): readonly KeyedRow[] {
  switch (event.event_type) {
    // Locations, pools, settings, schedules, names and current definitions are in memory as a whole.
    case 'CodeLocationDeployed':
    case 'AssetRemoved':
    case 'PoolDefined':
    case 'PoolRemoved':
    case 'RetentionChanged':
    case 'ScheduleDefined':
    case 'ScheduleRemoved':
    case 'ScheduleStatusChanged':
      return NONE
    case 'ScheduleTicked':
      return keysOfScheduleTicked(event)
    case 'AssetDefined':
      return keysOfAssetDefined(event)
    case 'RunRequested':
      return keysOfRunRequested(rows, event, hints.hasRival(event.payload.run_key))
    case 'RunCancelRequested':
    case 'PlanFailed':
      return [keysOfRun(event.payload.run_id)]
    case 'PlanCreated':
      return keysOfPlan(event)
    case 'DispatchRequested':
    case 'DispatchEnqueued':
    case 'TaskStarted':
    case 'TaskHeartbeat':
      return keysOfTask(rows, event.payload)
    case 'TaskFinished':
    case 'AttemptLost':
      return keysOfAttemptEnd(rows, event.payload, hints)
  }
  return assertNever(event, 'The event')
}

/** Lists by content. Those of a task that is planned by one of these events are named by its plan. */
export function listsOf(entry: BatchEntry, rows: WorkingSet): readonly string[] {
  if (entry.kind !== 'event') return NONE
  const { event } = entry
  if (event.event_type === 'TaskFinished' || event.event_type === 'AttemptLost') return listsOfTask(rows, event.payload)
  const references = listReferencesOf(event)
  return references.length === 0 ? NONE : references.map(({ sha256 }) => sha256)
}

/** The first list that the event names and that is not there, or not as long as the event says. */
export const missingListOf = (event: LedgerEvent, rows: WorkingSet): ListReference | undefined =>
  listReferencesOf(event).find(({ sha256, count, offset = 0 }) => (rows.list(sha256)?.length ?? -1) < offset + count)

function listReferencesOf(event: LedgerEvent): readonly ListReference[] {
  switch (event.event_type) {
    case 'RunRequested':
      return listReferencesOfRequest(event)
    case 'PlanCreated':
      return event.payload.tasks.flatMap(({ p }) => listReferenceOf(p))
    case 'ScheduleTicked':
      return listReferencesOfTicked(event)
    case 'CodeLocationDeployed':
    case 'AssetDefined':
    case 'AssetRemoved':
    case 'PoolDefined':
    case 'PoolRemoved':
    case 'RetentionChanged':
    case 'ScheduleDefined':
    case 'ScheduleRemoved':
    case 'ScheduleStatusChanged':
    case 'RunCancelRequested':
    case 'PlanFailed':
    case 'DispatchRequested':
    case 'DispatchEnqueued':
    case 'TaskStarted':
    case 'TaskHeartbeat':
    case 'TaskFinished':
    case 'AttemptLost':
      return NONE
  }
  return assertNever(event, 'The event')
}

function listReferencesOfRequest({ payload }: EventOf<'RunRequested'>): readonly ListReference[] {
  const references = [...listReferenceOf(payload.partitions)]
  if ('list' in payload.assets) references.push(payload.assets.list)
  const pins = payload.definition_pins?.['list']
  if (typeof pins === 'object') references.push(pins)
  return references
}

function listReferencesOfTicked({ payload: { assets, ticks } }: EventOf<'ScheduleTicked'>): readonly ListReference[] {
  const partitions = ticks.flatMap((tick) => listReferenceOf(tick.partitions))
  return 'list' in assets ? [assets.list, ...partitions] : partitions
}

const NONE: readonly never[] = []
