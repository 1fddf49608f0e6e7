// Looks after the loops of a workspace again and again. Between the lists of all of them it counts: two calls that cost the same
// for ten loops and for a hundred thousand, where a list takes a call for each page of them.

import { LOOPS_LISTED_EVERY_MS, LOOPS_LISTED_SOON_MS } from '../core/loop-limits.js'
import type { Clock } from '../core/time.js'
import { type EnsureDeps, type EnsuredLoops, ensureLoops, runningLoops, WORKSPACE_LOOPS } from './ensure-loops.js'

export type LoopLooks = {
  readonly look: () => Promise<EnsuredLoops>
  /** Another process has published, and may have ended before it poked the loops of what it changed. */
  readonly noteOtherPublisher: () => void
  /** A poke was given up. */
  readonly noteLostPoke: () => void
}

/** What counts tell. What else a lost poke leaves out of date, such as another cron, is found by the next list. */
type LoopCounts = { readonly running: number; readonly paused: number }

const NOTHING: EnsuredLoops = { started: [], elsewhere: [] }

export function createLoopLooks(deps: EnsureDeps & { readonly clock: Pick<Clock, 'elapsed'> }): LoopLooks {
  const { clock } = deps
  let list_at = clock.elapsed()

  const listWithin = (duration_ms: number): void => {
    list_at = Math.min(list_at, clock.elapsed() + duration_ms)
  }

  async function list(): Promise<EnsuredLoops> {
    // One that fails is made again.
    list_at = clock.elapsed()
    const ensured = await ensureLoops(deps)
    // Loops on their way to another queue are followed until they are there.
    if (ensured.elsewhere.length === 0) list_at = clock.elapsed() + LOOPS_LISTED_EVERY_MS
    return ensured
  }

  return {
    async look() {
      if (clock.elapsed() >= list_at) return list()
      const [counted, expected] = await Promise.all([countLoops(deps), expectedCounts(deps)]).catch((error: unknown) => {
        // Pokes are lost to a Temporal that does not answer.
        listWithin(0)
        throw error
      })
      return counted.running === expected.running && counted.paused === expected.paused ? NOTHING : list()
    },
    noteOtherPublisher: () => listWithin(LOOPS_LISTED_SOON_MS),
    noteLostPoke: () => listWithin(0),
  }
}

async function countLoops({ client, scope }: EnsureDeps): Promise<LoopCounts> {
  const query = runningLoops(scope)
  const [running, paused] = await Promise.all([client.workflow.count(query), client.workflow.count(`${query} AND ServoStatus = "PAUSED"`)])
  return { running: running.count, paused: paused.count }
}

async function expectedCounts({ entities = [] }: EnsureDeps): Promise<LoopCounts> {
  let running = WORKSPACE_LOOPS.length
  let paused = 0
  for (const { readRecent } of entities) {
    for (const { status, is_over } of await readRecent()) {
      if (!is_over) running += 1
      if (status === 'PAUSED') paused += 1
    }
  }
  return { running, paused }
}
