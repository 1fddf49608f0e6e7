// One process of the system: kept running as a supervisor keeps it, and killed, stopped and let go on as chaos wants it.

// A supervisor waits a moment before it starts again what ended by itself.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Records } from '../../src/cli/local/dev/records.js'
import { messageOf } from '../../src/core/errors.js'

export const PART_KINDS = ['worker', 'api', 'automation', 'temporal', 'store'] as const
export type PartKind = (typeof PART_KINDS)[number]

/** Starts it, tells its number at once, and answers how it ended. */
export type Launch = (onSpawn: (pid: number | undefined) => void) => Promise<string>

export type Part = {
  readonly name: string
  readonly kind: PartKind
  /** RUNNING: it was started, and may not answer yet. */
  readonly state: () => 'RUNNING' | 'STOPPED' | 'DOWN'
  readonly start: () => void
  /** SIGKILL; resolves when it is gone, and stays away until it is started. */
  readonly kill: () => Promise<void>
  /** SIGSTOP and SIGCONT. */
  readonly stop: () => void
  readonly goOn: () => void
  readonly isAnswering: () => Promise<boolean>
  /** How it ended when nobody killed it. */
  readonly endings: readonly string[]
}

export type PartOptions = {
  readonly name: string
  readonly kind: PartKind
  /** Says whether it answers. */
  readonly isAnswering: () => Promise<boolean>
  readonly launch: Launch
  readonly records: Records
  readonly say: (line: string) => void
}

/** What ends by itself is started again a moment later. */
const START_AGAIN_MS = 1_000

export function createPart({ name, kind, isAnswering, launch, records, say }: PartOptions): Part {
  let isWanted = false
  let isStopped = false
  let pid: number | undefined
  let running: Promise<void> = Promise.resolve()
  const endings: string[] = []

  function signal(which: NodeJS.Signals): void {
    if (pid === undefined) return
    try {
      process.kill(pid, which)
    } catch {
      // It has ended by itself a moment ago.
    }
  }

  async function keep(): Promise<void> {
    while (isWanted) {
      const how = await launch((spawned) => {
        pid = spawned
        records.add(name, spawned)
        // It was killed before it was there.
        if (!isWanted) signal('SIGKILL')
      }).catch(messageOf)
      pid = undefined
      isStopped = false
      records.remove(name)
      if (!isWanted) return
      endings.push(how)
      say(`${name} ended by itself (${how}), and is started again`)
      await sleep(START_AGAIN_MS)
    }
  }

  return {
    name,
    kind,
    isAnswering,
    endings,
    state: () => (!isWanted ? 'DOWN' : isStopped ? 'STOPPED' : 'RUNNING'),
    start() {
      if (isWanted) return
      isWanted = true
      running = running.then(keep)
    },
    async kill() {
      isWanted = false
      signal('SIGKILL')
      await running
    },
    stop() {
      if (pid === undefined) return
      isStopped = true
      signal('SIGSTOP')
    },
    goOn() {
      isStopped = false
      signal('SIGCONT')
    },
  }
}
