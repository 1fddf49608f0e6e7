// What a request for a run does to the row of the trigger that it names, such as a tick: each noun that starts runs says what of
// its row changes.

import type { EventOf } from '../events/event.js'
import { liveRow, type Moment } from './outcome.js'
import type { KeyedRow, RowKey, Rows, TableName } from './tables.js'
import type { WorkingSet } from './working-set.js'

export type RunTrigger = EventOf<'RunRequested'>['payload']['trigger']

/** `conflicting`: its run key belongs to a run that was asked for otherwise. */
export type RequestOutcome = { readonly kind: 'started'; readonly run_id: string } | { readonly kind: 'conflicting' }

export type TriggerRow = {
  readonly keysOf: (trigger: RunTrigger) => readonly KeyedRow[]
  readonly record: (rows: WorkingSet, trigger: RunTrigger, outcome: RequestOutcome, moment: Moment) => void
}

/** `keyOf`: undefined where the request comes from something else. A row that has expired is left alone. */
export function triggerRow<Name extends TableName>(
  table: Name,
  keyOf: (trigger: RunTrigger) => RowKey | undefined,
  changesBy: (row: Rows[Name], outcome: RequestOutcome) => Partial<Rows[Name]>,
): TriggerRow {
  return {
    keysOf(trigger) {
      const key = keyOf(trigger)
      return key === undefined ? [] : [{ table, key }]
    },
    record(rows, trigger, outcome, moment) {
      const key = keyOf(trigger)
      const row = key === undefined ? undefined : liveRow(rows, moment.context, table, ...key)
      if (row !== undefined) rows.put(table, { ...row, ...changesBy(row, outcome), last_event_id: moment.event_id })
    },
  }
}
