// A listing of the local store: opens folders in the order of the names that they can hold, and stops when the page is
// full. Only the folders on the way and those that the page needs are read, each once while it does not change.

import { readdirSync, statSync } from 'node:fs'
import { firstIndex } from '../core/sorted.js'
import { isFsError, whenThere } from './local-file.js'
import { describeFile, headOf } from './local-object.js'
import { bucketStart, componentOf, folderOf, isBucket, OWN_FOLDER, parseGenerationFile } from './local-path.js'
import type { ObjectHead } from './object-store.js'

/** What a folder says of one object. Heads are read when a page shows them, and kept: a generation never changes. */
type Entry = {
  readonly name: string
  readonly generation: number
  readonly count: number
  readonly path: string
  head?: ObjectHead | Tombstone | undefined
}
type Tombstone = { readonly deleted_at: string }
type Folder = {
  readonly stamp: string
  /** Whether the folder had been still for long enough that a later change must show in its time. */
  readonly is_settled: boolean
  checked_at: number
  /** By name. */
  readonly entries: readonly Entry[]
  readonly folders: readonly string[]
}

/** A folder that is still to be read, and how all names in it begin. */
type Pending = { readonly path: string; readonly base: string; readonly start: string }

export type FolderCache = { readonly folders: Map<string, Folder>; entries: number }
export const createFolderCache = (): FolderCache => ({ folders: new Map(), entries: 0 })

type Page = {
  readonly objects: readonly ObjectHead[]
  readonly next?: string
  /** Names whose old generations can go. */
  readonly sweepable: readonly SweepableName[]
}
type SweepableName = { readonly name: string; readonly tombstone_at: string; readonly has_older: boolean }

type ListRequest = {
  readonly root: string
  readonly prefix: string
  readonly start_after: string | undefined
  readonly page_size: number
  readonly now_ms: number
  /** Epoch milliseconds of the machine, whose clock the file system uses. */
  readonly file_system_now_ms: number
}

/** About 30 MB of heads: seven minutes of 120 segments a second. */
const CACHED_ENTRIES_MAX = 50_000
/** Folder times have the grain of the kernel's tick, 10 ms at most. */
const SETTLED_MS = 100
/** A busy turn lists its open minutes every ten seconds, and no minute again once it is closed: what nobody asked for within this time
 *  waits for nobody. Below the age at which a tombstone goes, so that a name that was seen and begins again cannot be taken for the old one. */
const UNUSED_KEPT_MS = 60_000

export function listPage(cache: FolderCache, request: ListRequest): Page {
  const { root, prefix, page_size } = request
  forgetUnused(cache, request.now_ms)
  const base = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  // No object has an empty part in its name.
  const pending: Pending[] = `/${base}`.includes('//') ? [] : [{ path: folderOf(root, base), base, start: base }]
  const found: Entry[] = []
  const sweepable: SweepableName[] = []
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (found.length > page_size) {
      found.sort(byName)
      // One more than a page, so that the last page says that it is the last.
      if ((found[page_size] as Entry).name < next.start) break
    }
    const folder = readFolder(cache, next, request)
    if (folder === undefined) continue
    pushPending(pending, next, folder, request)
    pushPresent(found, folder, request, sweepable)
  }
  found.sort(byName)
  const heads = found.slice(0, page_size).map(headOfEntry)
  const objects = heads.filter((head): head is ObjectHead => head !== undefined && !('deleted_at' in head))
  return { objects, sweepable, ...(found.length > page_size ? { next: (found[page_size - 1] as Entry).name } : {}) }
}

/** Ascending from the end, so that the next one is popped. */
function pushPending(pending: Pending[], parent: Pending, folder: Folder, { prefix, start_after }: ListRequest): void {
  let pushed = false
  for (const entry of folder.folders) {
    const child = childOf(parent, entry)
    if (child === undefined) continue
    if (!child.start.startsWith(prefix) && !prefix.startsWith(child.start)) continue
    if (start_after !== undefined && start_after >= child.start && !start_after.startsWith(child.start)) continue
    pending.push(child)
    pushed = true
  }
  if (pushed) pending.sort((left, right) => (left.start < right.start ? 1 : left.start > right.start ? -1 : 0))
}

function childOf(parent: Pending, entry: string): Pending | undefined {
  const path = `${parent.path}/${entry}`
  if (isBucket(entry)) return { path, base: parent.base, start: parent.start + bucketStart(entry) }
  const component = componentOf(entry)
  if (component === undefined) return undefined
  const base = `${parent.base}${component}/`
  return { path, base, start: base }
}

