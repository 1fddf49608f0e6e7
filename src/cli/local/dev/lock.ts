// One `servo dev` a data folder. The lock is a file that names its holder; one whose holder is gone is taken over.

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { UsageError } from '../../exit-code.js'
import { identityOf, isRunning, type ProcessIdentity, processIdentity } from './process-identity.js'

/** In a data folder. */
export const LOCK_FILE = 'dev.pid'

const TRIES_MAX = 10
/** Between making the file and writing into it lie microseconds; one that stays empty is of a process that died there. */
const EMPTY_MS_MAX = 500
const LOOK_AGAIN_MS = 20

/** Answers what gives it back. */
export async function takeLock(file: string, folder: string): Promise<() => void> {
  const mine = JSON.stringify(identityOf(process.pid) ?? { pid: process.pid, began: '', command: '' })
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (isMade(file, mine)) return () => release(file, mine)
    const text = await whatItSays(file)
    const holder = holderIn(text)
    if (holder !== undefined && isRunning(holder)) {
      throw new UsageError(
        `\`servo dev\` runs already on ${folder}, as process ${holder.pid}. Stop it, or give another folder with --data.`,
      )
    }
    if (text !== undefined) takeAway(file, text)
  }
  throw new UsageError(`Others take the lock ${file} again and again. Stop them, or give another folder with --data.`)
}

/** Whether a process that runs holds it. */
export function isHeld(file: string): boolean {
  const holder = holderIn(textOf(file))
  return holder !== undefined && isRunning(holder)
}

/** false: there is one already. */
function isMade(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** undefined: it is gone. */
async function whatItSays(file: string): Promise<string | undefined> {
  const began = performance.now()
  for (;;) {
    const text = textOf(file)
    if (text !== '' || performance.now() - began >= EMPTY_MS_MAX) return text
    await sleep(LOOK_AGAIN_MS)
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function holderIn(text: string | undefined): ProcessIdentity | undefined {
  try {
    return processIdentity.safeParse(JSON.parse(text ?? '')).data
  } catch {
    return undefined
  }
}

/** Under another name first: of two who find the same abandoned lock, the second must not remove the new one of the first. */
function takeAway(file: string, abandoned: string): void {
  const aside = `${file}.${process.pid}`
  try {
    renameSync(file, aside)
    if (textOf(aside) !== abandoned) linkSync(aside, file)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

function release(file: string, mine: string): void {
  if (textOf(file) === mine) rmSync(file, { force: true })
}
