// Processes that are kept running: one that ends by itself is started again, after a moment that grows while it keeps
// ending. They are in groups of their own, so that Ctrl-C reaches this process alone, which ends them in order; and they are
// written down, for whoever ends them when this process cannot.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { lastLines } from './ready.js'
import { killGroup, type Records } from './records.js'

export type Kept = {
  readonly name: string
  readonly pid: () => number | undefined
  /** Ends it with SIGTERM and starts it anew, because what it was made of has changed. Resolves when the new one is started,
   *  with false where it is stopped instead. One that ends already is not told again: it would not finish what runs in it,
   *  and the new one loads what is there then. */
  readonly renew: () => Promise<boolean>
  /** SIGTERM, and what is left after the grace SIGKILL. Resolves when it has ended; it is not started again. */
  readonly stop: () => Promise<void>
}

type Environment = Readonly<Record<string, string | undefined>>

type Program = {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** A function is asked at each start. */
  readonly environment: Environment | (() => Environment)
  readonly log_file: string
}

type Keeping = { readonly say: (line: string) => void; readonly records: Records; readonly stop_grace_ms?: number }

const AGAIN_FIRST_MS = 250
const AGAIN_LONGEST_MS = 10_000
/** One that ran for this long was well: the next wait is short again. */
const WELL_AFTER_MS = 20_000
/** Longer than any of them takes to end what is under way. */
const STOP_GRACE_MS = 40_000
const LINES_SHOWN = 5

type Renewal = { readonly started: Promise<boolean>; readonly tell: (isStarted: boolean) => void }

export function keepRunning(program: Program, { say, records, stop_grace_ms = STOP_GRACE_MS }: Keeping): Kept {
  const { name } = program
  const stopping = new AbortController()
  let child: ChildProcess | undefined
  /** Of the one that ends, or of the pause before the next one. */
  let renewal: Renewal | undefined
  let pause = new AbortController()
  const over = run()

  async function run(): Promise<void> {
    let wait_ms = AGAIN_FIRST_MS
    let said = ''
    while (!stopping.signal.aborted) {
      const started = performance.now()
      const said_from = statSync(program.log_file, { throwIfNoEntry: false })?.size ?? 0
      child = startOnce(program, records)
      renewal?.tell(true)
      renewal = undefined
      const how = await endOf(child)
      child = undefined
      records.remove(name)
      if (stopping.signal.aborted) break
      if (renewal !== undefined) continue
      wait_ms = performance.now() - started >= WELL_AFTER_MS ? AGAIN_FIRST_MS : Math.min(wait_ms * 2, AGAIN_LONGEST_MS)
      const words = `${name} ended (${how}) and is started again. ${lastWords(program.log_file, said_from)}`
      // What ends for the same reason again and again is told once.
      if (words !== said) say(words)
      said = words
      pause = new AbortController()
      await sleep(wait_ms, undefined, { signal: AbortSignal.any([stopping.signal, pause.signal]) }).catch(() => undefined)
    }
    renewal?.tell(false)
  }

  /** What does not heed SIGTERM is killed, with all that it has started. */
  function end(running: ChildProcess, isTold: boolean): void {
    if (!isTold) running.kill('SIGTERM')
    const timer = setTimeout(() => killChild(running), stop_grace_ms)
    running.once('exit', () => clearTimeout(timer))
  }

  return {
    name,
    pid: () => child?.pid,
    renew() {
      if (stopping.signal.aborted) return Promise.resolve(false)
      if (renewal !== undefined) return renewal.started
      renewal = newRenewal()
      if (child === undefined) pause.abort()
      else end(child, false)
      return renewal.started
    },
    async stop() {
      stopping.abort()
      if (child !== undefined) end(child, renewal !== undefined)
      await over
    },
  }
}

function newRenewal(): Renewal {
  let tell: Renewal['tell'] = () => undefined
  const started = new Promise<boolean>((resolve) => {
    tell = resolve
  })
  return { started, tell }
}

function startOnce({ name, command, args, environment, log_file }: Program, records: Records): ChildProcess {
  const log = openSync(log_file, 'a')
  const env = typeof environment === 'function' ? environment() : environment
  const child = spawn(command, [...args], { env, stdio: ['ignore', log, log], detached: true })
  closeSync(log)
  records.add(name, child.pid)
  const kill = () => killChild(child)
  process.once('exit', kill)
  child.once('exit', () => process.removeListener('exit', kill))
  child.once('error', () => process.removeListener('exit', kill))
  return child
}

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })

/** As long as its end was not seen, its number belongs to nobody else. */
function killChild({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) killGroup(pid)
}

const lastWords = (log_file: string, from: number): string =>
  `Its last words, in ${log_file}:\n${lastLines(log_file, LINES_SHOWN, from)
    .map((line) => `  ${line}`)
    .join('\n')}`