/** Those that the page may show. An object with one generation is there without a look into its file. */
function pushPresent(found: Entry[], folder: Folder, request: ListRequest, sweepable: SweepableName[]): void {
  const { prefix, start_after, page_size } = request
  const { entries } = folder
  let left = page_size + 1
  const first = start_after === undefined ? 0 : firstIndex(entries, ({ name }) => name > start_after)
  for (let index = first; index < entries.length && left > 0; index++) {
    const entry = entries[index] as Entry
    if (!entry.name.startsWith(prefix)) continue
    const head = entry.generation > 1 ? headOfEntry(entry) : undefined
    if (head !== undefined && 'deleted_at' in head) {
      sweepable.push({ name: entry.name, tombstone_at: head.deleted_at, has_older: entry.count > 1 })
      continue
    }
    found.push(entry)
    left--
  }
}

/** `undefined` when it was swept away since the folder was read: then it is gone, or was replaced after the listing began. */
function headOfEntry(entry: Entry): ObjectHead | Tombstone | undefined {
  if (entry.head !== undefined) return entry.head
  const head = whenThere(() => {
    const stored = describeFile(entry.path)
    return stored.deleted === true ? { deleted_at: stored.creation_time } : headOf(entry.name, entry.generation, stored)
  })
  // A damaged file is looked at each time: somebody may restore it, which does not change its folder.
  if (head === undefined || 'deleted_at' in head || head.damaged !== true) entry.head = head
  return head
}

function readFolder(cache: FolderCache, pending: Pending, request: ListRequest): Folder | undefined {
  const { path } = pending
  const cached = cache.folders.get(path)
  // The time is taken before the entries are read: a change in between makes the next look read them again.
  const stats = whenThere(() => statSync(path, { bigint: true }))
  if (stats === undefined || !stats.isDirectory()) {
    forget(cache, path)
    return undefined
  }
  const stamp = `${stats.ino}-${stats.mtimeNs}`
  const is_current = cached !== undefined && isInUse(cached, request.now_ms)
  if (is_current && cached.is_settled && cached.stamp === stamp) {
    cached.checked_at = request.now_ms
    cache.folders.delete(path)
    cache.folders.set(path, cached)
    return cached
  }
  const entries = readEntries(path)
  if (entries === undefined) return undefined
  const is_settled = request.file_system_now_ms - Number(stats.mtimeMs) > SETTLED_MS
  const folder = parseFolder(pending, entries, is_current ? cached : undefined, { stamp, is_settled, checked_at: request.now_ms })
  forget(cache, path)
  remember(cache, path, folder)
  return folder
}

function readEntries(path: string): string[] | undefined {
  try {
    return readdirSync(path)
  } catch (error) {
    if (isFsError(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

function parseFolder(
  { path, base }: Pending,
  names: readonly string[],
  former: Folder | undefined,
  state: Pick<Folder, 'stamp' | 'is_settled' | 'checked_at'>,
): Folder {
  const folders: string[] = []
  const latest = new Map<string, { generation: number; count: number }>()
  for (const name of names) {
    const parsed = parseGenerationFile(name)
    if (parsed === undefined) {
      if (name !== OWN_FOLDER) folders.push(name)
      continue
    }
    const other = latest.get(parsed.file)
    if (other === undefined) latest.set(parsed.file, { generation: parsed.generation, count: 1 })
    else {
      other.count++
      other.generation = Math.max(other.generation, parsed.generation)
    }
  }
  const known = new Map(former?.entries.map((entry) => [entry.path, entry]))
  const entries: Entry[] = []
  for (const [file, { generation, count }] of latest) {
    const entry_path = `${path}/${file}.g${generation}`
    const entry = known.get(entry_path)
    const component = componentOf(file)
    if (component === undefined) continue
    entries.push(entry?.count === count ? entry : { name: base + component, generation, count, path: entry_path })
  }
  return { ...state, folders, entries: entries.sort(byName) }
}

const byName = (left: Entry, right: Entry): number => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0)

function remember(cache: FolderCache, path: string, folder: Folder): void {
  cache.folders.set(path, folder)
  cache.entries += folder.entries.length + 1
  // The least recently used first; the one that was just read stays even when it alone is over the bound.
  for (const oldest of cache.folders.keys()) {
    if (cache.entries <= CACHED_ENTRIES_MAX || oldest === path) return
    forget(cache, oldest)
  }
}

/** A clock that was put back says nothing of how long ago something was. */
const isInUse = ({ checked_at }: Folder, now_ms: number): boolean => now_ms >= checked_at && now_ms - checked_at < UNUSED_KEPT_MS

/** The least recently used come first, so that the first that is in use is the last to look at. */
function forgetUnused(cache: FolderCache, now_ms: number): void {
  for (const [path, folder] of cache.folders) {
    if (isInUse(folder, now_ms)) return
    forget(cache, path)
  }
}

function forget(cache: FolderCache, path: string): void {
  const folder = cache.folders.get(path)
  if (folder === undefined) return
  cache.folders.delete(path)
  cache.entries -= folder.entries.length + 1
}
