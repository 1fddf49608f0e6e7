// Row groups to one Parquet file, a group at a time: the writer keeps a group no longer than it takes to encode it.
// It never counts a file as written before the file's own footer says as many rows.

import { createRequire } from 'node:module'
import { setImmediate as letOthersRun } from 'node:timers/promises'
import type { RecordBatch, Table as WasmTable, WriterProperties } from 'parquet-wasm'
import { assert } from '../../core/errors.js'
import { type RowKey, type TableName, tableNamed } from '../../projections/tables.js'
import type { EncodedFile } from '../table-files.js'
import { createScratch, recordBatchStream, type Scratch, schemaMessage } from './arrow-message.js'
import { type ColumnData, compareTexts } from './column-data.js'
import { type FileColumn, type FileLayout, storageOf } from './file-column.js'
import { readFooter, replaceNotes } from './parquet-footer.js'
import { hasValue, integerAt, rowKeyAt, textAt } from './row-decoder.js'
import { type RowGroup, rowCount } from './row-group.js'

export type Parquet = typeof import('parquet-wasm')
export type Compression = 'snappy' | 'zstd'

const load = createRequire(import.meta.url)

/** Loaded by the first file that is read or written, and kept by the module loader: it takes a tenth of a second. Not by
 *  `import()`, which under a loader hook asks another thread each time (a millisecond a file, measured). */
export const loadParquet = (): Parquet => load('parquet-wasm') as Parquet

/** Raised when a reader has to know which columns a file may lack. */
const TABLE_SCHEMA_VERSION = '1'

// Made with a table's first file: a process that only reads starts without them.
const schemas = new WeakMap<FileLayout, Buffer>()

function schemaOf(layout: FileLayout): Buffer {
  const known = schemas.get(layout)
  if (known !== undefined) return known
  const made = schemaMessage(layout.columns)
  schemas.set(layout, made)
  return made
}

/** What lives for days at most is not worth what zstd takes, which is half of the time of a merge (measured). */
export const compressionOf = (table: TableName): Compression => (tableNamed(table).period === undefined ? 'zstd' : 'snappy')

/** Values that the writer takes at once: a tenth faster than its own 1,024 (measured). */
const WRITE_BATCH_ROWS = 8_192

/** Ids share a prefix with their neighbour and have 5 bits of chance in each letter; instants and counts are near
 *  their neighbours. With these encodings zstd comes within a tenth of the entropy, and has half as much to read. */
function encodingOf(parquet: Parquet, column: FileColumn): number {
  const { Encoding } = parquet
  switch (column.type) {
    case 'string':
    case 'json':
      return Encoding.DELTA_BYTE_ARRAY
    case 'int32':
    case 'int64':
    case 'timestamp':
      return Encoding.DELTA_BINARY_PACKED
    case 'double':
    case 'boolean':
      return Encoding.PLAIN
  }
}

/** A row that is looked up alone costs a page of each column. Smaller pages lengthen the file: 2 % at 6 KB, 4 at 4, 5 at 3
 *  (measured on partition status). */
const PAGE_BYTES = 4_096
/** What does not live long is read whole. */
const UNPAGED_BYTES = 1_024 * 1_024

/** Used up by the writer, so made for each file. */
function writerProperties(parquet: Parquet, layout: FileLayout, compression: Compression, groupRows: number): WriterProperties {
  const { Compression, EnabledStatistics } = parquet
  let builder = new parquet.WriterPropertiesBuilder()
    .setCompression(compression === 'zstd' ? Compression.ZSTD : Compression.SNAPPY)
    .setMaxRowGroupSize(groupRows)
    .setDictionaryEnabled(false)
    .setWriteBatchSize(WRITE_BATCH_ROWS)
    .setDataPageSizeLimit(compression === 'zstd' ? PAGE_BYTES : UNPAGED_BYTES)
    // DuckDB prunes by row group; statistics of pages would only lengthen the file.
    .setStatisticsEnabled(EnabledStatistics.Chunk)
  layout.columns.forEach((column, place) => {
    // Numbers and places in dictionaries are packed to their bits already: zstd takes a tenth of a percent off the file, and
    // a fifth of the time of a look-up (measured).
    if (column.repeats || storageOf(column) !== 'text') builder = builder.setColumnCompression(column.name, Compression.SNAPPY)
    if (column.repeats) builder = builder.setColumnDictionaryEnabled(column.name, true)
    else builder = builder.setColumnEncoding(column.name, encodingOf(parquet, column))
    // The smallest and largest of ids that are not sorted, or of JSON, exclude nothing.
    const isUseful = column.repeats || storageOf(column) !== 'text' || layout.key.includes(place)
    if (!isUseful) builder = builder.setColumnStatisticsEnabled(column.name, EnabledStatistics.None)
  })
  return builder.build()
}

/** Neighbours with the same text are named once: all that looks up a key needs is that it is there. Where all bytes are
 *  ASCII, keys are cut out of one text, which is far cheaper than decoding each (measured). */
