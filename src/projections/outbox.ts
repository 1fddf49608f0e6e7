// The outbox row of an attempt: made when it is dispatched, and closed when it starts, is lost, or ends without a start.

import { assert } from '../core/errors.js'
import { dispatchId } from '../core/keys.js'
import type { EventOf } from '../events/event.js'
import { type Moment, notBefore } from './outcome.js'
import type { DispatchOutboxRow, TaskRow } from './run-table.js'
import { nextStates, OUTBOX_MACHINE, type OutboxCause } from './state-machine.js'
import type { WorkingSet } from './working-set.js'

export const newOutboxRow = (
  payload: EventOf<'DispatchRequested'>['payload'],
  prefetched: boolean,
  requested_at: number,
  { event_id }: Moment,
): DispatchOutboxRow => ({
  run_id: payload.run_id,
  task_key: payload.task_key,
  attempt: payload.attempt,
  dispatch_id: dispatchId(payload),
  queue_task_name: payload.queue_task_name,
  attempt_id: payload.attempt_id,
  location_name: payload.location_name,
  worker_queue: payload.worker_queue,
  status: 'PENDING',
  prefetched,
  port: null,
  requested_at,
  enqueued_at: null,
  closed_at: null,
  close_reason: null,
  row_version: 0,
  last_event_id: event_id,
})

export function openOutboxRow(rows: WorkingSet, { run_id, task_key, attempt }: TaskRow): DispatchOutboxRow {
  const outbox = rows.get('dispatch_outbox', run_id, task_key, attempt)
  assert(outbox, `The dispatched attempt ${attempt} of ${task_key} has no outbox row.`)
  return outbox
}

/** When it was closed; null: it was before. */
export function closeOutbox(rows: WorkingSet, task: TaskRow, by: OutboxCause, close_reason: string, moment: Moment): number | null {
  if (task.state !== 'DISPATCHED') return null
  const outbox = openOutboxRow(rows, task)
  const status = nextStates(OUTBOX_MACHINE, outbox.status, by)[0]
  assert(status, `The outbox row of ${task.task_key} was ${outbox.status} while its attempt had not started.`)
  const closed_at = notBefore(moment, outbox.requested_at, outbox.enqueued_at)
  rows.put('dispatch_outbox', { ...outbox, status, closed_at, close_reason, last_event_id: moment.event_id })
  return closed_at
}
