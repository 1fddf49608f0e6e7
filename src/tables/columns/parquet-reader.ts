// Row groups of one Parquet file, in any order, any columns of them. It knows where bytes come from as little as what
// the rows mean, and holds the decoded footer and nothing else.

import { readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { ParquetFile, RowGroupMetaData } from 'parquet-wasm'
import { corrupt, isOperatingError, messageOf, missing, unavailable } from '../../core/errors.js'
import { type GroupColumns, readColumns } from './arrow-memory.js'
import { type FileLayout, SCOPE_COLUMN_COUNT } from './file-column.js'
import type { Parquet } from './parquet-writer.js'

/** Where the bytes of a file come from. */
export type FileBytes = { readonly size: number; readonly read: (start: number, end: number) => Promise<ArrayBuffer> }

/** Rows of a group, from `start` up to `end`. */
export type RowRange = { readonly start: number; readonly end: number }

/** After a read that failed every other fails as well: open it anew. */
export type ParquetReader = {
  /** Rows of each row group, none of them empty. */
  readonly group_rows: readonly number[]
  /** Columns of all groups together: what the decoded footer takes grows with them. */
  readonly chunk_count: number
  /** Columns that take so little in a group that they may well say the same in all of it. */
  readonly smallPlaces: (group: number) => readonly number[]
  /** `use` is given these columns, by place, as they lie in WebAssembly memory: they are void when it returns. A column
   *  that the file does not have is absent. Of `rows` alone, the pages that have none of them are not decoded. */
  readonly read: <T>(group: number, places: readonly number[], use: (columns: GroupColumns) => T, rows?: RowRange) => Promise<T>
  readonly close: () => void
}

/** A group of more rows was not written here. */
const GROUP_ROWS_MAX = 65_536

export const RUN_VERIFY = 'Run `servo ledger verify`.'

export const declaredPlaces = ({ columns }: FileLayout): readonly number[] => [...columns.keys()].slice(SCOPE_COLUMN_COUNT)

export async function openHandle(path: string): Promise<FileHandle> {
  try {
    return await open(path)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw isMissing
      ? missing(`The table file ${path} is not there.`, error)
      : unavailable(`Cannot open ${path}: ${messageOf(error)}.`, error)
  }
}

/** Up to here a read from the page cache costs less than handing it to another thread: a row of a group is some ten pages
 *  of 4 KB, one after another. */
const READ_IN_PLACE_BYTES_MAX = 256 * 1_024

export async function readRange(handle: FileHandle, path: string, start: number, end: number): Promise<ArrayBuffer> {
  // Not of a pool: all of its memory is handed over.
  const bytes = Buffer.allocUnsafeSlow(end - start)
  const isSmall = bytes.length <= READ_IN_PLACE_BYTES_MAX
  for (let at = 0; at < bytes.length; ) {
    const left = bytes.length - at
    const count = isSmall ? readSync(handle.fd, bytes, at, left, start + at) : (await handle.read(bytes, at, left, start + at)).bytesRead
    if (count === 0) throw corrupt(`${path} ends before byte ${end}. ${RUN_VERIFY}`)
    at += count
  }
  return bytes.buffer as ArrayBuffer
}

/** The four members of a Blob that the reader calls. `fs.openAsBlob` would do, but is experimental and says so on stderr.
 *  What cannot be read is never answered: a promise that fails, or other bytes than the file's, would end the WebAssembly
 *  module, and the process with it (seen). */
function blobOf(bytes: FileBytes, start: number, end: number, onFailure: (error: unknown) => void): Blob {
  const size = end - start
  const slice = (from = 0, to = size) => blobOf(bytes, start + from, start + Math.min(to, size), onFailure)
  const arrayBuffer = () =>
    new Promise<ArrayBuffer>((resolve) => {
      bytes.read(start, end).then(resolve, onFailure)
    })
  return { size, type: '', slice, arrayBuffer } as unknown as Blob
}

type Groups = {
  readonly rows: readonly number[]
  readonly names: ReadonlySet<string>
  readonly small: readonly (readonly number[])[]
  readonly chunk_count: number
}

/** A dictionary of one text and a page that names it take less; two texts that alternate take more. */
const SMALL_CHUNK_BYTES_MAX = 192

function groupsOf(file: ParquetFile, layout: FileLayout): Groups {
  const metadata = file.metadata()
  const count = metadata.numRowGroups()
  const groups = Array.from({ length: count }, (_, group) => metadata.rowGroup(group))
  const inFile = chunksOf(groups[0]).map(({ name }) => name)
  const names = new Set(inFile)
  const places = inFile.map((name) => layout.columns.findIndex((column) => column.name === name))
  const small = groups.map((group) =>
    chunksOf(group).flatMap(({ bytes }, i) => (bytes <= SMALL_CHUNK_BYTES_MAX ? [places[i] as number] : [])),
  )
  const rows = groups.map((group) => group.numRows())
  for (const group of groups) group.free()
  metadata.free()
  const empty = rows.indexOf(0)
  if (empty >= 0) throw new Error(`row group ${empty} has no row`)
  return { rows, names, small, chunk_count: count * names.size }
}

/** Columns of a group, in the order of the file, which is the same in all of its groups. */
const chunksOf = (group: RowGroupMetaData | undefined): readonly { readonly name: string; readonly bytes: number }[] =>
  (group?.columns() ?? []).map((column) => {
    const chunk = { name: column.columnPath()[0] as string, bytes: column.compressedSize() }
    column.free()
    return chunk
  })

export async function openParquet(parquet: Parquet, layout: FileLayout, path: string, bytes: FileBytes): Promise<ParquetReader> {
  // Remembered for good: what waits for bytes inside of WebAssembly waits for ever, and nobody waits for it.
  let failure: { readonly cause: unknown } | undefined
  const waiting = new Set<(cause: unknown) => void>()
  const fail = (cause: unknown) => {
    failure ??= { cause }
    for (const reject of waiting) reject(cause)
  }
  const orFailure = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (failure !== undefined) throw failure.cause
    let stop: (cause: unknown) => void = () => {}
    const failed = new Promise<never>((_, reject) => (stop = reject))
    waiting.add(stop)
    try {
      return await Promise.race([ask(), failed])
    } finally {
      waiting.delete(stop)
    }
  }
  const explain = (error: unknown) => {
    if (isOperatingError(error)) return error
    if (failure !== undefined) return unavailable(`Cannot read ${path}: ${messageOf(error)}.`, error)
    return corrupt(`${path} cannot be decoded as a file of ${layout.table}: ${messageOf(error)}. ${RUN_VERIFY}`, error)
  }
  try {
    const file = await orFailure(() => parquet.ParquetFile.fromFile(blobOf(bytes, 0, bytes.size, fail)))
    const groups = groupsOf(file, layout)
    return {
      group_rows: groups.rows,
      chunk_count: groups.chunk_count,
      smallPlaces: (group) => groups.small[group] ?? [],
      async read(group, places, use, rows) {
        try {
          return await orFailure(() => readGroup({ parquet, layout, file, groups }, group, places, use, rows))
        } catch (error) {
          throw explain(error)
        }
      },
      close() {
        // A read that waits for ever still has it.
        if (failure === undefined) file.free()
      },
    }
  } catch (error) {
    throw explain(error)
  }
}

type OpenFile = { readonly parquet: Parquet; readonly layout: FileLayout; readonly file: ParquetFile; readonly groups: Groups }

async function readGroup<T>(
  { parquet, layout, file, groups }: OpenFile,
  group: number,
  places: readonly number[],
  use: (columns: GroupColumns) => T,
  rows: RowRange | undefined,
): Promise<T> {
  const wanted = places.map((place) => layout.columns[place]?.name as string)
  // The reader refuses names that the file does not have, and wants at least one.
  const columns = wanted.filter((name) => groups.names.has(name))
  if (columns.length === 0) columns.push(layout.columns[layout.row_version]?.name as string)
  const only = rows === undefined ? {} : { offset: rows.start, limit: rows.end - rows.start }
  const table = await file.read({ rowGroups: [group], columns, batchSize: GROUP_ROWS_MAX, ...only })
  try {
    const batch = table.recordBatch(0)
    if (batch === undefined || table.numBatches !== 1) throw new Error(`row group ${group} has ${table.numBatches} batches`)
    const exported = batch.intoFFI()
    try {
      return use(readColumns(parquet.wasmMemory().buffer, exported, layout, places))
    } finally {
      exported.free()
    }
  } finally {
    table.free()
  }
}
