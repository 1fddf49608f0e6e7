// Every time-out and every retry of an activity, and the queue that it runs on. A call is bounded, so that what does not
// work shows in the loop and in the Temporal UI instead of being tried for ever without a word.

import type { ActivityOptions } from '@temporalio/workflow'
import type { TaskQueues } from '../core/names.js'

/** The process with the hot state takes it; one that died is noticed by its beats, and another takes over. */
export const turnOptions = ({ turn }: TaskQueues): ActivityOptions => ({
  taskQueue: turn,
  scheduleToCloseTimeout: '5m',
  startToCloseTimeout: '2m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '5s', maximumAttempts: 5 },
})

/** It waits for a turn at most, and soon says that none came: the loop shows it and backs off. A burst of due loops waits
 *  for its place as well, so the whole is bounded more widely than one try. */
export const callOptions = ({ calls }: TaskQueues): ActivityOptions => ({
  taskQueue: calls,
  scheduleToCloseTimeout: '2m',
  startToCloseTimeout: '40s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5s', maximumAttempts: 2 },
})

/** Beside the turns, for as long as something has not started. */
export const handOverOptions = ({ work }: TaskQueues): ActivityOptions => ({
  taskQueue: work,
  startToCloseTimeout: '10m',
  heartbeatTimeout: '20s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
})

/** Half an hour is the longest that a merge may take (core/limits.ts). */
export const maintenanceOptions = ({ work }: TaskQueues): ActivityOptions => ({
  taskQueue: work,
  scheduleToCloseTimeout: '45m',
  startToCloseTimeout: '35m',
  heartbeatTimeout: '60s',
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '1m', maximumAttempts: 3 },
})
