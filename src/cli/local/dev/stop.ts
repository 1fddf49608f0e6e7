// How `servo dev` is told to stop. The first signal asks for an end in order, during the start too; another one, from a
// person who does not want to wait, ends this process at once, which kills whatever it has started (supervisor.ts).

import { constants } from 'node:os'
import type { Environment } from '../../../bin/config.js'
import { identityOf, parentOf } from './process-identity.js'

export type Stop = {
  readonly signal: AbortSignal
  /** Before it there is nothing to end, and a signal ends the process as it would any other. */
  readonly listen: () => void
}

/** Ctrl-C reaches the whole group of processes, and npm passes on what it gets: one press arrives twice. */
const SAME_PRESS_MS = 1_000
const LOOK_AT_PARENT_MS = 500

export function createStop(environment: Environment, say: (line: string) => void): Stop {
  const controller = new AbortController()
  const { signal } = controller
  let first_at = 0

  const stop = (name: NodeJS.Signals): void => {
    if (!signal.aborted) {
      first_at = performance.now()
      controller.abort()
    } else if (performance.now() - first_at >= SAME_PRESS_MS) {
      say('Stopping at once: everything is killed. The next start goes on from what was written.')
      process.exit(128 + constants.signals[name])
    }
  }

  return {
    signal,
    listen() {
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop)
      surviveTheTerminal()
      if (environment['npm_lifecycle_event'] === 'start') stopWithParent(() => stop('SIGTERM'))
    },
  }
}

/** A terminal that is closed takes what is written to it as a fault, and ending in order takes longer than it does. */
function surviveTheTerminal(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error')
    stream.on('error', () => undefined)
  }
}

/** Of `npm start`, npm is what people see and kill, and nobody else would tell. Between npm and this process may be a shell. */
function stopWithParent(stop: () => void): void {
  const parent = process.ppid
  const isShell = /\bsh -c\b/.test(identityOf(parent)?.command ?? '')
  const npm = (isShell ? parentOf(parent) : undefined) ?? parent
  const timer = setInterval(() => {
    if (process.ppid === parent && isAlive(npm)) return
    clearInterval(timer)
    stop()
  }, LOOK_AT_PARENT_MS)
  timer.unref()
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Somebody else's process is alive too.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
