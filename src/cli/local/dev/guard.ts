// Starts the guard, keeps one as long as `servo dev` lives, and lets go of it at the end.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { DataFolder } from './data-folder.js'
import { GUARD, type Records } from './records.js'

const MAIN = fileURLToPath(new URL('./guard-main.js', import.meta.url))

type Guard = {
  /** To be called when everything has ended: it then finds nothing to do, and resolves when it is gone. */
  readonly release: () => Promise<void>
}

/** One that ends at once each time would be started without end. */
const STARTS_MAX = 20

export function startGuard(data: DataFolder, records: Records): Guard {
  let isReleased = false
  let starts = 0
  let guard: ChildProcess
  let ended: Promise<void>

  function start(): void {
    starts += 1
    const log = openSync(data.logFile(GUARD), 'a')
    // In a session of its own: neither Ctrl-C nor the end of the terminal reaches it.
    guard = spawn(process.execPath, [MAIN, data.path], { stdio: ['pipe', log, log], detached: true })
    closeSync(log)
    records.add(GUARD, guard.pid)
    // Its end breaks the pipe, and is told by `exit`.
    guard.stdin?.on('error', () => undefined)
    ended = new Promise((resolve) => {
      const over = () => {
        resolve()
        if (!isReleased && starts < STARTS_MAX) start()
      }
      guard.once('exit', over)
      guard.once('error', over)
    })
  }

  start()
  return {
    async release() {
      isReleased = true
      guard.stdin?.end()
      await ended
      records.remove(GUARD)
    },
  }
}
