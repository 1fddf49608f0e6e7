// What all loops share: when to begin anew, how long to wait after a failure, and their status for searches.

import { defineSearchAttributeKey } from '@temporalio/common'
import * as wf from '@temporalio/workflow'
import { isLoopsQueue } from '../core/names.js'
import { type DrainRequest, drainSignal } from './contract.js'

/** Temporal suggests a new run by the number of events, and does not count signals for it. */
const SIGNALS_MAX = 1_000

export function isTimeToBeginAnew(signals: number, turns: number, turns_max: number | undefined): boolean {
  if (signals >= SIGNALS_MAX || (turns_max !== undefined && turns >= turns_max)) return true
  return wf.workflowInfo().continueAsNewSuggested
}

type Drain = {
  readonly isWanted: () => boolean
  /** The queue of the next run. */
  readonly taskQueue: () => string
}

/** Only an automation that serves the workspace knows on which queue it does: a loop moves where it is told to, and not where
 *  its own code says. `onWanted` is called with each request that the loop has to follow. */
export function listenForDrain(onWanted: () => void): Drain {
  const here = wf.workflowInfo().taskQueue
  let target: string | undefined
  wf.setHandler(drainSignal, (request) => {
    const task_queue = queueIn(request)
    // A list that lags sends loops away that have moved already.
    if (task_queue === here) return
    target = task_queue ?? target ?? here
    onWanted()
  })
  return { isWanted: () => target !== undefined, taskQueue: () => target ?? here }
}

/** The UI sends whatever somebody typed: on a queue that is none of Servo's no one would look for the loop. */
function queueIn(request: DrainRequest | undefined): string | undefined {
  const { task_queue } = typeof request === 'object' && request !== null ? request : {}
  return typeof task_queue === 'string' && isLoopsQueue(task_queue) ? task_queue : undefined
}

const FIRST_MS = 1_000
const LONGEST_MS = 60_000

export const backoffMs = (failures: number): number => Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 6))

const SERVO_STATUS = defineSearchAttributeKey('ServoStatus', 'KEYWORD')
const SERVO_NEXT_FIRE_AT = defineSearchAttributeKey('ServoNextFireAt', 'DATETIME')

/** An event of the history, so only where it changes. */
export function setStatus(status: string): void {
  if (wf.workflowInfo().typedSearchAttributes.get(SERVO_STATUS) === status) return
  wf.upsertSearchAttributes([{ key: SERVO_STATUS, value: status }])
}

/** Both in one event. null: it does not fire. */
export function setNextFire(status: string, next_fire_at: string | null): void {
  const known = wf.workflowInfo().typedSearchAttributes
  const value = next_fire_at === null ? null : new Date(next_fire_at)
  if (known.get(SERVO_STATUS) === status && (known.get(SERVO_NEXT_FIRE_AT)?.getTime() ?? null) === (value?.getTime() ?? null)) return
  wf.upsertSearchAttributes([
    { key: SERVO_STATUS, value: status },
    { key: SERVO_NEXT_FIRE_AT, value },
  ])
}
