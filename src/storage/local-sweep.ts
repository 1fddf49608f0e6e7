// Removes what no reader needs: generations below the latest, tombstones that are old enough, temporary files and flags
// of processes that died. Numbers below the latest are never linked again, so removing them endangers nobody.
//
// Removing a tombstone lets the numbers begin again, so it must not meet a writer who has seen it. Writers and sweepers
// raise a flag before they look (a writer's is its temporary file, a sweeper's a symbolic link to the object's folder),
// then look for the flags of others: of two that meet, at least one sees the other and leaves. A process that dies
// leaves its flag, which anybody takes down; if it was only paused, it is fenced by that: a writer has no file left to
// link, and a sweeper unlinks by a path through its own symbolic link, which leads nowhere then.

import { lstatSync, readdirSync, rmdirSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { LISTING_WINDOW_LOCAL_MS } from '../core/limits.js'
import { MINUTE_MS, SECOND_MS, stampMs } from '../core/time.js'
import { isFsError, whenThere } from './local-file.js'
import { generationsOf } from './local-generation.js'
import { describeFile } from './local-object.js'
import { generationPath, type ObjectPlace } from './local-path.js'

/** The steps of a sweep, in order (test/crash/local-steps.test.ts kills before each). */
export const SWEEP_STEPS = ['raise-flag', 'look-for-others', 'remove-old', 'remove-tombstone', 'lower-flag'] as const
type SweepStep = (typeof SWEEP_STEPS)[number]

/** A tombstone is needed while a listing may still show what it ends. */
const TOMBSTONE_KEPT_MS = 2 * LISTING_WINDOW_LOCAL_MS
/** Longer than any put takes; a process that was paused for longer is told that its outcome is unknown. */
const FLAG_AGE_MS_MAX = 10 * MINUTE_MS
/** Longer than any call into the file system is under way: the owner that this machine does not know may run in a
 *  container of its own. */
const ABANDONED_AGE_MS = SECOND_MS
/** The latest and the one before it, which a listing may have met. Older ones are found gone by who reads them, who then
 *  looks again. */
const GENERATIONS_KEPT = 2
/** The pointer's generation is the fence of all publishing: its numbers never begin again (LEDGER section 4). */
const KEPT_FOR_EVER = '.manifest.json'

const SWEEPER_FLAG = 'sweep'
export const WRITER_FLAG = 'put'

/** The process id that `unique` begins with. */
const FLAG_OWNER = /-(\d+)-[0-9a-f]+-\d+$/

export type Sweeper = {
  readonly root: string
  readonly temporary: string
  readonly now: () => number
  readonly unique: () => string
  readonly step: (step: SweepStep) => Promise<void>
}

export const flagPath = (temporary: string, place: ObjectPlace, kind: string, unique: string): string =>
  `${temporary}/${place.mark}.${kind}-${unique}`

/** Whether a sweeper may be removing this object's tombstone; `own` is the flag of the writer who asks. */
export const isSwept = (temporary: string, place: ObjectPlace, own: string): boolean =>
  takeDownAbandoned(temporary, own, (flag) => flag.startsWith(`${place.mark}.${SWEEPER_FLAG}-`)) > 0

export const isTombstoneDue = (name: string, creation_time: string, now_ms: number): boolean =>
  !name.endsWith(KEPT_FOR_EVER) && now_ms - stampMs(creation_time) > TOMBSTONE_KEPT_MS

/** Leaves everything as it is where somebody else is at the object: there is always a next time. */
export async function sweepObject(sweeper: Sweeper, place: ObjectPlace): Promise<void> {
  const flag = flagPath(sweeper.temporary, place, SWEEPER_FLAG, sweeper.unique())
  await sweeper.step('raise-flag')
  symlinkSync(resolve(place.folder), flag)
  try {
    await sweeper.step('look-for-others')
    const others = takeDownAbandoned(sweeper.temporary, flag, (other) => other.startsWith(`${place.mark}.`))
    if (others === 0) await removeOld(sweeper, place, flag)
  } finally {
    await sweeper.step('lower-flag')
    whenThere(() => unlinkSync(flag))
  }
}

async function removeOld(sweeper: Sweeper, place: ObjectPlace, flag: string): Promise<void> {
  const generations = generationsOf(place)
  const latest = generations.at(-1)
  if (latest === undefined || latest < 2) return
  const stored = describeFile(generationPath(place, latest))
  // What lies below it may be all that can be read of the object.
  if (stored.damaged === true) return
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

/** Whatever nobody owns any more, of any object. */
export const collectTemporaryFiles = (temporary: string, own: string): void => void takeDownAbandoned(temporary, own, () => true)

/** Takes down the matching flags whose owners are gone, and counts the others. Ages are the file system's own, against
 *  that of the caller's flag, which was raised just now. */
function takeDownAbandoned(temporary: string, own: string, matches: (flag: string) => boolean): number {
  const raised_at = whenThere(() => lstatSync(own))?.mtimeMs
  let others = 0
  for (const flag of readdirSync(temporary)) {
    const path = `${temporary}/${flag}`
    if (path === own || !matches(flag)) continue
    const stats = whenThere(() => lstatSync(path))
    if (stats === undefined) continue
    const age_ms = raised_at === undefined ? 0 : raised_at - stats.mtimeMs
    if (age_ms > FLAG_AGE_MS_MAX || (age_ms > ABANDONED_AGE_MS && !isOwnerRunning(flag))) rmSync(path, { recursive: true, force: true })
    else others++
  }
  return others
}

function isOwnerRunning(flag: string): boolean {
  const process_id = FLAG_OWNER.exec(flag)?.[1]
  if (process_id === undefined) return true
  try {
    process.kill(Number(process_id), 0)
    return true
  } catch (error) {
    return !isFsError(error, 'ESRCH')
  }
}
