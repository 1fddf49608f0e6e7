// A table file on local disk that is read a row group at a time, in its order. It holds one group, in memory of its
// own, and stops at a file whose rows are not sorted: a merge of such files would silently keep two rows of one key.

import { type FileHandle, open } from 'node:fs/promises'
import type { ParquetFile } from 'parquet-wasm'
import { assert, corrupt, isOperatingError, messageOf, missing, unavailable } from '../../core/errors.js'
import type { LooseRow, RowKey } from '../../projections/tables.js'
import { type GroupColumns, readColumns } from './arrow-memory.js'
import {
  addRun,
  appendNulls,
  appendRuns,
  appendValues,
  type ColumnBuilder,
  type ColumnData,
  compareTexts,
  createColumnBuilder,
  createRuns,
  emptyColumn,
} from './column-data.js'
import { type FileLayout, SCOPE_COLUMN_COUNT, storageOf } from './file-column.js'
import type { Parquet } from './parquet-writer.js'
import { integerAt, rowKeyAt } from './row-decoder.js'

export type ParquetSource = {
  readonly path: string
  /** The next group's columns, in the memory of those before; undefined after the last group. */
  readonly next: () => Promise<GroupColumns | undefined>
  readonly close: () => Promise<void>
}

/** A group of more rows was not written here. */
const GROUP_ROWS_MAX = 65_536

const RUN_VERIFY = 'Run `servo ledger verify`.'

async function readRange(handle: FileHandle, path: string, start: number, end: number): Promise<ArrayBuffer> {
  const bytes = new Uint8Array(end - start)
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at)
    if (bytesRead === 0) throw corrupt(`${path} ends before byte ${end}. ${RUN_VERIFY}`)
    at += bytesRead
  }
  return bytes.buffer
}

/** The four members of a Blob that the reader calls. `fs.openAsBlob` would do, but is experimental and says so on stderr. */
function blobOf(handle: FileHandle, path: string, start: number, end: number, onFailure: (error: unknown) => void): Blob {
  const size = end - start
  const slice = (from = 0, to = size) => blobOf(handle, path, start + from, start + Math.min(to, size), onFailure)
  const arrayBuffer = () =>
    readRange(handle, path, start, end).catch((error: unknown) => {
      onFailure(error)
      throw error
    })
  return { size, type: '', slice, arrayBuffer } as unknown as Blob
}

export function compareRows(layout: FileLayout, left: GroupColumns, leftRow: number, right: GroupColumns, rightRow: number): number {
  for (const place of layout.key) {
    const a = left[place] as ColumnData
    const b = right[place] as ColumnData
    const difference = compareValues(layout, a, leftRow, b, rightRow)
    if (difference !== 0) return difference
  }
  return 0
}

function compareValues(layout: FileLayout, left: ColumnData, leftRow: number, right: ColumnData, rightRow: number): number {
  switch (storageOf(left.column)) {
    case 'text':
      return compareTexts(left, leftRow, right, rightRow)
    case 'word':
      return (left.words[leftRow] as number) - (right.words[rightRow] as number)
    case 'pair':
      return integerAt(layout.table, left, leftRow) - integerAt(layout.table, right, rightRow)
  }
}

/** Key columns of one row, to be compared with. */
export function columnsOfKey(layout: FileLayout, key: RowKey): GroupColumns {
  const columns: (ColumnData | undefined)[] = []
  layout.key.forEach((place, part) => {
    const column = layout.columns[place]
    assert(column !== undefined, `${layout.table} has no column at place ${place}.`)
    const builder = createColumnBuilder(column, 1)
    appendValues(layout.table, builder, [{ [column.name]: key[part] } as unknown as LooseRow], 0, 1)
    columns[place] = builder
  })
  return columns
}

function checkOrder(layout: FileLayout, path: string, columns: GroupColumns, before: GroupColumns | undefined): void {
  const rows = columns[layout.row_version]?.rows ?? 0
  let isSorted = before === undefined || compareRows(layout, before, 0, columns, 0) < 0
  for (let row = 1; row < rows && isSorted; row++) isSorted = compareRows(layout, columns, row - 1, columns, row) < 0
  if (!isSorted) throw corrupt(`The rows of ${path} are not sorted by the key of ${layout.table}. ${RUN_VERIFY}`)
}

