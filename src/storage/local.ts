// The object store in a folder, safe under several processes at once and under SIGKILL. An object is a set of hard links
// `{name}.g{N}`, the highest N wins (LEDGER section 4). A write makes a temporary file durable, links it to the next
// number, which is create-only, and makes the folder durable before it answers. Nobody ever holds a lock.

import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, linkSync, mkdirSync, openSync, unlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import { assert, messageOf, unavailable } from '../core/errors.js'
import { crc32cHex } from '../core/hash.js'
import { WRITE_MS_MAX } from '../core/limits.js'
import { type Clock, MINUTE_MS, stampMs } from '../core/time.js'
import {
  createDurability,
  type Durability,
  isAnyFsError,
  isFsError,
  makeFolders,
  NO_DURABILITY,
  whenThere,
  writeWhole,
} from './local-file.js'
import { latestGeneration, readLatest } from './local-generation.js'
import { createFolderCache, type FolderCache, listPage } from './local-list.js'
import { describeFile, fileParts, headOf, readObject, type StoredHead } from './local-object.js'
import { generationPath, type ObjectPlace, OWN_FOLDER, placeOf } from './local-path.js'
import { createStampClock, type Stamp, type StampClock } from './local-stamp.js'
import {
  collectTemporaryFiles,
  flagPath,
  isSwept,
  isTombstoneDue,
  SWEEP_STEPS,
  type Sweeper,
  sweepObject,
  WRITER_FLAG,
} from './local-sweep.js'
import {
  CREATE,
  type DeleteAnswer,
  type GetAnswer,
  type HeadAnswer,
  type ListAnswer,
  type ObjectMeta,
  type ObjectStore,
  PAGE_SIZE,
  type PutAnswer,
  type PutOptions,
} from './object-store.js'

const WRITE_STEPS = [
  'create-temporary',
  'look',
  'draw-stamp',
  'write',
  'sync-file',
  'make-folder',
  'link',
  'remove-temporary',
  'sync-folder',
] as const

/** In order; a test kills or pauses before each. Without trouble a put takes them all. */
export const LOCAL_PUT_STEPS = [...WRITE_STEPS, 'acknowledge'] as const
/** A delete writes a tombstone, then sweeps what is below it. */
export const LOCAL_DELETE_STEPS = [...WRITE_STEPS, ...SWEEP_STEPS, 'acknowledge'] as const
/** Before all others, for the first write into a store that is not there yet. */
export const LOCAL_MAKE_STEPS = ['make-store', 'sync-parents', 'make-own-folder'] as const
/** `look-again` comes after `look` where that found a tombstone. */
type LocalStep = (typeof LOCAL_DELETE_STEPS)[number] | (typeof LOCAL_MAKE_STEPS)[number] | 'look-again'

type LocalStoreOptions = {
  /** Made by the first write when it is not there: whoever only reads leaves a mistyped place as it is. */
  readonly folder: string
  readonly clock?: Pick<Clock, 'now' | 'elapsed'>
  /** False promises nothing after a power failure: for scratch only. */
  readonly sync?: boolean
  readonly onStep?: (step: LocalStep) => void | Promise<void>
  readonly page_size?: number
}

type Local = Sweeper & {
  readonly stamps: StampClock
  readonly durability: Durability
  readonly cache: FolderCache
  readonly page_size: number
  readonly step: (step: LocalStep) => Promise<void>
  readonly collect: (own_file: string) => void
}

/** An object this old was made durable by its writer, or by the kernel since: what is younger is synced before it is
 *  named to somebody who takes it for the proof that a lost write is durable. */
const SETTLED_AGE_MS = MINUTE_MS
/** Replaced generations that lie about before a put sweeps them. */
const GENERATIONS_BETWEEN_SWEEPS = 8
/** Tombstones swept by one listing: it answers somebody who waits. */
const SWEEPS_A_LISTING = 50
const COLLECT_INTERVAL_MS = 10 * MINUTE_MS
const LINK_TRIES_MAX = 100

const systemTime: Pick<Clock, 'now' | 'elapsed'> = { now: () => Date.now(), elapsed: () => performance.now() }

export function createLocalStore(options: LocalStoreOptions): Required<Omit<ObjectStore, 'now'>> {
  const local = openFolder(options)
  const { root, stamps } = local
  const answering = async <Answer>(act: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await act()
    } catch (error) {
      rethrow(error, root)
    }
  }
  return {
    label: `local:${options.folder}`,
    page_is_snapshot: false,
    same_name_interval_ms: 0,
    put: (name, bytes, put_options) => answering(() => putObject(local, placeOf(root, name), bytes, put_options)),
    get: (name) => answering(() => getObject(stamps, placeOf(root, name))),
    head: (name) => answering(() => headObject(local, placeOf(root, name))),
    list: (prefix, start_after) => answering(() => listObjects(local, prefix, start_after)),
    delete: (name, { if_generation }) => answering(() => deleteObject(local, placeOf(root, name), if_generation)),
    filePath: (name, generation) => generationPath(placeOf(root, name), Number(generation)),
  }
}

