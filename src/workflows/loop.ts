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
  wf.setHandler(
    drainSignal,
    (request) => {
      const task_queue = queueIn(request)
      // A list that lags sends loops away that have moved already.
      if (task_queue === here) return
      target = task_queue ?? target ?? here
      onWanted()
    },
    { description: 'Begins a new run, on the task queue that it names or on the same one.' },
  )
  return { isWanted: () => target !== undefined, taskQueue: () => target ?? here }
}

/** The names of signals and updates that people send. */
type KnownNames = { readonly signals: readonly string[]; readonly updates: readonly string[] }

/** Has a signal or an update that the loop does not know shown on its page; the SDK would keep it for a handler that never comes.
 *  Call it after all other handlers are set, because what waits for them would be unknown. */
export function listenForUnknown({ signals, updates }: KnownNames, onUnknown: (problem: string) => void): void {
  const problemOf = (what: string, name: string, known: readonly string[]): string => {
    const problem = `unknown ${what} ${name.slice(0, NAME_CHARACTERS_MAX)}; known: ${known.length === 0 ? 'none' : known.join(', ')}`
    onUnknown(problem)
    return problem
  }
  wf.setDefaultSignalHandler((name) => void problemOf('signal', name, signals))
  wf.setDefaultUpdateHandler(async (name) => ({ problem: problemOf('update', name, updates) }))
}

const NAME_CHARACTERS_MAX = 60

/** The UI sends what was typed into it: on a queue that is not one of Servo's, no process would look for the loop. */
function queueIn(request: DrainRequest | undefined): string | undefined {
  const { task_queue } = typeof request === 'object' && request !== null ? request : {}
  return typeof task_queue === 'string' && isLoopsQueue(task_queue) ? task_queue : undefined
}

const FIRST_MS = 1_000
const LONGEST_MS = 60_000

export const backoffMs = (failures: number): number => Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 6))

const SERVO_STATUS = defineSearchAttributeKey('ServoStatus', 'KEYWORD')
const SERVO_NAME = defineSearchAttributeKey('ServoName', 'KEYWORD')
const SERVO_NEXT_FIRE_AT = defineSearchAttributeKey('ServoNextFireAt', 'DATETIME')

/** An event of the history, so only where it changes. */
export function setStatus(status: string): void {
  if (wf.workflowInfo().typedSearchAttributes.get(SERVO_STATUS) === status) return
  wf.upsertSearchAttributes([{ key: SERVO_STATUS, value: status }])
}

/** All in one event. null: it does not fire. A fire that is at most `slack_ms` off stays: each update is paid. A name is given only
 *  where the namespace has the attribute. */
export function setNextFire(
  status: string,
  next_fire_at: string | null,
  { slack_ms, name }: { slack_ms: number; name: string | undefined },
): void {
  const known = wf.workflowInfo().typedSearchAttributes
  const value = next_fire_at === null ? null : new Date(next_fire_at)
  const isNamed = name === undefined || known.get(SERVO_NAME) === name
  const isShown = known.get(SERVO_STATUS) === status && isSameFire(known.get(SERVO_NEXT_FIRE_AT) ?? null, value, slack_ms)
  if (isShown && isNamed) return
  wf.upsertSearchAttributes([
    { key: SERVO_STATUS, value: status },
    { key: SERVO_NEXT_FIRE_AT, value },
    ...(isNamed ? [] : [{ key: SERVO_NAME, value: name }]),
  ])
}

const isSameFire = (left: Date | null, right: Date | null, slack_ms: number): boolean =>
  left === null || right === null ? left === right : Math.abs(left.getTime() - right.getTime()) <= slack_ms
