// Whoever starts processes to kill them may be killed itself: a process of its own then ends what is left. It does nothing
// until its input closes, as the guard of `servo dev` does, and ends what is written down at once: nothing has to be finished.

import { spawn } from 'node:child_process'
import { openRecords, type Records } from '../../src/cli/local/dev/records.js'

const RECORDS = new URL('../../dist/cli/local/dev/records.js', import.meta.url).href

const SCRIPT = `
  const { endRecorded } = await import(${JSON.stringify(RECORDS)})
  const end = () => endRecorded(process.argv[1], { say: () => undefined, grace_ms: 0 }).finally(() => process.exit())
  process.stdin.once('close', end)
  process.stdin.once('error', () => process.stdin.destroy())
  process.stdin.resume()
`

export type Guard = {
  /** Of what has to be ended. */
  readonly records: Records
  /** When nothing is left to end; resolves when the guard is gone. */
  readonly release: () => Promise<void>
}

export function startGuard(folder: string): Guard {
  const records = openRecords(folder)
  // In a session of its own: neither Ctrl-C nor the end of the terminal reaches it.
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.stdin.on('error', () => undefined)
  return {
    records,
    async release() {
      child.stdin.end()
      await ended
    },
  }
}