function openFolder({ folder, clock = systemTime, sync = true, onStep, page_size = PAGE_SIZE }: LocalStoreOptions): Local {
  const root = resolve(folder)
  const temporary = `${root}/${OWN_FOLDER}/tmp`
  let count = 0
  // Not a matter of the simulation: two processes must never make the same temporary file.
  const process_part = `${process.pid}-${randomBytes(6).toString('hex')}`
  const unique = () => `${process_part}-${count++}`
  let collected_at = Number.NEGATIVE_INFINITY
  return {
    root,
    temporary,
    unique,
    now: clock.now,
    stamps: createStampClock({ folder: `${root}/${OWN_FOLDER}/clock`, temporary, clock, unique }),
    durability: sync ? createDurability(root, clock.elapsed) : NO_DURABILITY,
    cache: createFolderCache(),
    page_size,
    step: async (step) => onStep?.(step),
    collect(own_file) {
      if (clock.elapsed() - collected_at < COLLECT_INTERVAL_MS) return
      collected_at = clock.elapsed()
      collectTemporaryFiles(temporary, own_file)
    },
  }
}

/** The store's own folder comes last: where it is, the way to the store is durable, whoever made it and died. So nobody
 *  else has to look above the store, whose own entries every write makes durable. */
async function makeStore({ root, temporary, durability, step }: Local): Promise<void> {
  if (existsSync(temporary)) return
  await step('make-store')
  makeFolders(root)
  await step('sync-parents')
  await durability.parents(root)
  await step('make-own-folder')
  makeFolders(temporary)
}

/** What the file system refuses (a full disk, a lost mount, missing rights) is no answer of the store. */
function rethrow(error: unknown, root: string): never {
  if (!isAnyFsError(error)) throw error
  throw unavailable(`The folder ${root} could not be used: ${messageOf(error)}. Check its disk space, its rights and its mount.`, error)
}

async function putObject(local: Local, place: ObjectPlace, bytes: Uint8Array, options: PutOptions): Promise<PutAnswer> {
  const { if_generation, meta = {} } = options
  const content = { bytes, size: bytes.length, crc32c: crc32cHex(bytes), meta: { ...meta } }
  const written = await writeGeneration(local, place, if_generation, content)
  if (written.kind !== 'written') {
    return { kind: written.kind === 'throttled' ? 'throttled' : 'precondition_failed', server_time: local.stamps.serverTime() }
  }
  const { generation, stamp, stored } = written
  if (generation > GENERATIONS_BETWEEN_SWEEPS && generation % GENERATIONS_BETWEEN_SWEEPS === 0) await sweepInPassing(local, place)
  await local.step('acknowledge')
  const now_ms = local.stamps.serverTime()
  return {
    kind: 'stored',
    head: headOf(place.name, generation, stored),
    server_time: now_ms,
    late: now_ms - stamp.at_ms > WRITE_MS_MAX,
  }
}

async function deleteObject(local: Local, place: ObjectPlace, if_generation: string): Promise<DeleteAnswer> {
  assert(if_generation !== CREATE, `A delete of ${place.name} names no generation.`)
  const written = await writeGeneration(local, place, if_generation, TOMBSTONE)
  if (written.kind === 'throttled') return { kind: 'throttled' }
  if (written.kind !== 'written') return { kind: written.kind === 'absent' ? 'absent' : 'precondition_failed' }
  await sweepObject(local, place)
  await local.step('acknowledge')
  return { kind: 'deleted' }
}

/** Without steps, and without a word about what the file system refuses: what is left is swept the next time, and a
 *  reader that has no right to remove still gets its listing. */
async function sweepInPassing(local: Local, place: ObjectPlace): Promise<void> {
  try {
    await sweepObject({ ...local, step: async () => undefined }, place)
  } catch (error) {
    if (!isAnyFsError(error)) throw error
  }
}

type Content = {
  readonly bytes: Uint8Array
  readonly size: number
  readonly crc32c: string
  readonly meta: ObjectMeta
  readonly deleted?: true
}
const NO_BYTES = new Uint8Array(0)
const TOMBSTONE: Content = { bytes: NO_BYTES, size: 0, crc32c: crc32cHex(NO_BYTES), meta: {}, deleted: true }

type Written =
  | { readonly kind: 'written'; readonly generation: number; readonly stamp: Stamp; readonly stored: StoredHead }
  | { readonly kind: 'absent' | 'precondition_failed' | 'throttled' }

async function writeGeneration(local: Local, place: ObjectPlace, if_generation: string, content: Content): Promise<Written> {
  await makeStore(local)
  local.durability.begin()
  try {
    const written = await linkGeneration(local, place, if_generation, content)
    if (written.kind === 'absent' || written.kind === 'throttled') return written
    // Also after a lost race: whoever reads the winner now takes it for durable, and its writer may be dead.
    await local.step('sync-folder')
    await local.durability.folder(place.folder)
    return written
  } finally {
    local.durability.end()
  }
}

