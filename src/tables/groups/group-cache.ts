// Decoded columns of row groups that were asked for lately, and the footers of their files: within a bound in bytes,
// however large the tables are. A file is open only while somebody reads from it, so that whoever removes it has its room
// at once. It never copies what nobody asked for.

import { unavailable } from '../../core/errors.js'
import type { RowKey } from '../../projections/tables.js'
import type { GroupColumns } from '../columns/arrow-memory.js'
import { addRun, appendRuns, type ColumnData, copyColumn, createColumnBuilder, createRuns, dataBytes } from '../columns/column-data.js'
import { type FileLayout, SCOPE_COLUMN_COUNT } from '../columns/file-column.js'
import { columnsOfKey } from '../columns/key-order.js'
import { openParquet, type ParquetReader, type RowRange } from '../columns/parquet-reader.js'
import { loadParquet } from '../columns/parquet-writer.js'
import { openBytes } from './file-bytes.js'
import { type SameColumns, sameBytes, sameColumns, withSame } from './same-columns.js'

/** A file that may be asked for any column of any group. */
export type GroupFile = {
  readonly layout: FileLayout
  readonly group_rows: readonly number[]
  /** Key columns of the file's first row. */
  readonly first_key: GroupColumns
  /** Key columns of the group's first row, and of every `MARK_ROWS`th after it; at hand where somebody looked lately. */
  readonly marks: (group: number) => GroupColumns | Promise<GroupColumns>
  /** Columns by place, these among them; one without any value in the group is absent. Whoever holds them keeps them. */
  readonly columns: (group: number, places: readonly number[]) => Promise<GroupColumns>
  /** Columns of these rows alone, of which nothing is kept: they are void when `use` returns. */
  readonly read: (group: number, places: readonly number[], rows: RowRange, use: (columns: GroupColumns) => void) => Promise<void>
}

export type FileAt = { readonly path: string; readonly min_key: RowKey }

type GroupCache = {
  /** The files stay open for as long as `run` takes. */
  readonly use: <T>(layout: FileLayout, files: readonly FileAt[], run: (files: readonly GroupFile[]) => Promise<T>) => Promise<T>
  /** Nothing that was read from these files is believed any more. */
  readonly forget: (paths: readonly string[]) => void
  /** Waits for what is running. */
  readonly close: () => Promise<void>
}

/** Footers are kept in WebAssembly, about half a kilobyte for each column of each group. */
const CHUNKS_MAX = 32_768

/** Keys of groups are looked at far more often than the rest of each, and take a fifth of it: they may stay until they
 *  are half of everything; and marks, a sixteenth of them, until they are a quarter. */
const KEY_SHARE_MAX = 0.5
const MARK_SHARE_MAX = 0.25

/** Rows from one mark to the next: decoding so many costs a tenth more than one of them, and the marks of a million rows of
 *  partition status take 4 MB. */
export const MARK_ROWS = 16

/** What a row is found by between others of its group, the keys of every row, or the rest of it. */
type Kind = 'marks' | 'key' | 'rest'
const KINDS: readonly Kind[] = ['marks', 'key', 'rest']

type Entry = {
  readonly file: CachedFile
  readonly group: number
  readonly kind: Kind
  readonly columns: (ColumnData | undefined)[]
  readonly places: Set<number>
  /** Of a group whose marks are known. */
  same: SameColumns
  bytes: number
  loading: Promise<void>
}

type CachedFile = GroupFile & {
  readonly path: string
  readonly reader: ParquetReader
  readonly closeHandle: () => Promise<void>
  readonly entries: Readonly<Record<Kind, Map<number, Entry>>>
  users: number
  is_dropped: boolean
}

