// The skeleton of every loop that looks, shows, and waits: signals wake it, a failed look is backed off and shown, and it begins a
// new run when its history is long or when it is told to move.

import * as wf from '@temporalio/workflow'
import { backoffMs, isTimeToBeginAnew, listenForDrain } from './loop.js'
import { errorText, type LookCause } from './words.js'

/** What the next run of a loop goes on with. */
export type LoopHealth = { readonly failures: number; readonly last_error: string | null }

type LoopBody = {
  /** Answers how long to wait after it, if nothing comes, in milliseconds; `over`: the loop has nothing left to do. */
  readonly look: () => Promise<number | 'over'>
  /** After a look that failed. */
  readonly onFailed: () => void
  /** What the timer is shown as. */
  readonly waitSummary: () => string
  /** Whether a new run may begin now; left out: always. */
  readonly mayBeginAnew?: () => boolean
}

export type Loop = {
  /** For signals: it looks at once, and they are counted, because Temporal does not. */
  readonly wake: () => void
  /** For signals that are no reason to look. */
  readonly countSignal: () => void
  /** For updates: it looks at once. */
  readonly lookAtOnce: () => void
  readonly turns: () => number
  readonly cause: () => LookCause
  readonly health: () => LoopHealth
  /** After a look that succeeded. */
  readonly clearHealth: () => void
  /** The queue of the next run. */
  readonly taskQueue: () => string
  /** `again`: a new run has to begin. All handlers have finished by then. */
  readonly run: (body: LoopBody) => Promise<'again' | 'over'>
}

/** `turnsMax`: asked after each look, because the number comes with its answer. */
export function openLoop({ failures, last_error }: LoopHealth, turnsMax: () => number | undefined): Loop {
  let health: LoopHealth = { failures, last_error }
  let isDirty = false
  let signals = 0
  let turns = 0
  let pokes = 0
  let by: LookCause['by'] = 'start'
  let cause: LookCause = { by, pokes }
  const lookAtOnce = () => {
    pokes += 1
    isDirty = true
  }
  const countSignal = () => {
    signals += 1
  }
  const wake = () => {
    countSignal()
    lookAtOnce()
  }
  const drain = listenForDrain(wake)

  async function run({ look, onFailed, waitSummary, mayBeginAnew = () => true }: LoopBody): Promise<'again' | 'over'> {
    const isLast = () => mayBeginAnew() && (drain.isWanted() || isTimeToBeginAnew(signals, turns, turnsMax()))
    for (;;) {
      isDirty = false
      cause = { by, pokes }
      pokes = 0
      turns += 1
      let wait_ms: number | 'over'
      try {
        wait_ms = await look()
        by = 'more'
      } catch (error) {
        if (wf.isCancellation(error)) throw error
        health = { failures: health.failures + 1, last_error: errorText(error) }
        onFailed()
        wait_ms = backoffMs(health.failures)
        by = 'failure'
      }
      if (wait_ms === 'over' || isLast()) return finished(wait_ms)
      if (wait_ms > 0) {
        const isWoken = await wf.condition(() => isDirty, wait_ms, { summary: waitSummary() })
        if (isWoken) by = 'signal'
        else if (by !== 'failure') by = 'timer'
      }
      if (isLast()) return finished(wait_ms)
    }
  }

  return {
    wake,
    countSignal,
    lookAtOnce,
    turns: () => turns,
    cause: () => cause,
    health: () => health,
    clearHealth() {
      health = { failures: 0, last_error: null }
    },
    taskQueue: drain.taskQueue,
    run,
  }
}

async function finished(wait_ms: number | 'over'): Promise<'again' | 'over'> {
  await wf.condition(wf.allHandlersFinished)
  return wait_ms === 'over' ? 'over' : 'again'
}
