// What `servo dev` has started, written down in the data folder for whoever has to end it when `servo dev` itself was
// killed: the guard at once, and the next start where the guard is gone too. There is no other way to leave nothing behind.

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { unavailable } from '../../../core/errors.js'
import { identityOf, isRunning, processIdentity } from './process-identity.js'

const record = z.object({ ...processIdentity.shape, name: z.string(), order: z.int() })
type ProcessRecord = z.output<typeof record>

/** The one that ends the others: whoever finds its record waits for it instead. */
export const GUARD = 'guard'

/** Longer than any of them takes to end what is under way. */
const END_GRACE_MS = 40_000
const KILL_GRACE_MS = 5_000
const LOOK_AGAIN_MS = 25

export type Records = {
  /** `pid` is a child of this process and was started just now. */
  readonly add: (name: string, pid: number | undefined) => void
  readonly remove: (name: string) => void
}

const folderOf = (data_folder: string): string => join(data_folder, 'processes')

export function openRecords(data_folder: string): Records {
  const folder = folderOf(data_folder)
  mkdirSync(folder, { recursive: true })
  const fileOf = (name: string) => join(folder, `${name}.json`)
  let order = 0
  return {
    add(name, pid) {
      // What could not be started has no number, and what has ended already is nobody's concern.
      const identity = pid === undefined ? undefined : identityOf(pid)
      if (identity === undefined) return
      order += 1
      const text = JSON.stringify({ name, order, ...identity } satisfies ProcessRecord)
      writeFileSync(`${fileOf(name)}.new`, text)
      renameSync(`${fileOf(name)}.new`, fileOf(name))
    },
    remove: (name) => rmSync(fileOf(name), { force: true }),
  }
}

type EndOptions = {
  readonly say: (line: string) => void
  readonly grace_ms?: number
  readonly kill_grace_ms?: number
}

/** Ends what is written down and still runs, the last started first: who asks for work ends after who does it. */
export async function endRecorded(data_folder: string, options: EndOptions): Promise<void> {
  for (const each of readRecords(data_folder)) {
    if (each.name !== GUARD) await endOne(each, options)
    rmSync(each.file, { force: true })
  }
}

/** The guard of an earlier run, where one lives, has the first word: two who end the same process would cut short what it
 *  finishes after the first request. */
export async function endLeftOver(data_folder: string, options: EndOptions): Promise<void> {
  const guard = readRecords(data_folder).find(({ name }) => name === GUARD)
  if (guard !== undefined && isRunning(guard)) {
    options.say('An earlier run was killed, and what it had started is still ending: this start waits for it.')
    // It has as long as for all of them, one after the other.
    const { grace_ms = END_GRACE_MS } = options
    if (!(await isOver(guard, grace_ms * 2))) await endOne(guard, { ...options, grace_ms: 0 })
  }
  await endRecorded(data_folder, options)
}

type Found = ProcessRecord & { readonly file: string }

function readRecords(data_folder: string): readonly Found[] {
  const folder = folderOf(data_folder)
  mkdirSync(folder, { recursive: true })
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name): Found[] => {
      const file = join(folder, name)
      const read = record.safeParse(jsonOf(file))
      return read.success ? [{ ...read.data, file }] : []
    })
    .sort((left, right) => right.order - left.order)
}

/** One that is not whole, or has gone meanwhile, names nobody. */
function jsonOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

async function endOne(each: Found, { say, grace_ms = END_GRACE_MS, kill_grace_ms = KILL_GRACE_MS }: EndOptions): Promise<void> {
  // Without a command line there is no telling whose process it is.
  if (each.command === '' || !isRunning(each)) return
  const { name, pid } = each
  say(`The ${name} of an earlier run is still there, as process ${pid}, and is ended.`)
  signalTo(pid, 'SIGTERM')
  if (await isOver(each, grace_ms)) return
  say(`The ${name}, process ${pid}, did not end within ${grace_ms / 1_000} s, and is killed.`)
  killGroup(pid)
  if (await isOver(each, kill_grace_ms)) return
  throw unavailable(`The ${name} of an earlier run, process ${pid}, does not end. End it yourself, then start again.`)
}

async function isOver(each: ProcessRecord, within_ms: number): Promise<boolean> {
  const began = performance.now()
  for (;;) {
    if (!isRunning(each)) return true
    if (performance.now() - began >= within_ms) return false
    await sleep(LOOK_AGAIN_MS)
  }
}

/** With all that it has started itself: each leads a group of its own. */
export function killGroup(pid: number): void {
  if (!signalTo(-pid, 'SIGKILL')) signalTo(pid, 'SIGKILL')
}

/** false: there is nobody to hear it. */
function signalTo(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
