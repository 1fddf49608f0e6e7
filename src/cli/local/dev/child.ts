// A child process of `servo dev`: in a group of its own, so that Ctrl-C reaches `servo dev` alone, which ends its children in order;
// written down, for the guard and the next start; and killed with this process where that ends at once.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, statSync } from 'node:fs'
import { lastLines } from './ready.js'
import { killGroup, type Records } from './records.js'

export type Program = {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly log_file: string
}

export type Child = {
  readonly pid: number | undefined
  /** How it ended, whatever ended it. */
  readonly ended: Promise<string>
  readonly hasEnded: () => boolean
  /** Sends SIGTERM, and after the grace SIGKILL to its whole group. Only the first call signals: a second SIGTERM would end a worker
   *  at once. */
  readonly end: (grace_ms: number) => void
  readonly kill: () => void
  /** The last lines that it has written to its log. */
  readonly lastLines: (count: number) => readonly string[]
  /** For a child that was started with a channel. */
  readonly send: (message: object) => void
  readonly onMessage: (listen: (message: unknown) => void) => void
}

type Starting = { readonly records: Records; readonly record?: string; readonly channel?: boolean }

/** The channel closes with its process, unless another process holds it open. */
const LAST_MESSAGE_MS = 1_000

export function startChild(program: Program, { records, record = program.name, channel = false }: Starting): Child {
  const { command, args, environment, log_file } = program
  const said_from = statSync(log_file, { throwIfNoEntry: false })?.size ?? 0
  const log = openSync(log_file, 'a')
  const stdio = ['ignore', log, log, ...(channel ? ['ipc' as const] : [])] as const
  const child = spawn(command, [...args], { env: environment, stdio: [...stdio], detached: true })
  closeSync(log)
  records.add(record, child.pid)
  const kill = () => killChild(child)
  process.once('exit', kill)
  let hasEnded = false
  let isTold = false
  const ended = new Promise<string>((resolve) => {
    const over = (how: string) => {
      hasEnded = true
      process.removeListener('exit', kill)
      resolve(how)
    }
    // A broken channel is an error too, and is followed by the end of the child.
    child.on('error', (error) => (child.pid === undefined ? over(error.message) : undefined))
    child.once('exit', (code, signal) => {
      const how = signal ?? `exit code ${code}`
      if (!child.connected) return over(how)
      // Its last messages may still be on their way.
      child.once('disconnect', () => over(how))
      setTimeout(() => over(how), LAST_MESSAGE_MS).unref()
    })
  })
  return {
    pid: child.pid,
    ended,
    hasEnded: () => hasEnded,
    end(grace_ms) {
      if (hasEnded || isTold) return
      isTold = true
      child.kill('SIGTERM')
      const timer = setTimeout(kill, grace_ms)
      void ended.then(() => clearTimeout(timer))
    },
    kill,
    lastLines: (count) => lastLines(log_file, count, said_from),
    send(message) {
      // A child that is ending needs no message.
      if (child.connected) child.send(message, () => undefined)
    },
    onMessage: (listen) => void child.on('message', listen),
  }
}

/** Until its end was seen, no other process can have its number. */
function killChild({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) killGroup(pid)
}

const LINES_SHOWN = 5

/** For a line that says that it ended. */
export const lastWords = (child: Child, log_file: string): string =>
  `Its last words, in ${log_file}:\n${child
    .lastLines(LINES_SHOWN)
    .map((line) => `  ${line}`)
    .join('\n')}`