export function createGroupCache(bytes_max: number): GroupCache {
  /** In the order of their last use, as are the entries. */
  const files = new Map<string, Promise<CachedFile>>()
  const entries: Readonly<Record<Kind, Set<Entry>>> = { key: new Set(), rest: new Set(), marks: new Set() }
  const bytes: Record<Kind, number> = { marks: 0, key: 0, rest: 0 }
  const running = new Set<Promise<unknown>>()
  let chunks = 0
  let isClosed = false

  function dropEntry(entry: Entry): void {
    const { file, group, kind } = entry
    if (file.entries[kind].get(group) === entry) file.entries[kind].delete(group)
    if (entries[kind].delete(entry)) bytes[kind] -= entry.bytes
  }

  /** Drops what was not used for longest, but never what was read just now. */
  function shrink(kind: Kind, bound: number, newest: Entry): void {
    for (const oldest of entries[kind]) {
      if (bytes[kind] <= bound) return
      if (oldest !== newest) dropEntry(oldest)
    }
  }

  function dropFile(path: string, opening: Promise<CachedFile>): void {
    if (files.get(path) !== opening) return
    files.delete(path)
    void opening.then(
      (file) => {
        chunks -= file.reader.chunk_count
        file.is_dropped = true
        if (file.users === 0) discard(file)
      },
      () => undefined,
    )
  }

  /** With its last user, who would otherwise decode the same marks for each of many keys. */
  function discard(file: CachedFile): void {
    for (const kind of KINDS) for (const entry of [...file.entries[kind].values()]) dropEntry(entry)
    file.reader.close()
  }

  function forget(path: string): void {
    const opening = files.get(path)
    if (opening !== undefined) dropFile(path, opening)
  }

  async function load(entry: Entry, wanted: readonly number[]): Promise<void> {
    const places = wanted.filter((place) => !entry.places.has(place))
    if (places.length === 0) return
    const small = entry.kind === 'marks' ? smallPlaces(entry) : []
    const copies = await entry.file.reader.read(entry.group, [...places, ...small], (columns) => {
      if (entry.kind === 'marks') entry.same = sameColumns(columns, small)
      return places.map((place) => {
        const data = columns[place]
        if (data === undefined || data.nulls === data.rows) return undefined
        return entry.kind === 'marks' ? copyMarks(data) : copyColumn(data)
      })
    })
    let added = sameBytes(entry.same)
    copies.forEach((data, i) => {
      const place = places[i] as number
      entry.columns[place] = data
      entry.places.add(place)
      if (data !== undefined) added += dataBytes(data)
    })
    entry.bytes += added
    // Dropped meanwhile: whoever waits for it has its columns, and nobody counts them.
    if (!entries[entry.kind].has(entry)) return
    bytes[entry.kind] += added
    shrink('marks', bytes_max * MARK_SHARE_MAX, entry)
    shrink('key', bytes_max * KEY_SHARE_MAX - bytes.marks, entry)
    shrink('rest', bytes_max - bytes.marks - bytes.key, entry)
  }

  function entryOf(file: CachedFile, group: number, kind: Kind): Entry {
    const entry = file.entries[kind].get(group) ?? newEntry(file, group, kind)
    if (file.is_dropped && file.users === 0) return entry
    file.entries[kind].set(group, entry)
    entries[kind].delete(entry)
    entries[kind].add(entry)
    return entry
  }

  async function columnsOf(file: CachedFile, group: number, places: readonly number[]): Promise<GroupColumns> {
    const { layout } = file
    const isOfKey = (place: number) => place === layout.row_version || layout.key.includes(place)
    const ofKey = places.filter(isOfKey)
    const others = places.filter((place) => !isOfKey(place))
    if (others.length === 0) return loaded(entryOf(file, group, 'key'), ofKey)
    if (ofKey.length === 0) return loaded(entryOf(file, group, 'rest'), others)
    const [key, rest] = await Promise.all([loaded(entryOf(file, group, 'key'), ofKey), loaded(entryOf(file, group, 'rest'), others)])
    return rest.map((data, place) => data ?? key[place])
  }

  async function readRows(
    file: CachedFile,
    group: number,
    places: readonly number[],
    rows: RowRange,
    use: (columns: GroupColumns) => void,
  ): Promise<void> {
    const { same } = file.entries.marks.get(group) ?? { same: NONE_SAME }
    const unknown = places.filter((place) => !same.has(place))
    const useWhole = (columns: GroupColumns) => use(withSame(columns, same, places, rows.end - rows.start))
    try {
      await file.reader.read(group, unknown, same.size === 0 ? use : useWhole, rows)
    } catch (error) {
      forget(file.path)
      throw error
    }
  }

  const hasAll = (entry: Entry, places: readonly number[]) => places.every((place) => entry.places.has(place))

  /** Not by a promise where it is at hand: a search by halves asks for ten. */
  function marksOf(file: CachedFile, group: number): GroupColumns | Promise<GroupColumns> {
    const entry = entryOf(file, group, 'marks')
    return hasAll(entry, file.layout.key) ? entry.columns : loaded(entry, file.layout.key)
  }

  async function loaded(entry: Entry, places: readonly number[]): Promise<GroupColumns> {
    if (hasAll(entry, places)) return entry.columns
    // One after the other: what somebody else is loading is not read a second time.
    const loading = entry.loading.then(() => load(entry, places))
    entry.loading = loading.catch(() => undefined)
    try {
      await loading
    } catch (error) {
      forget(entry.file.path)
      throw error
    }
    return entry.columns
  }

  async function openFile(layout: FileLayout, { path, min_key }: FileAt): Promise<CachedFile> {
    const bytes = await openBytes(path)
    const reader = await openParquet(loadParquet(), layout, path, bytes).catch(async (error: unknown) => {
      await bytes.close()
      throw error
    })
    const file: CachedFile = {
      layout,
      path,
      reader,
      closeHandle: bytes.close,
      group_rows: reader.group_rows,
      first_key: columnsOfKey(layout, min_key),
      marks: (group) => marksOf(file, group),
      entries: { marks: new Map(), key: new Map(), rest: new Map() },
      users: 0,
      is_dropped: false,
      columns: (group, places) => columnsOf(file, group, places),
      read: (group, places, rows, use) => readRows(file, group, places, rows, use),
    }
    chunks += reader.chunk_count
    return file
  }

  async function acquire(layout: FileLayout, wanted: FileAt): Promise<CachedFile> {
    const { path } = wanted
    const opening = files.get(path) ?? openFile(layout, wanted)
    files.delete(path)
    files.set(path, opening)
    try {
      const file = await opening
      file.users++
      for (const [oldest, other] of files) {
        if (chunks <= CHUNKS_MAX) break
        if (oldest !== path) dropFile(oldest, other)
      }
      return file
    } catch (error) {
      dropFile(path, opening)
      throw error
    }
  }

  async function release(file: CachedFile): Promise<void> {
    file.users--
    if (file.users > 0) return
    if (file.is_dropped) discard(file)
    await file.closeHandle()
  }

  async function useFiles<T>(layout: FileLayout, wanted: readonly FileAt[], run: (files: readonly GroupFile[]) => Promise<T>): Promise<T> {
    const settled = await Promise.allSettled(wanted.map((file) => acquire(layout, file)))
    const held = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    try {
      for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason
      return await run(held)
    } finally {
      await Promise.all(held.map(release))
    }
  }

  return {
    use(layout, wanted, run) {
      if (isClosed) return Promise.reject(unavailable('The table files are closed: this process is ending.'))
      const used = useFiles(layout, wanted, run)
      running.add(used)
      const isOver = () => void running.delete(used)
      used.then(isOver, isOver)
      return used
    },
    forget(paths) {
      for (const path of paths) forget(path)
    },
    async close() {
      isClosed = true
      await Promise.allSettled(running)
      for (const [path, opening] of [...files]) dropFile(path, opening)
    },
  }
}

const newEntry = (file: CachedFile, group: number, kind: Kind): Entry => ({
  file,
  group,
  kind,
  columns: file.layout.columns.map(() => undefined),
  places: new Set(),
  same: NONE_SAME,
  bytes: 0,
  loading: Promise.resolve(),
})

const NONE_SAME: SameColumns = new Map()

const smallPlaces = ({ file: { layout, reader }, group }: Entry): readonly number[] =>
  reader.smallPlaces(group).filter((place) => place >= SCOPE_COLUMN_COUNT && place !== layout.row_version && !layout.key.includes(place))

function copyMarks(data: ColumnData): ColumnData {
  const runs = createRuns(Math.ceil(data.rows / MARK_ROWS))
  for (let row = 0; row < data.rows; row += MARK_ROWS) addRun(runs, 0, row, row + 1)
  const builder = createColumnBuilder(data.column, runs.length)
  appendRuns(builder, [data], runs, runs.length)
  return copyColumn(builder)
}
