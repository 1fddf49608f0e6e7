// Table files as plain files on local disk: where the object store has them so, its own; else copies, in a folder that
// several processes may share. It never hands out a file whose checksum it has not compared, and never removes one that
// this process is reading.

import { mkdir, open, readdir, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { corrupt, messageOf, missing, unavailable } from '../core/errors.js'
import { crc32c, crc32cHex, sha256Hex } from '../core/hash.js'
import { type Clock, HOUR_MS, MINUTE_MS } from '../core/time.js'
import type { ObjectStore } from '../storage/object-store.js'
import { OWNER_ONLY } from '../storage/temporary-folder.js'
import type { FileReference } from './table-files.js'

type NamedFile = Pick<FileReference, 'name' | 'bytes' | 'crc32c'>

export type FileCache = {
  /** For what reads it at once. Nothing keeps the file: `hold` does. */
  readonly path: (file: NamedFile) => Promise<string>
  /** The files' paths, in the same order. No copy of them is removed by this process before the release. */
  readonly hold: (files: readonly NamedFile[]) => Promise<HeldFiles>
  /** Where the file lies, or its copy would: nothing is looked for or compared. */
  readonly place: (file: NamedFile) => string
  /** Somebody found that a file is not where it was, or is damaged: it is looked for and compared again when next asked for. */
  readonly forget: (files: readonly NamedFile[]) => void
}

type HeldFiles = { readonly paths: readonly string[]; readonly release: () => void }

type FileCacheOptions = {
  readonly store: Pick<ObjectStore, 'label' | 'get' | 'filePath'>
  /** Made when it is needed; stays empty while the store has plain files itself. */
  readonly folder: string
  /** Makes the folder where it is not there yet. Left out: for its owner alone, because copies of tables hold rows. */
  readonly make_folder?: () => Promise<void>
  /** What the copies may take in all, those in use apart. */
  readonly bytes_max: number
  readonly clock?: Pick<Clock, 'now'>
}

const CHUNK_BYTES = 1_024 * 1_024
/** What of files is read whole at the same time, or one that is larger: a merge asks for all of a table's at once. */
const WHOLE_BYTES_MAX = 16 * 1_024 ** 2
const DOWNLOADS_MAX = 2
/** Eviction goes on until this part is free: else each new file would list the folder again. */
const EVICTED_SHARE = 0.1
/** A copy's time of change says when it was last used, to this precision. */
const TOUCH_INTERVAL_MS = MINUTE_MS
/** A temporary file of this age belongs to a process that is gone. */
const TEMPORARY_AGE_MS = HOUR_MS
const TEMPORARY_ENDING = '.part'
/** Names are forgotten beyond this many, and compared again. */
const KNOWN_MAX = 10_000

type Copies = FileCacheOptions & {
  readonly clock: Pick<Clock, 'now'>
  /** Files whose checksum was compared, or is being, by path. */
  readonly known: Map<string, Promise<string>>
  readonly pins: Map<string, number>
  /** When each copy was last touched. */
  readonly touched: Map<string, number>
  /** What all copies take. Other processes add and remove some, so the folder is listed before any is removed. */
  bytes: number
  temporary_count: number
}

export function createFileCache(options: FileCacheOptions): FileCache {
  const { store, clock = { now: () => Date.now() } } = options
  // Before the folder was listed it may be full.
  const bytes = Number.POSITIVE_INFINITY
  const copies: Copies = { ...options, clock, known: new Map(), pins: new Map(), touched: new Map(), bytes, temporary_count: 0 }
  const { known, pins } = copies
  const inTurn = createTurnstile(WHOLE_BYTES_MAX)
  const placeOf = (file: NamedFile): string => plainPath(store, file) ?? copyPath(options, file)

  function path(file: NamedFile): Promise<string> {
    const place = placeOf(file)
    const found = known.get(place)
    if (found !== undefined) {
      if (copies.touched.has(place)) touch(copies, place)
      return found
    }
    const isPlain = plainPath(store, file) !== undefined
    const looking = inTurn(file.bytes, () => (isPlain ? comparePlain(store, file, place) : findCopy(copies, file, place)))
    if (known.size >= KNOWN_MAX) known.clear()
    known.set(place, looking)
    looking.catch(() => known.delete(place))
    return looking
  }

  return {
    path,
    place: placeOf,
    async hold(files) {
      const places = files.map(placeOf)
      for (const place of places) pins.set(place, (pins.get(place) ?? 0) + 1)
      const release = () => unpin(pins, places.splice(0))
      try {
        return { paths: await Promise.all(files.map(path)), release }
      } catch (error) {
        release()
        throw error
      }
    },
    forget(files) {
      for (const file of files) known.delete(placeOf(file))
    },
  }
}

/** Lets in, in their order, as many as fit into the room together. */
function createTurnstile(room: number): <T>(size: number, run: () => Promise<T>) => Promise<T> {
  const waiting: { readonly size: number; readonly enter: () => void }[] = []
  let taken = 0
  const admit = () => {
    for (let next = waiting[0]; next !== undefined && (taken === 0 || taken + next.size <= room); next = waiting[0]) {
      waiting.shift()
      taken += next.size
      next.enter()
    }
  }
  return async (size, run) => {
    await new Promise<void>((enter) => {
      waiting.push({ size, enter })
      admit()
    })
    try {
      return await run()
    } finally {
      taken -= size
      admit()
    }
  }
}

function unpin(pins: Map<string, number>, places: readonly string[]): void {
  for (const place of places) {
    const count = (pins.get(place) ?? 1) - 1
    if (count === 0) pins.delete(place)
    else pins.set(place, count)
  }
}

/** DuckDB would take these characters of a path for a pattern. */
const PATTERN = /[*?[\]{}]/

/** Table files are created once and never replaced, so they are the first generation. */
function plainPath({ filePath }: Pick<ObjectStore, 'filePath'>, { name }: NamedFile): string | undefined {
  const path = filePath?.(name, '1')
  return path === undefined || PATTERN.test(path) ? undefined : path
}

/** One folder may hold the copies of many workspaces. */
const copyPath = ({ store, folder }: FileCacheOptions, file: NamedFile): string =>
  join(folder, `${sha256Hex(`${store.label}\n${file.name}`).slice(0, 40)}-${file.crc32c}${extname(file.name)}`)

const damaged = ({ name, crc32c }: NamedFile, label: string, found: string): Error =>
  corrupt(`${name} in ${label} has the checksum ${found}, not ${crc32c} as written. Run \`servo ledger verify\`.`)

const gone = ({ name }: NamedFile, label: string): Error =>
  missing(`${name} is not in ${label}, though a revision names it. Read the pointer again: a merge may have replaced it.`)

/** Through the store: on its disk the file carries the object's head as well, between the pages and the footer. */
async function comparePlain(store: Pick<ObjectStore, 'label' | 'get'>, file: NamedFile, path: string): Promise<string> {
  const answer = await store.get(file.name)
  if (answer.kind === 'absent') throw gone(file, store.label)
  const found = crc32cHex(answer.bytes)
  if (found !== file.crc32c) throw damaged(file, store.label, found)
  return path
}

async function checksumOf(path: string): Promise<string | undefined> {
  const file = await ifThere(open(path, 'r'))
  if (file === undefined) return undefined
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let sum = 0; ; ) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES)
      if (bytesRead === 0) return sum.toString(16).padStart(8, '0')
      sum = crc32c(chunk.subarray(0, bytesRead), sum)
    }
  } finally {
    await file.close()
  }
}

