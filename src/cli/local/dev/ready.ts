// Waits until a process that was just started answers, and says what it said where it does not.

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../../../core/errors.js'

const LOOK_AGAIN_MS = 50
/** A machine that is busy with something else starts a process in ten seconds. */
const WAIT_MS_MAX = 60_000
const LOOK_TIMEOUT_MS = 2_000
const LINES_SHOWN = 8

export async function untilAnswers(url: string, what: string, log_file: string): Promise<void> {
  const started = performance.now()
  let last = 'nothing listened there'
  while (performance.now() - started < WAIT_MS_MAX) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(LOOK_TIMEOUT_MS) })
      if (response.ok) return
      last = await response.text()
    } catch (error) {
      last = error instanceof Error ? error.message : String(error)
    }
    await sleep(LOOK_AGAIN_MS)
  }
  const lines = readFileSync(log_file, 'utf8').trimEnd().split('\n').slice(-LINES_SHOWN)
  throw unavailable(
    `${what} was not ready at ${url} within ${WAIT_MS_MAX / 1_000} s (${last}). The last lines of ${log_file}:\n${lines.join('\n')}`,
  )
}
