// Every row and list that the fold of an event may read: named by the event, then by what was loaded, until nothing new is
// named. What is not named here fails an assert in the fold.

import type { LedgerEvent } from '../events/event.js'
import type { ListReference } from '../events/value.js'
import { foldOf } from './folds/every.js'
import { type Hints, NO_HINTS } from './hint.js'
import type { BatchEntry } from './outcome.js'
import type { KeyedRow } from './tables.js'
import type { WorkingSet } from './working-set.js'

export function keysOf(entry: BatchEntry, rows: WorkingSet, hints: Hints = NO_HINTS): readonly KeyedRow[] {
  if (entry.kind !== 'event') return NONE
  const { event } = entry
  const own: KeyedRow = { table: 'idempotency_keys', key: [event.idempotency_key] }
  const others = foldOf(event).keys?.(event, rows, hints) ?? NONE
  return others.length === 0 ? [own] : [own, ...others]
}

/** Whether folding what comes before may lead this entry to further keys. */
export const mayNameMore = (entry: BatchEntry): boolean => entry.kind === 'event' && foldOf(entry.event).may_name_more === true

/** The keys besides its own idempotency key, which is known from the start: those that may have become more. */
export const furtherKeysOf = (entry: BatchEntry, rows: WorkingSet, hints: Hints): readonly KeyedRow[] =>
  entry.kind === 'event' ? (foldOf(entry.event).keys?.(entry.event, rows, hints) ?? NONE) : NONE

/** Lists by content. Those of a task that is planned by one of these events are named by its plan. */
export function listsOf(entry: BatchEntry, rows: WorkingSet): readonly string[] {
  if (entry.kind !== 'event') return NONE
  const { event } = entry
  const { listsOfRows } = foldOf(event)
  if (listsOfRows !== undefined) return listsOfRows(event, rows)
  const references = listReferencesOf(event)
  return references.length === 0 ? NONE : references.map(({ sha256 }) => sha256)
}

/** The first list that the event names and that is not there, or not as long as the event says. */
export const missingListOf = (event: LedgerEvent, rows: WorkingSet): ListReference | undefined =>
  listReferencesOf(event).find(({ sha256, count, offset = 0 }) => (rows.list(sha256)?.length ?? -1) < offset + count)

const listReferencesOf = (event: LedgerEvent): readonly ListReference[] => foldOf(event).lists?.(event) ?? NONE

const NONE: readonly never[] = []
