// Removes what no reader needs: generations below the latest, tombstones that are old enough, temporary files and flags
// of processes that died. Numbers below the latest are never linked again, so removing them endangers nobody.
//
// Removing a tombstone lets the numbers begin again, so it must not meet a writer who has seen it. Writers and sweepers
// raise a flag before they look (a writer's is its temporary file, a sweeper's a symbolic link to the object's folder),
// then look for the flags of others: of two that meet, at least one sees the other and leaves. A process that dies
// leaves its flag, which anybody takes down by age; if it was only paused, it is fenced: a writer has no file left to
// link, and a sweeper unlinks by a path through its own symbolic link, which leads nowhere then.

import { lstatSync, readdirSync, rmdirSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { LISTING_WINDOW_LOCAL_MS } from '../core/limits.js'
import { MINUTE_MS, stampMs } from '../core/time.js'
import { isFsError, whenThere } from './local-file.js'
import { generationsOf } from './local-generation.js'
import { readStoredHead } from './local-object.js'
import { generationPath, type ObjectPlace } from './local-path.js'

/** The steps of a sweep, in order (test/crash/local-steps.test.ts kills before each). */
export const SWEEP_STEPS = ['raise-flag', 'look-for-others', 'remove-old', 'remove-tombstone', 'lower-flag'] as const
export type SweepStep = (typeof SWEEP_STEPS)[number]

/** A tombstone is needed while a listing may still show what it ends. */
export const TOMBSTONE_KEPT_MS = 2 * LISTING_WINDOW_LOCAL_MS
/** Longer than any put takes; a process that was paused for longer is told that its outcome is unknown. */
const FLAG_AGE_MS_MAX = 10 * MINUTE_MS
/** The latest and the one before it, which a listing may have met. Older ones are found gone by who reads them, who then
 *  looks again. */
const GENERATIONS_KEPT = 2
/** The pointer's generation is the fence of all publishing: its numbers never begin again (LEDGER section 4). */
const KEPT_FOR_EVER = '.manifest.json'

const SWEEPER_FLAG = 'sweep'
export const WRITER_FLAG = 'put'

export type Sweeper = {
  readonly root: string
  readonly temporary: string
  readonly now: () => number
  readonly unique: () => string
  readonly step: (step: SweepStep) => Promise<void>
}

export const flagPath = (temporary: string, place: ObjectPlace, kind: string, unique: string): string =>
  `${temporary}/${place.mark}.${kind}-${unique}`

/** Whether a sweeper may be removing this object's tombstone. */
export const isSwept = (temporary: string, place: ObjectPlace): boolean => {
  const start = `${place.mark}.${SWEEPER_FLAG}-`
  return readdirSync(temporary).some((flag) => flag.startsWith(start))
}

export const isTombstoneDue = (name: string, creation_time: string, now_ms: number): boolean =>
  !name.endsWith(KEPT_FOR_EVER) && now_ms - stampMs(creation_time) > TOMBSTONE_KEPT_MS

/** Leaves everything as it is where somebody else is at the object: there is always a next time. */
export async function sweepObject(sweeper: Sweeper, place: ObjectPlace): Promise<void> {
  const flag = flagPath(sweeper.temporary, place, SWEEPER_FLAG, sweeper.unique())
  await sweeper.step('raise-flag')
  symlinkSync(resolve(place.folder), flag)
  try {
    await sweeper.step('look-for-others')
    const flags = readdirSync(sweeper.temporary).filter((other) => other.startsWith(`${place.mark}.`))
    if (flags.length === 1) await removeOld(sweeper, place, flag)
  } finally {
    await sweeper.step('lower-flag')
    whenThere(() => unlinkSync(flag))
  }
}

async function removeOld(sweeper: Sweeper, place: ObjectPlace, flag: string): Promise<void> {
  const generations = generationsOf(place)
  const latest = generations.at(-1)
  if (latest === undefined || latest < 2) return
  const stored = readStoredHead(generationPath(place, latest))
  const is_tombstone = stored.deleted === true
  const remove = (generation: number) => whenThere(() => unlinkSync(`${flag}/${place.file}.g${generation}`))
  await sweeper.step('remove-old')
  for (const generation of generations.slice(0, is_tombstone ? -1 : -GENERATIONS_KEPT)) {
    // Generation 2 says that there is a history: see local-generation.ts.
    if (generation !== 2) remove(generation)
  }
  if (latest !== 2 || !is_tombstone || !isTombstoneDue(place.name, stored.creation_time, sweeper.now())) return
  await sweeper.step('remove-tombstone')
  remove(latest)
  removeEmptyFolders(sweeper.root, place.folder)
}

/** A writer that is about to link into one of them makes it again. */
function removeEmptyFolders(root: string, folder: string): void {
  for (let empty = folder; empty !== root; empty = dirname(empty)) {
    try {
      rmdirSync(empty)
    } catch (error) {
      if (isFsError(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'EBUSY')) return
      throw error
    }
  }
}

/** Files and flags that were made long before this one belong to nobody any more. Ages are the file system's own. */
export function collectTemporaryFiles(temporary: string, own: string): void {
  const made_at = whenThere(() => lstatSync(own))?.mtimeMs
  if (made_at === undefined) return
  for (const entry of readdirSync(temporary)) {
    const path = `${temporary}/${entry}`
    const stats = whenThere(() => lstatSync(path))
    if (stats !== undefined && made_at - stats.mtimeMs > FLAG_AGE_MS_MAX) whenThere(() => rmSync(path, { recursive: true, force: true }))
  }
}
