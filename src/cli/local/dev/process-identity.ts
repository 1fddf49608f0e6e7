// Which process a number means. Numbers are given again to others, so a process is known by its number, its command line
// and when it began; what is written down of one is compared with what runs now before anything is done to it.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { z } from 'zod'

export const processIdentity = z.object({ pid: z.int().min(1), began: z.string(), command: z.string() })
export type ProcessIdentity = z.output<typeof processIdentity>

/** undefined: there is no such process, or it has ended and only waits to be collected. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  return process.platform === 'linux' ? identityIn('/proc', pid) : fromPs(pid)
}

export function isRunning({ pid, began, command }: ProcessIdentity): boolean {
  const now = identityOf(pid)
  return now !== undefined && now.began === began && now.command === command
}

/** undefined: there is no such process, or it cannot be told. */
export function parentOf(pid: number): number | undefined {
  const text =
    process.platform === 'linux'
      ? statOf('/proc', pid)?.[PARENT]
      : spawnSync('ps', ['-p', String(pid), '-o', 'ppid='], { encoding: 'utf8' }).stdout
  const parent = Number(text)
  return Number.isInteger(parent) && parent > 1 ? parent : undefined
}

/** Of the members of /proc/PID/stat behind the name, which may have spaces and brackets of its own. */
const STATE = 0
const PARENT = 1
const STARTED_TICKS = 19

// Small images for containers have no `ps`.
/** `proc` is /proc, or a folder of the same layout. */
export function identityIn(proc: string, pid: number): ProcessIdentity | undefined {
  const members = statOf(proc, pid)
  const command = textOf(`${proc}/${pid}/cmdline`)
  if (members === undefined || members[STATE] === 'Z' || members[STATE] === 'X') return undefined
  // A process that ends gives up its memory, and its command line with it, before its state says so; and it may end between the
  // two reads. One that replaces its title with nothing still has the zeros of it here.
  if (command === undefined || command === '') return undefined
  return { pid, began: members[STARTED_TICKS] ?? '', command: command.split('\0').join(' ').trimEnd() }
}

function statOf(proc: string, pid: number): readonly string[] | undefined {
  const stat = textOf(`${proc}/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

const LSTART_CHARACTERS = 24

function fromPs(pid: number): ProcessIdentity | undefined {
  const { status, stdout } = spawnSync('ps', ['-ww', '-p', String(pid), '-o', 'lstart=,command='], {
    encoding: 'utf8',
    env: { LC_ALL: 'C' },
  })
  const line = status === 0 ? stdout.trim() : ''
  if (line === '' || line.endsWith('<defunct>')) return undefined
  return { pid, began: line.slice(0, LSTART_CHARACTERS), command: line.slice(LSTART_CHARACTERS).trim() }
}
