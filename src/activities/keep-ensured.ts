// Looks after the loops for as long as a session lives: at once, again and again, and soon after a look that failed. A
// Temporal that came back empty says nothing of it, so the looks themselves are what brings its loops back.

import { messageOf } from '../core/errors.js'
import { type Clock, SECOND_MS } from '../core/time.js'

type KeepEnsuredDeps = {
  /** Its sleep ends when `closed` is aborted. */
  readonly clock: Pick<Clock, 'sleep'>
  readonly closed: AbortSignal
  /** The kinds of the loops that were missing, and are started now; and whether some are still on their way to another queue. */
  readonly ensure: () => Promise<{ readonly started: readonly string[]; readonly is_moving: boolean }>
  /** For loops that ran already when this process came, or when Temporal did: pokes were lost meanwhile. */
  readonly poke: () => Promise<void>
  readonly log: (message: string) => void
  /** Called after each look, with the error of one that failed. */
  readonly onLooked?: (error: unknown) => void
}

/** One listing: this is how long a workspace stands still when its loops are lost under a running process. */
const ENSURE_EVERY_MS = 20 * SECOND_MS
/** While loops move to another task queue: an older process may have taken them back meanwhile. */
const WHILE_MOVING_MS = 3 * SECOND_MS
/** A Temporal that does not answer may be back at any moment. */
const AFTER_FAILURE_FIRST_MS = 2 * SECOND_MS
const AFTER_FAILURE_LONGEST_MS = 10 * SECOND_MS

/** Resolves when it has ended. */
export async function keepEnsured({ clock, closed, ensure, poke, log, onLooked }: KeepEnsuredDeps): Promise<void> {
  let isPoked = false
  /** Looks that failed in a row. */
  let failures = 0

  /** How long to wait after it. */
  async function look(): Promise<number> {
    const { started, is_moving } = await ensure()
    for (const line of startedLines(started)) log(line)
    if (!isPoked && !started.includes('workspace')) await poke()
    isPoked = true
    failures = 0
    return is_moving ? WHILE_MOVING_MS : ENSURE_EVERY_MS
  }

  while (!closed.aborted) {
    try {
      const wait_ms = await look()
      onLooked?.(undefined)
      await clock.sleep(wait_ms)
    } catch (error) {
      if (closed.aborted) return
      // Once for every time that it fails: the looks go on.
      if (failures === 0) log(`The loops could not be looked after now, and will be again in a moment: ${messageOf(error)}`)
      onLooked?.(error)
      isPoked = false
      await clock.sleep(Math.min(AFTER_FAILURE_FIRST_MS * 2 ** failures, AFTER_FAILURE_LONGEST_MS))
      failures += 1
    }
  }
}

/** A line a kind: a Temporal that came back empty has lost thousands of them. */
function startedLines(started: readonly string[]): readonly string[] {
  return [...new Set(started)].map((kind) => {
    const count = started.filter((each) => each === kind).length
    return count === 1 ? `The ${kind} loop was not running, and was started.` : `${count} ${kind} loops were not running, and were started.`
  })
}