async function linkGeneration(local: Local, place: ObjectPlace, if_generation: string, content: Content): Promise<Written> {
  const { step, durability } = local
  const temporary = flagPath(local.temporary, place, WRITER_FLAG, local.unique())
  await step('create-temporary')
  // Before the look, for it is also the flag that keeps sweepers away from what is seen now (local-sweep.ts).
  const file = openSync(temporary, 'wx')
  try {
    local.collect(temporary)
    await step('look')
    let latest = await lookAtLatest(place)
    let refusal = refusalOf(latest, if_generation, content)
    if (refusal === undefined && latest.deleted) {
      await step('look-again')
      if (isSwept(local.temporary, place, temporary)) return { kind: 'throttled' }
      // A sweeper that ends before the line above has removed the tombstone that was seen; who comes now sees this flag.
      latest = await lookAtLatest(place)
      refusal = refusalOf(latest, if_generation, content)
    }
    if (refusal !== undefined) return { kind: refusal }
    await step('draw-stamp')
    const stamp = local.stamps.draw()
    const { bytes, ...described } = content
    const stored: StoredHead = { creation_time: stamp.text, ...described }
    await step('write')
    await writeWhole(file, fileParts(stored, bytes))
    await step('sync-file')
    await durability.file(file)
    const generation = latest.generation + 1
    const is_mine = await linkNext(local, temporary, place, generation)
    await step('remove-temporary')
    return is_mine ? { kind: 'written', generation, stamp, stored } : { kind: 'precondition_failed' }
  } finally {
    closeSync(file)
    whenThere(() => unlinkSync(temporary))
  }
}

type Latest = { readonly generation: number; readonly deleted: boolean }

async function lookAtLatest(place: ObjectPlace): Promise<Latest> {
  const generation = latestGeneration(place)
  // No first generation is a tombstone.
  if (generation < 2) return { generation, deleted: false }
  const latest = await readLatest(place, (path, number) => ({ generation: number, deleted: describeFile(path).deleted === true }))
  return latest ?? { generation: 0, deleted: false }
}

function refusalOf({ generation, deleted }: Latest, if_generation: string, content: Content): 'absent' | 'precondition_failed' | undefined {
  const present = deleted ? 0 : generation
  if (content.deleted === true && present === 0) return 'absent'
  return String(present) === if_generation ? undefined : 'precondition_failed'
}

async function linkNext({ step }: Local, temporary: string, place: ObjectPlace, generation: number): Promise<boolean> {
  for (let tries = 0; tries < LINK_TRIES_MAX; tries++) {
    await step('make-folder')
    if (!existsSync(place.folder)) mkdirSync(place.folder, { recursive: true })
    await step('link')
    try {
      linkSync(temporary, generationPath(place, generation))
      return true
    } catch (error) {
      if (isFsError(error, 'EEXIST')) return false
      if (!isFsError(error, 'ENOENT')) throw error
      // Either a sweeper has just removed the empty folder, or this process slept for so long that its file was collected.
      if (!existsSync(temporary)) break
    }
  }
  throw unavailable(`The write of ${place.name} was paused for too long and was given up. Look whether it is there, then try again.`)
}

async function getObject(stamps: StampClock, place: ObjectPlace): Promise<GetAnswer> {
  const server_time = stamps.serverTime()
  const found = await readLatest(place, async (path, generation) => ({ generation, ...(await readObject(path)) }))
  if (found === undefined || found.stored.deleted === true) return { kind: 'absent', server_time }
  return { kind: 'found', head: headOf(place.name, found.generation, found.stored), bytes: found.bytes, server_time }
}

async function headObject(local: Local, place: ObjectPlace): Promise<HeadAnswer> {
  const server_time = local.stamps.serverTime()
  const found = await readLatest(place, (path, generation) => ({ generation, stored: describeFile(path) }))
  if (found === undefined || found.stored.deleted === true) return { kind: 'absent', server_time }
  const head = headOf(place.name, found.generation, found.stored)
  if (server_time - stampMs(head.creation_time) < SETTLED_AGE_MS) await local.durability.folder(place.folder)
  return { kind: 'found', head, server_time }
}

async function listObjects(local: Local, prefix: string, start_after?: string): Promise<ListAnswer> {
  const server_time = local.stamps.serverTime()
  const { root, cache, page_size } = local
  const now_ms = local.now()
  const page = listPage(cache, { root, prefix, start_after, page_size, now_ms, file_system_now_ms: Date.now() })
  const due = page.sweepable.filter(({ name, tombstone_at, has_older }) => has_older || isTombstoneDue(name, tombstone_at, now_ms))
  for (const { name } of due.slice(0, SWEEPS_A_LISTING)) await sweepInPassing(local, placeOf(root, name))
  return { objects: page.objects, server_time, ...(page.next === undefined ? {} : { next: page.next }) }
}