/** Names of the wanted columns that the file has: the reader refuses others. */
function namesIn(file: ParquetFile, layout: FileLayout): string[] {
  const group = file.metadata().rowGroup(0)
  const there = new Set(group.columns().map((column) => column.columnPath()[0]))
  const wanted = layout.columns.slice(SCOPE_COLUMN_COUNT)
  return wanted.flatMap(({ name }) => (there.has(name) ? [name] : []))
}

type OpenFile = { readonly parquet: Parquet; readonly layout: FileLayout; readonly file: ParquetFile; readonly names: string[] }

/** Copies a group out of WebAssembly, over the group before it: memory for one group is enough for a file. */
async function readGroup(
  { parquet, layout, file, names }: OpenFile,
  group: number,
  builders: ReadonlyMap<number, ColumnBuilder>,
): Promise<GroupColumns> {
  const table = await file.read({ rowGroups: [group], columns: names, batchSize: GROUP_ROWS_MAX })
  try {
    const batch = table.recordBatch(0)
    if (batch === undefined || table.numBatches !== 1) throw new Error(`row group ${group} has ${table.numBatches} batches`)
    const rows = batch.numRows
    const exported = batch.intoFFI()
    try {
      const columns = readColumns(parquet.wasmMemory().buffer, exported, layout)
      const whole = createRuns(1)
      addRun(whole, 0, 0, rows)
      for (const [place, builder] of builders) {
        emptyColumn(builder)
        const data = columns[place]
        if (data === undefined) appendNulls(builder, rows)
        else appendRuns(builder, [data], whole, rows)
      }
      return layout.columns.map((_column, place) => builders.get(place))
    } finally {
      exported.free()
    }
  } finally {
    table.free()
  }
}

async function openHandle(path: string): Promise<FileHandle> {
  try {
    return await open(path)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw isMissing
      ? missing(`The table file ${path} is not there.`, error)
      : unavailable(`Cannot open ${path}: ${messageOf(error)}.`, error)
  }
}

export async function openSource(parquet: Parquet, layout: FileLayout, path: string): Promise<ParquetSource> {
  const handle = await openHandle(path)
  let failure: unknown
  const explain = (error: unknown) => {
    const cause = failure ?? error
    if (isOperatingError(cause)) return cause
    if (failure !== undefined) return unavailable(`Cannot read ${path}: ${messageOf(failure)}.`, failure)
    return corrupt(`${path} cannot be decoded as a file of ${layout.table}: ${messageOf(error)}. ${RUN_VERIFY}`, error)
  }
  try {
    const { size } = await handle.stat()
    const blob = blobOf(handle, path, 0, size, (error) => {
      failure = error
    })
    const file = await parquet.ParquetFile.fromFile(blob)
    const groups = file.metadata().numRowGroups()
    const opened: OpenFile = { parquet, layout, file, names: groups === 0 ? [] : namesIn(file, layout) }
    const declared = [...layout.columns.entries()].slice(SCOPE_COLUMN_COUNT)
    const builders = new Map(declared.map(([place, column]) => [place, createColumnBuilder(column, 1)]))
    let group = 0
    let last: GroupColumns | undefined
    const next = async (): Promise<GroupColumns | undefined> => {
      if (group === groups) return undefined
      try {
        const columns = await readGroup(opened, group++, builders)
        const rows = columns[layout.row_version]?.rows ?? 0
        if (rows === 0) throw new Error(`row group ${group - 1} has no row`)
        checkOrder(layout, path, columns, last)
        last = columnsOfKey(layout, rowKeyAt(layout, columns as readonly ColumnData[], rows - 1))
        return columns
      } catch (error) {
        throw explain(error)
      }
    }
    const close = async (): Promise<void> => {
      file.free()
      await handle.close()
    }
    return { path, next, close }
  } catch (error) {
    await handle.close()
    throw explain(error)
  }
}
