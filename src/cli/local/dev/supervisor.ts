// Processes that are kept running: one that ends by itself is started again, after a moment that grows while it keeps
// ending. They are in groups of their own, so that Ctrl-C reaches this process alone, which ends them in order.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export type Kept = {
  readonly name: string
  readonly pid: () => number | undefined
  /** Ends it with SIGTERM and starts it anew at once, because what it was made of has changed. */
  readonly renew: () => void
  /** SIGTERM, and what is left after the grace SIGKILL. Resolves when it has ended; it is not started again. */
  readonly stop: () => Promise<void>
}

export type Program = {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly log_file: string
}

const AGAIN_FIRST_MS = 250
const AGAIN_LONGEST_MS = 10_000
/** One that ran for this long was well: the next wait is short again. */
const WELL_AFTER_MS = 20_000
/** Longer than any of them takes to end what is under way. */
const STOP_GRACE_MS = 40_000
const LINES_SHOWN = 5

export function keepRunning(program: Program, say: (line: string) => void): Kept {
  const { name, log_file } = program
  const stopping = new AbortController()
  let child: ChildProcess | undefined
  let wait_ms = AGAIN_FIRST_MS
  let isRenewed = false
  const over = run()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const started = performance.now()
      const how = await runOnce()
      if (stopping.signal.aborted) return
      if (isRenewed) {
        isRenewed = false
        continue
      }
      wait_ms = performance.now() - started >= WELL_AFTER_MS ? AGAIN_FIRST_MS : Math.min(wait_ms * 2, AGAIN_LONGEST_MS)
      say(`${name} ended (${how}) and is started again. ${lastLines(log_file)}`)
      await sleep(wait_ms, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  function runOnce(): Promise<string> {
    const log = openSync(log_file, 'a')
    const { command, args, environment } = program
    const running = spawn(command, [...args], { env: environment, stdio: ['ignore', log, log], detached: true })
    closeSync(log)
    child = running
    const kill = () => running.kill('SIGKILL')
    process.once('exit', kill)
    return new Promise<string>((resolve) => {
      running.once('error', (error) => resolve(error.message))
      running.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    }).finally(() => {
      process.removeListener('exit', kill)
      child = undefined
    })
  }

  return {
    name,
    pid: () => child?.pid,
    renew() {
      if (child === undefined) return
      isRenewed = true
      child.kill('SIGTERM')
    },
    async stop() {
      stopping.abort()
      const running = child
      running?.kill('SIGTERM')
      const timer = setTimeout(() => running?.kill('SIGKILL'), STOP_GRACE_MS)
      await over
      clearTimeout(timer)
    },
  }
}

function lastLines(log_file: string): string {
  const lines = readFileSync(log_file, 'utf8').trimEnd().split('\n').slice(-LINES_SHOWN)
  return `Its last words, in ${log_file}:\n${lines.map((line) => `  ${line}`).join('\n')}`
}
