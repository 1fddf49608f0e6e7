// Temporary folders that outlive no process for long: each holds a lock while its process lives, and whoever makes the next
// one removes those whose lock is free. Only their owner may enter them, because they hold rows.

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { TEMPORARY_FOLDER_UNLOCKED_MS } from '../core/limits.js'

/** What lies in it, for the reader of a listing. */
type TemporaryKind = 'cache' | 'merge' | 'rebuild'

export type TemporaryFolder = {
  /** Known before the folder is made. */
  readonly path: string
  /** Makes it, once, after the folders of dead processes were removed. */
  readonly make: () => Promise<void>
  readonly remove: () => Promise<void>
}

/** A spill folder (spill-file.ts) is gone as soon as it was made, unless its process died in between. */
const NAME = /^servo-(cache|merge|rebuild|spill|start)-/
/** Of a folder whose lock is about to be held. A socket that is bound and not listened on yet looks like that of a dead process, so
 *  age alone decides here. */
const START_NAME = 'servo-start-'
/** A Unix socket that its process listens on. The kernel frees it however the process ends, and it tells the living from the
 *  dead across containers that share the folder, where two processes may have the same id. */
const LOCK_NAME = 'lock'
/** What a socket's path may have on every system; in a longer one there is no lock, and age decides. */
const LOCK_PATH_BYTES_MAX = 100

export const OWNER_ONLY = 0o700

export function createTemporaryFolder(kind: TemporaryKind, parent: string = tmpdir()): TemporaryFolder {
  const path = join(parent, `servo-${kind}-${randomBytes(8).toString('hex')}`)
  let making: Promise<Server | undefined> | undefined
  return {
    path,
    async make() {
      making ??= makeLocked(path, parent)
      await making
    },
    async remove() {
      const lock = await making?.catch(() => undefined)
      await rm(path, { recursive: true, force: true })
      lock?.close()
    },
  }
}

async function makeLocked(path: string, parent: string): Promise<Server | undefined> {
  await removeDeadFolders(parent)
  const starting = join(parent, `${START_NAME}${randomBytes(8).toString('hex')}`)
  await mkdir(starting, { mode: OWNER_ONLY })
  const lock = await holdLock(join(starting, LOCK_NAME))
  await rename(starting, path)
  return lock
}

function holdLock(path: string): Promise<Server | undefined> {
  if (Buffer.byteLength(path) > LOCK_PATH_BYTES_MAX) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const lock = createServer((visitor) => visitor.destroy())
    lock.once('error', reject)
    // It must not keep the process alive.
    lock.listen(path, () => resolve(lock.unref()))
  })
}

/** Another process may be doing the same, and folders of other users stay. */
export async function removeDeadFolders(parent: string = tmpdir()): Promise<void> {
  const names = (await readdir(parent).catch(() => [])).filter((name) => NAME.test(name))
  await Promise.all(
    names.map(async (name) => {
      const path = join(parent, name)
      if (await isDead(path)) await rm(path, { recursive: true, force: true }).catch(() => undefined)
    }),
  )
}

async function isDead(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined || stats.uid !== process.getuid?.()) return false
  const lock = basename(path).startsWith(START_NAME) ? 'absent' : await stateOf(join(path, LOCK_NAME))
  if (lock !== 'absent') return lock === 'free'
  // Made a moment ago, or by a version without locks: the newest change in it says whether anybody still works there.
  return Date.now() - (await newestChange(path, stats.mtimeMs)) > TEMPORARY_FOLDER_UNLOCKED_MS
}

/** A process that is stopped or busy still has its lock: only a refusal says that nobody listens. */
function stateOf(path: string): Promise<'held' | 'free' | 'absent'> {
  if (Buffer.byteLength(path) > LOCK_PATH_BYTES_MAX) return Promise.resolve('absent')
  return new Promise((resolve) => {
    const visitor = connect(path, () => resolve('held'))
    visitor.once('connect', () => visitor.destroy())
    visitor.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code === 'ECONNREFUSED' ? 'free' : code === 'ENOENT' || code === 'ENOTSOCK' ? 'absent' : 'held')
    })
  })
}

async function newestChange(folder: string, least: number): Promise<number> {
  const names = await readdir(folder).catch(() => [])
  const times = await Promise.all(names.map(async (name) => (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0))
  return Math.max(least, ...times)
}
