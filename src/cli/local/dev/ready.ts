// Waits until a process that was just started answers, and says what it said where it does not.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../../../core/errors.js'

const LOOK_AGAIN_MS = 50
/** A machine that is busy with something else starts a process in ten seconds. */
const WAIT_MS_MAX = 60_000
const LOOK_TIMEOUT_MS = 2_000
const LINES_SHOWN = 8

type Awaited = { readonly url: string; readonly what: string; readonly log_file: string; readonly signal: AbortSignal }

/** Resolves with what it answered. Rejects when it takes too long, and when the signal says that nobody waits any more. */
export async function untilAnswers({ url, what, log_file, signal }: Awaited): Promise<string> {
  const started = performance.now()
  let last = 'nothing listened there'
  while (performance.now() - started < WAIT_MS_MAX) {
    signal.throwIfAborted()
    try {
      const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(LOOK_TIMEOUT_MS)]) })
      last = await response.text()
      if (response.ok) return last
    } catch (error) {
      last = error instanceof Error ? error.message : String(error)
    }
    await sleep(LOOK_AGAIN_MS, undefined, { signal })
  }
  throw unavailable(
    `${what} was not ready at ${url} within ${WAIT_MS_MAX / 1_000} s (${last}). The last lines of ${log_file}:\n${lastLines(log_file, LINES_SHOWN).join('\n')}`,
  )
}

const BYTES_READ = 16 * 1_024

/** Of a log, however long it is, and of what was written behind `from` bytes. */
export function lastLines(file: string, count: number, from = 0): readonly string[] {
  const log = openSync(file, 'r')
  try {
    const { size } = fstatSync(log)
    const bytes = Buffer.alloc(Math.max(0, Math.min(size - from, BYTES_READ)))
    readSync(log, bytes, 0, bytes.length, size - bytes.length)
    return bytes.toString('utf8').trimEnd().split('\n').slice(-count)
  } finally {
    closeSync(log)
  }
}
