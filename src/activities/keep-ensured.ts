// Looks after the loops for as long as a process lives: at once, again and again, and soon after a look that failed. A
// Temporal that came back empty says nothing of it, so the looks themselves are what brings its loops back.

import { messageOf } from '../core/errors.js'
import { type Clock, SECOND_MS } from '../core/time.js'

type KeepEnsuredDeps = {
  readonly clock: Pick<Clock, 'sleep'>
  /** The kinds of the loops that were missing, and are started now. */
  readonly ensure: () => Promise<readonly string[]>
  /** For loops that ran already when this process came, or when Temporal did: pokes were lost meanwhile. */
  readonly poke: () => Promise<void>
  readonly log: (message: string) => void
}

/** One listing: this is how long a workspace stands still when its loops are lost under a running process. */
const ENSURE_EVERY_MS = 20 * SECOND_MS
/** A Temporal that does not answer may be back at any moment. */
const AFTER_FAILURE_MS = 2 * SECOND_MS

export function keepEnsured({ clock, ensure, poke, log }: KeepEnsuredDeps): { readonly stop: () => void } {
  let isStopped = false
  let isPoked = false
  let isFailing = false

  async function look(): Promise<void> {
    const started = await ensure()
    for (const line of startedLines(started)) log(line)
    if (!isPoked && !started.includes('workspace')) await poke()
    isPoked = true
    isFailing = false
  }

  async function go(): Promise<void> {
    while (!isStopped) {
      try {
        await look()
        await clock.sleep(ENSURE_EVERY_MS)
      } catch (error) {
        // Once for every time that it fails: the looks go on.
        if (!isFailing && !isStopped) log(`The loops could not be looked after now, and will be again in a moment: ${messageOf(error)}`)
        isFailing = true
        isPoked = false
        await clock.sleep(AFTER_FAILURE_MS)
      }
    }
  }
  void go()
  return {
    stop() {
      isStopped = true
    },
  }
}

/** A line a kind: a Temporal that came back empty has lost thousands of them. */
function startedLines(started: readonly string[]): readonly string[] {
  return [...new Set(started)].map((kind) => {
    const count = started.filter((each) => each === kind).length
    return count === 1 ? `The ${kind} loop was not running, and was started.` : `${count} ${kind} loops were not running, and were started.`
  })
}
