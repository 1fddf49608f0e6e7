// Merges sorted table files on columns, row group by row group: only keys and versions are looked at, all else is
// copied as it lies. It holds one group of each file that has been reached and never a whole file.

import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert, corrupt } from '../core/errors.js'
import type { LooseRow, RowKey, TableName } from '../projections/tables.js'
import { createTemporaryFolder } from '../storage/temporary-folder.js'
import type { GroupColumns } from './columns/arrow-memory.js'
import { createScratch } from './columns/arrow-message.js'
import { addRun, type ColumnData, createRuns, type Runs } from './columns/column-data.js'
import { FILE_LAYOUTS, type FileLayout, type FileScope } from './columns/file-column.js'
import { columnsOfKey, compareRows } from './columns/key-order.js'
import { openSource, type ParquetSource } from './columns/parquet-source.js'
import { compressionOf, createFileWriter, type FileWriter, loadParquet, type Parquet } from './columns/parquet-writer.js'
import { decodeColumns, integerAt } from './columns/row-decoder.js'
import { appendSources, createRowGroup, emptyRowGroup, isFull, ROW_GROUP_ROWS, type RowGroup, rowCount } from './columns/row-group.js'
import { type IsKept, keptBy } from './kept-rows.js'
import type { EncodedFile, MergeOptions } from './table-files.js'

/** A file on local disk. With its smallest key it is opened only when the merge gets there. */
export type MergeSource = { readonly path: string; readonly min_key?: RowKey }

type Cursor = {
  readonly place: number
  readonly file: MergeSource
  source: ParquetSource | undefined
  /** Until the file is opened: one row, of which only the key is there. */
  columns: GroupColumns
  row: number
  rows: number
  is_loaded: boolean
}

const versionAt = (layout: FileLayout, { columns, row }: Cursor): number =>
  integerAt(layout.table, columns[layout.row_version] as ColumnData, row)

const compareHeads = (layout: FileLayout, left: Cursor, right: Cursor): number =>
  compareRows(layout, left.columns, left.row, right.columns, right.row)

/** By key; of one key first the file that must still be opened, then the highest version, which is the one that stays. */
function isBefore(layout: FileLayout, left: Cursor, right: Cursor): boolean {
  const difference = compareHeads(layout, left, right)
  if (difference !== 0) return difference < 0
  if (left.is_loaded !== right.is_loaded) return !left.is_loaded
  const versions = left.is_loaded ? versionAt(layout, right) - versionAt(layout, left) : 0
  return versions === 0 ? left.place < right.place : versions < 0
}

/** The first place from this one on whose cursor does not come before: next to it as a rule, and else by halves, so that a row
 *  of a thousand files costs ten looks and not a thousand. */
function placeFor(layout: FileLayout, queue: readonly Cursor[], cursor: Cursor, from: number): number {
  let low = from
  let high = queue.length
  for (let middle = low; low < high; middle = (low + high) >>> 1) {
    if (isBefore(layout, queue[middle] as Cursor, cursor)) low = middle + 1
    else high = middle
  }
  return low
}

/** Puts the cursor where it belongs in a queue that is sorted. */
function enqueue(layout: FileLayout, queue: Cursor[], cursor: Cursor): void {
  queue.splice(placeFor(layout, queue, cursor, 0), 0, cursor)
}