function addFilterKeys(keys: string[], layout: FileLayout, columns: readonly ColumnData[]): void {
  const data = columns[layout.key[0] as number] as ColumnData
  const { words, bytes, rows } = data
  const all = bytes.toString('utf8', 0, words[rows])
  const isAscii = all.length === words[rows]
  for (let row = 0; row < rows; row++) {
    if (row > 0 && compareTexts(data, row - 1, data, row) === 0) continue
    keys.push(isAscii ? all.slice(words[row], words[row + 1]) : textAt(data, row))
  }
}

type Times = Record<string, readonly [number, number]>

function widenTimes(times: Times, layout: FileLayout, columns: readonly ColumnData[]): void {
  for (const place of layout.times) {
    const data = columns[place] as ColumnData
    const { name } = data.column
    for (let row = 0; row < data.rows; row++) {
      if (!hasValue(data, row)) continue
      const at = integerAt(layout.table, data, row)
      const range = times[name]
      if (range === undefined) times[name] = [at, at]
      else if (at < range[0] || at > range[1]) times[name] = [Math.min(at, range[0]), Math.max(at, range[1])]
    }
  }
}

/** A stream that the writer draws batches from, and the bytes that come out at its other end. */
type Pipe = { readonly sink: WritableStreamDefaultWriter<RecordBatch>; readonly written: Promise<readonly Uint8Array[]> }

function openPipe(parquet: Parquet, properties: WriterProperties): Pipe {
  const { readable, writable } = new TransformStream<RecordBatch, RecordBatch>()
  const write = async (): Promise<readonly Uint8Array[]> => {
    const chunks: Uint8Array[] = []
    const output = (await parquet.transformParquetStream(readable, properties)) as AsyncIterable<Uint8Array> & ReadableStream
    for await (const chunk of output) chunks.push(chunk)
    return chunks
  }
  const written = write()
  // Whoever pushes or closes meets the failure; nobody is waiting in between.
  written.catch(() => undefined)
  return { sink: writable.getWriter(), written }
}

async function push({ sink, written }: Pipe, table: WasmTable): Promise<void> {
  const batch = table.recordBatch(0)
  table.free()
  assert(batch !== undefined, 'A row group became no record batch.')
  // When the writer fails it draws no more: the failure comes from the other end.
  await Promise.race([sink.write(batch), written])
  await letOthersRun()
}

export type FileWriter = {
  /** The group may be emptied and filled again as soon as this returns. */
  readonly add: (group: RowGroup) => Promise<void>
  readonly finish: () => Promise<EncodedFile>
}

/** `scratch` is for whoever writes one file after another. */
export function createFileWriter(
  parquet: Parquet,
  layout: FileLayout,
  compression: Compression,
  scratch: Scratch = createScratch(),
): FileWriter {
  const properties = () => writerProperties(parquet, layout, compression, groupRows)
  const times: Times = {}
  const filterKeys: string[] = []
  let rows = 0
  // The writer cuts by rows alone. Where long texts made the first group small, it makes the others as small.
  let groupRows = 0
  let minKey: RowKey = []
  let maxKey: RowKey = []
  // Most files have one group, and writing that at once costs a third of a pipe.
  let only: WasmTable | undefined
  let pipe: Pipe | undefined

  const add = async (group: RowGroup): Promise<void> => {
    const count = rowCount(group)
    if (rows === 0) minKey = rowKeyAt(layout, group.columns, 0)
    maxKey = rowKeyAt(layout, group.columns, count - 1)
    if (rows === 0) groupRows = count
    rows += count
    widenTimes(times, layout, group.columns)
    if (layout.bloom) addFilterKeys(filterKeys, layout, group.columns)
    const table = parquet.Table.fromIPCStream(recordBatchStream(schemaOf(layout), group.columns, scratch))
    if (pipe === undefined && only === undefined) {
      only = table
      return
    }
    pipe ??= openPipe(parquet, properties())
    if (only !== undefined) await push(pipe, only)
    only = undefined
    await push(pipe, table)
  }

  const writeAll = async (): Promise<Uint8Array> => {
    if (only !== undefined) return parquet.writeParquet(only, properties())
    assert(pipe !== undefined, `A file of ${layout.table} was finished without a row.`)
    await Promise.race([pipe.sink.close(), pipe.written])
    return Buffer.concat(await pipe.written)
  }

  const finish = async (): Promise<EncodedFile> => {
    const written = await writeAll()
    const footer = readFooter(written)
    assert(footer.rows === rows, `A file of ${layout.table} was written with ${footer.rows} rows instead of ${rows}.`)
    const bytes = replaceNotes(written, footer, { 'servo.table': layout.table, 'servo.schema_version': TABLE_SCHEMA_VERSION })
    return { bytes, rows, min_key: minKey, max_key: maxKey, times, filter_keys: filterKeys }
  }

  return { add, finish }
}