const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

async function ifThere<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/** The copy that this or another process made, or a new one. */
async function findCopy(copies: Copies, file: NamedFile, path: string): Promise<string> {
  if ((await checksumOf(path)) !== file.crc32c) await download(copies, file, path)
  touch(copies, path)
  return path
}

const makeOwned = async (folder: string): Promise<void> => void (await mkdir(folder, { recursive: true, mode: OWNER_ONLY }))

async function download(copies: Copies, file: NamedFile, path: string): Promise<void> {
  const { store, folder, make_folder = () => makeOwned(folder) } = copies
  for (let tries = 1; ; tries++) {
    const answer = await store.get(file.name)
    if (answer.kind === 'absent') throw gone(file, store.label)
    const found = crc32cHex(answer.bytes)
    if (found !== file.crc32c) {
      // Once more: the bytes may have been damaged on their way.
      if (tries < DOWNLOADS_MAX) continue
      throw damaged(file, store.label, found)
    }
    await make_folder()
    const temporary = `${path}.${process.pid}-${copies.temporary_count++}${TEMPORARY_ENDING}`
    try {
      await writeFile(temporary, answer.bytes)
      // Whole or not at all: the other processes see the copy only now.
      await rename(temporary, path)
    } catch (error) {
      await ifThere(unlink(temporary))
      throw unavailable(
        `The copy of ${file.name} could not be written to ${folder}: ${messageOf(error)}. Make room, or name another folder.`,
        error,
      )
    }
    copies.bytes += answer.bytes.length
    if (copies.bytes > copies.bytes_max) copies.bytes = await evict(copies, path)
    return
  }
}

/** So that every process sees which copies were used lately. */
function touch({ touched, clock }: Copies, path: string): void {
  const now = clock.now()
  if (now - (touched.get(path) ?? Number.NEGATIVE_INFINITY) < TOUCH_INTERVAL_MS) return
  if (touched.size >= KNOWN_MAX) touched.clear()
  touched.set(path, now)
  // A copy that another process has just removed needs no time of use.
  void utimes(path, now / 1_000, now / 1_000).catch(() => undefined)
}

/** Removes the copies that nobody used for longest; answers what is left. */
async function evict(copies: Copies, newest: string): Promise<number> {
  const { folder, bytes_max, clock, known, pins, touched } = copies
  const found = await Promise.all(
    (await readdir(folder)).map(async (entry) => {
      const path = join(folder, entry)
      return { path, stats: await ifThere(stat(path)) }
    }),
  )
  const files = found.flatMap(({ path, stats }) => (stats?.isFile() ? [{ path, bytes: stats.size, used_at: stats.mtimeMs }] : []))
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const goal = bytes_max * (1 - EVICTED_SHARE)
  if (bytes <= bytes_max) return bytes
  for (const file of files.sort((left, right) => left.used_at - right.used_at)) {
    if (bytes <= goal) break
    const isBeingWritten = file.path.endsWith(TEMPORARY_ENDING) && clock.now() - file.used_at < TEMPORARY_AGE_MS
    if (isBeingWritten || file.path === newest || pins.has(file.path)) continue
    known.delete(file.path)
    touched.delete(file.path)
    await ifThere(unlink(file.path))
    bytes -= file.bytes
  }
  return bytes
}