/** The first row of the head that does not come before the next file's row: in doubling steps, then by halves. */
function endOfRun(layout: FileLayout, head: Cursor, next: Cursor): number {
  let low = head.row
  let step = 1
  while (low + step <= head.rows && compareRows(layout, head.columns, low + step - 1, next.columns, next.row) < 0) {
    low += step
    step *= 2
  }
  let high = Math.min(low + step - 1, head.rows)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareRows(layout, head.columns, middle, next.columns, next.row) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Moves the cursor at that place, which alone is out of order, on to its row; out of the queue when its group ends. */
function advance(layout: FileLayout, queue: Cursor[], from: number, row: number): void {
  const cursor = queue[from]
  assert(cursor !== undefined, `A merge of ${layout.table} advanced a file that it had finished.`)
  cursor.row = row
  const place = isUsedUp(cursor) ? queue.length : placeFor(layout, queue, cursor, from + 1)
  queue.copyWithin(from, from + 1, place)
  if (isUsedUp(cursor)) queue.length--
  else queue[place - 1] = cursor
}

const isUsedUp = (cursor: Cursor): boolean => cursor.row === cursor.rows

/** Adds the rows from the head's on that are kept, at most `limit`; says how many, and which row comes next. */
function addKept(runs: Runs, head: Cursor, end: number, limit: number, isKept: IsKept | undefined): readonly [number, number] {
  if (isKept === undefined) {
    const stop = Math.min(end, head.row + limit)
    addRun(runs, head.place, head.row, stop)
    return [stop - head.row, stop]
  }
  let count = 0
  let row = head.row
  for (; row < end && count < limit; row++) {
    if (!isKept(head.columns, row)) continue
    addRun(runs, head.place, row, row + 1)
    count++
  }
  return [count, row]
}

/** As many rows of the result as can be told from the groups in memory, at most `limit`; says how many. */
function takeRuns(layout: FileLayout, queue: Cursor[], limit: number, isKept: IsKept | undefined, runs: Runs): number {
  runs.length = 0
  let count = 0
  for (let isComplete = true; isComplete && count < limit; ) {
    const head = queue[0]
    if (head === undefined || !head.is_loaded) break
    const next = queue[1]
    let end = next === undefined ? head.rows : endOfRun(layout, head, next)
    if (end === head.row) {
      end++
      // The head has the highest version of its key: the others' rows are older, and go.
      for (let older = queue[1]; older !== undefined && compareHeads(layout, head, older) === 0; older = queue[1]) {
        advance(layout, queue, 1, older.row + 1)
        if (isUsedUp(older)) isComplete = false
      }
    }
    const [added, row] = addKept(runs, head, end, limit - count, isKept)
    count += added
    advance(layout, queue, 0, row)
    if (isUsedUp(head)) isComplete = false
  }
  return count
}

/** The cursor's next group, or its first; false when there is none. */
async function loadNext(parquet: Parquet, layout: FileLayout, cursor: Cursor): Promise<boolean> {
  const { path, min_key: minKey } = cursor.file
  const isFirst = cursor.source === undefined
  cursor.source ??= await openSource(parquet, layout, path)
  const columns = await cursor.source.next()
  // A file was not opened while the merge was below its smallest key: a wrong one would put rows out of order.
  if (isFirst && minKey !== undefined && (columns === undefined || compareRows(layout, cursor.columns, 0, columns, 0) !== 0)) {
    throw corrupt(`${path} does not begin with the key ${minKey.join(', ')} that it is listed with. Run \`servo ledger verify\`.`)
  }
  cursor.columns = columns ?? []
  cursor.row = 0
  cursor.rows = columns?.[layout.row_version]?.rows ?? 0
  cursor.is_loaded = true
  if (cursor.rows > 0) return true
  await closeCursor(cursor)
  return false
}

async function closeCursor(cursor: Cursor): Promise<void> {
  const { source } = cursor
  cursor.source = undefined
  cursor.columns = []
  await source?.close()
}

const createCursor = (layout: FileLayout, file: MergeSource, place: number): Cursor => ({
  place,
  file,
  source: undefined,
  columns: file.min_key === undefined ? [] : columnsOfKey(layout, file.min_key),
  row: 0,
  rows: 1,
  is_loaded: false,
})

/** Brings in what the next step needs: files at whose first key the merge stands, and the next groups of the others. */
async function loadWanted(parquet: Parquet, layout: FileLayout, cursors: readonly Cursor[], queue: Cursor[]): Promise<void> {
  for (const cursor of cursors) {
    if (cursor.source === undefined || !isUsedUp(cursor)) continue
    if (await loadNext(parquet, layout, cursor)) enqueue(layout, queue, cursor)
  }
  for (let head = queue[0]; head !== undefined && !head.is_loaded; head = queue[0]) {
    queue.shift()
    if (await loadNext(parquet, layout, head)) enqueue(layout, queue, head)
  }
}

type MergeJob = {
  readonly table: TableName
  readonly scope: FileScope
  readonly sources: readonly MergeSource[]
  readonly options: MergeOptions
}

/** Groups of the result, one after another in the same memory. A group never spans two files of the result. */
async function* mergeGroups(parquet: Parquet, { table, scope, sources, options }: MergeJob): AsyncGenerator<RowGroup> {
  const layout = FILE_LAYOUTS[table]
  const isKept = keptBy(layout, options)
  const cursors = sources.map((file, place) => createCursor(layout, file, place))
  const queue: Cursor[] = []
  const group = createRowGroup(layout, scope, ROW_GROUP_ROWS)
  const runs = createRuns(ROW_GROUP_ROWS)
  let fileRows = 0
  try {
    for (const cursor of cursors) {
      if (cursor.file.min_key !== undefined || (await loadNext(parquet, layout, cursor))) enqueue(layout, queue, cursor)
    }
    for (;;) {
      await loadWanted(parquet, layout, cursors, queue)
      if (queue.length === 0) break
      const room = Math.min(ROW_GROUP_ROWS, options.rows_per_file - fileRows) - rowCount(group)
      const count = takeRuns(layout, queue, room, isKept, runs)
      appendSources(
        group,
        cursors.map(({ columns }) => columns),
        runs,
        count,
      )
      const isFileFull = fileRows + rowCount(group) === options.rows_per_file
      if (!isFileFull && !isFull(group)) continue
      fileRows = isFileFull ? 0 : fileRows + rowCount(group)
      yield group
      emptyRowGroup(group)
    }
    if (rowCount(group) > 0) yield group
  } finally {
    for (const cursor of cursors) await closeCursor(cursor)
  }
}

/** The rows of sorted files, for each key the one with the highest row_version, in new files of at most `rows_per_file`
 *  rows. Others run between its steps, each of which is a row group read or written. */
export async function* mergeFiles(
  table: TableName,
  scope: FileScope,
  sources: readonly MergeSource[],
  options: MergeOptions,
): AsyncGenerator<EncodedFile> {
  assert(options.rows_per_file > 0, `A merge of ${table} must allow its files a row.`)
  const parquet = loadParquet()
  const scratch = createScratch()
  let writer: FileWriter | undefined
  let rows = 0
  for await (const group of mergeGroups(parquet, { table, scope, sources, options })) {
    writer ??= createFileWriter(parquet, FILE_LAYOUTS[table], compressionOf(table), scratch)
    await writer.add(group)
    rows += rowCount(group)
    if (rows < options.rows_per_file) continue
    yield await writer.finish()
    writer = undefined
    rows = 0
  }
  if (writer !== undefined) yield await writer.finish()
}

const NO_SCOPE: FileScope = { tenant_id: '', workspace_id: '' }

/** Each holds a group of rows, a megabyte of a wide table: of a day each there is one for every day of years. */
const STREAMED_AT_ONCE = 128
type Passes = { readonly at_once: number; readonly folder: string }
/** A file of the first pass, which is in memory until it is written. */
const PASS_FILE_ROWS = 100_000

/** The same rows, decoded, a batch at a time. Where there are many files, neighbours are first merged into temporary ones. */
export async function* streamFiles(
  table: TableName,
  sources: readonly MergeSource[],
  passes: Passes = { at_once: STREAMED_AT_ONCE, folder: tmpdir() },
): AsyncGenerator<LooseRow[]> {
  if (sources.length > passes.at_once) return yield* streamMerged(table, sources, passes)
  const options = { rows_per_file: Number.POSITIVE_INFINITY }
  for await (const group of mergeGroups(loadParquet(), { table, scope: NO_SCOPE, sources, options })) {
    yield decodeColumns(FILE_LAYOUTS[table], group.columns)
  }
}

/** The files of one share do not overlap, so that of each share one is open at a time. */
async function* streamMerged(table: TableName, sources: readonly MergeSource[], passes: Passes): AsyncGenerator<LooseRow[]> {
  const { at_once } = passes
  const share_count = Math.ceil(sources.length / at_once)
  assert(share_count <= at_once, `${sources.length} files of ${table} are more than two passes merge.`)
  const temporary = createTemporaryFolder('merge', passes.folder)
  try {
    await temporary.make()
    const merged: MergeSource[] = []
    for (let share = 0; share < share_count; share++) {
      const some = sources.slice(share * at_once, (share + 1) * at_once)
      for await (const { bytes, min_key } of mergeFiles(table, NO_SCOPE, some, { rows_per_file: PASS_FILE_ROWS })) {
        const path = join(temporary.path, `${merged.length}.parquet`)
        await writeFile(path, bytes)
        merged.push({ path, min_key })
      }
    }
    yield* streamFiles(table, merged, { ...passes, at_once: Number.POSITIVE_INFINITY })
  } finally {
    await temporary.remove()
  }
}
