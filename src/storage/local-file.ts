// What the local store asks of the file system beyond reading: whole writes, and fsync of files and folders.
//
// Only fsync is handed to another thread. Measured on ext4, medians of 1,500, a create of 1,500 bytes: its two fsyncs
// 0.54 ms; the whole sequence with every call made in place 0.68 ms; with the two fsyncs on libuv's threads 0.85 to
// 1.1 ms; with every call there (fs/promises) 1.36 ms. Hence a put that is alone calls fsync in place while the disk is
// quick, as nobody else waits for this thread; several at once go to the threads, where one journal commit serves them
// all (1,800 puts a second in tens, against 1,200 one by one). A worker thread of our own would save nothing over that:
// a message to it and back costs as much as the two hand-overs, and it needs a second way to load code.

import { closeSync, fstatSync, fsync, fsyncSync, mkdirSync, openSync, statSync, write, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

const fsyncAsync = promisify(fsync)
const writeAsync = promisify(write)

/** A slower disk is not waited for in place. */
const SYNC_IN_PLACE_MS_MAX = 2
/** Copying this much into the page cache takes 0.1 ms. */
const WRITE_IN_PLACE_BYTES_MAX = 1_024 * 1_024
/** Folders known to be durable; far more than are written to at a time. */
const DURABLE_FOLDERS_MAX = 4_096

// By its members: an error of Node's own is no `instanceof Error` where code runs in a context of its own, as under jest.
export const isFsError = (error: unknown, ...codes: readonly string[]): boolean => codes.includes((error as { code?: string }).code ?? '')
/** What the file system refused, whatever the reason. */
export const isAnyFsError = (error: unknown): boolean => typeof error === 'object' && error !== null && 'syscall' in error

/** `undefined` where the path is not there. */
export function whenThere<Result>(act: () => Result): Result | undefined {
  try {
    return act()
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return undefined
    throw error
  }
}

/** With all that lead to it. Not Node's own way, which tries for ever where a folder that is there says ENOENT (/proc). */
export function makeFolders(path: string): void {
  const make = () => {
    try {
      mkdirSync(path)
    } catch (error) {
      if (!isFsError(error, 'EEXIST') || !statSync(path).isDirectory()) throw error
    }
  }
  try {
    make()
  } catch (error) {
    if (!isFsError(error, 'ENOENT') || path === dirname(path)) throw error
    makeFolders(dirname(path))
    make()
  }
}

export async function writeWhole(file: number, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts) {
    for (let written = 0; written < part.length; ) {
      const rest = part.length - written
      written +=
        rest <= WRITE_IN_PLACE_BYTES_MAX
          ? writeSync(file, part, written, rest)
          : (await writeAsync(file, part, written, WRITE_IN_PLACE_BYTES_MAX, null)).bytesWritten
    }
  }
}

export type Durability = {
  /** Around every write, so that one knows whether it is alone. */
  readonly begin: () => void
  readonly end: () => void
  readonly file: (file: number) => Promise<void>
  /** Returns when every entry that the folder has now is durable, the folder itself included, up to the root. */
  readonly folder: (path: string) => Promise<void>
  /** Returns when the way to this folder is durable, from the root of the file system on. */
  readonly parents: (path: string) => Promise<void>
}

/** Scratch stores promise nothing after a power failure. */
export const NO_DURABILITY: Durability = { begin() {}, end() {}, async file() {}, async folder() {}, async parents() {} }

type RunningSync = { readonly done: Promise<void>; next?: Promise<void> }

export function createDurability(root: string, elapsed: () => number): Durability {
  let writers = 0
  let average_ms = 0
  /** By path, the inode: a folder that was removed and made again is another one. */
  const durable = new Map<string, number>()
  const running = new Map<string, RunningSync>()

  async function syncFile(file: number): Promise<void> {
    if (writers > 1) return fsyncAsync(file)
    const began = elapsed()
    if (average_ms < SYNC_IN_PLACE_MS_MAX) fsyncSync(file)
    else await fsyncAsync(file)
    average_ms += (elapsed() - began - average_ms) / 8
  }

  async function syncFolder(path: string): Promise<void> {
    const file = whenThere(() => openSync(path, 'r'))
    // Nothing was ever in it, or a sweeper has removed it with all that was.
    if (file === undefined) return
    try {
      await syncFile(file)
      const { ino } = fstatSync(file)
      if (path === root || durable.get(path) === ino) return
      // Whoever made this folder may have died before it synced the parent: each process does it once.
      await syncFolder(dirname(path))
      if (durable.size >= DURABLE_FOLDERS_MAX) durable.clear()
      durable.set(path, ino)
    } finally {
      closeSync(file)
    }
  }

  /** Who may not read a folder, or not write to what it is on, has made no entry in it that could be lost. */
  async function syncParents(path: string): Promise<void> {
    for (let below = path, above = dirname(path); above !== below; below = above, above = dirname(above)) {
      let file: number | undefined
      try {
        file = openSync(above, 'r')
        await syncFile(file)
      } catch (error) {
        if (!isFsError(error, 'EACCES', 'EPERM', 'EROFS', 'EINVAL')) throw error
      } finally {
        if (file !== undefined) closeSync(file)
      }
    }
  }

  function beginSync(path: string): Promise<void> {
    const promise = syncFolder(path)
    const end = () => {
      if (sync.next === undefined) running.delete(path)
    }
    const sync: RunningSync = { done: promise.then(end, end) }
    running.set(path, sync)
    return promise
  }

  return {
    begin() {
      writers++
    },
    end() {
      writers--
    },
    file: syncFile,
    parents: syncParents,
    folder(path) {
      const sync = running.get(path)
      if (sync === undefined) return beginSync(path)
      // Only a sync that begins after the caller's link covers it: all who come while one runs share the next.
      sync.next ??= sync.done.then(() => beginSync(path))
      return sync.next
    },
  }
}
