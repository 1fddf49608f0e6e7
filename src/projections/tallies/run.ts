// Runs: which were requested, and the states that they reached.

import type { RunRow } from '../run-table.js'
import { isOver } from '../state-machine.js'
import type { Change } from '../working-set.js'
import { counted, isNew, type NounTally } from './tally.js'

const REQUESTS = counted('servo_run_requests_total', 'Runs that were requested, by trigger.', {
  labels: ['source'],
  series: ['MANUAL', 'RERUN', 'SCHEDULE', 'SENSOR', 'BACKFILL'] satisfies readonly RunRow['trigger_type'][],
})
const STATES = counted('servo_runs_total', 'Runs that reached a state.', {
  labels: ['state'],
  series: ['PENDING', 'PLANNED', 'RUNNING', 'CANCELLING', 'SUCCEEDED', 'FAILED', 'CANCELLED'] satisfies readonly RunRow['state'][],
})

export const RUN_TALLY: NounTally = {
  metrics: [REQUESTS, STATES],
  count(rows, book) {
    for (const change of rows.changesOf('runs')) {
      if (change.before === undefined) book.count(REQUESTS, change.after.trigger_type)
      for (const state of runStatesReached(change)) book.count(STATES, state)
    }
  },
}

function runStatesReached(change: Change<'runs'>): readonly RunRow['state'][] {
  const { before, after } = change
  const reached: RunRow['state'][] = []
  if (before === undefined) reached.push('PENDING')
  if (isNew(change, 'planned_at')) reached.push('PLANNED')
  // A first task may start while the run is asked to cancel already; the run is not RUNNING then.
  if (isNew(change, 'started_at') && before?.state !== 'CANCELLING') reached.push('RUNNING')
  // Without a plan there is nothing to wait for, and the run is CANCELLED at once.
  if (isNew(change, 'cancel_requested_at') && after.planned_at !== null) reached.push('CANCELLING')
  if (isOver(after.state) && (before === undefined || !isOver(before.state))) reached.push(after.state)
  return reached
}
