// Rows to Parquet bytes and back. It never sorts, never merges, and never gives a row that its table does not declare.

import { setImmediate as letOthersRun } from 'node:timers/promises'
import { assert, corrupt, isOperatingError, messageOf } from '../core/errors.js'
import { compareKeys, keyOfRow, type LooseRow, type TableName } from '../projections/tables.js'
import { readColumns } from './columns/arrow-memory.js'
import { FILE_LAYOUTS, type FileScope } from './columns/file-column.js'
import { readFooter } from './columns/parquet-footer.js'
import { declaredPlaces } from './columns/parquet-reader.js'
import { type Compression, compressionOf, createFileWriter, loadParquet, type Parquet } from './columns/parquet-writer.js'
import { decodeColumns } from './columns/row-decoder.js'
import { appendRows, createRowGroup, emptyRowGroup, isFull, ROW_GROUP_ROWS } from './columns/row-group.js'
import type { EncodedFile } from './table-files.js'

function assertSorted(table: TableName, rows: readonly LooseRow[]): void {
  let previous = keyOfRow(table, rows[0] as LooseRow)
  for (let i = 1; i < rows.length; i++) {
    const key = keyOfRow(table, rows[i] as LooseRow)
    assert(compareKeys(previous, key) < 0, `Rows of ${table} must be sorted, each key once: ${previous} comes before ${key}.`)
    previous = key
  }
}

/** Rows are taken by so many at a time: between them the group's size is looked at. */
const SLICE_ROWS = 2_048

/** Rows strictly sorted by key, at least one, every one with every declared column. */
export async function encodeRows(
  table: TableName,
  scope: FileScope,
  rows: readonly LooseRow[],
  options: { readonly compression?: Compression } = {},
): Promise<EncodedFile> {
  assert(rows.length > 0, `A file of ${table} must have a row.`)
  assertSorted(table, rows)
  const layout = FILE_LAYOUTS[table]
  const parquet = loadParquet()
  const writer = createFileWriter(parquet, layout, options.compression ?? compressionOf(table))
  const group = createRowGroup(layout, scope, Math.min(rows.length, ROW_GROUP_ROWS))
  for (let start = 0; start < rows.length; ) {
    const end = Math.min(rows.length, start + SLICE_ROWS)
    appendRows(group, rows, start, end)
    start = end
    if (start < rows.length && !isFull(group)) continue
    await writer.add(group)
    emptyRowGroup(group)
  }
  return writer.finish()
}

/** Groups decoded by one call: in WebAssembly, whose memory never shrinks, they lie whole. */
const GROUPS_A_CALL = 32

function decodeGroups(parquet: Parquet, table: TableName, bytes: Uint8Array, rowGroups: number[]): LooseRow[] {
  const layout = FILE_LAYOUTS[table]
  const wasmTable = parquet.readParquet(bytes, { rowGroups, batchSize: GROUPS_A_CALL * ROW_GROUP_ROWS })
  try {
    return wasmTable.recordBatches().flatMap((batch) => {
      const exported = batch.intoFFI()
      try {
        return decodeColumns(layout, readColumns(parquet.wasmMemory().buffer, exported, layout, declaredPlaces(layout)))
      } finally {
        exported.free()
      }
    })
  } finally {
    wasmTable.free()
  }
}

/** Every row in the file's order. Compare the file's checksum first: one damaged file in two hundred decodes. */
export async function decodeRows(table: TableName, bytes: Uint8Array): Promise<LooseRow[]> {
  const parquet = loadParquet()
  const footer = readFooter(bytes)
  const rows: LooseRow[] = []
  try {
    for (let group = 0; group < footer.row_groups; group += GROUPS_A_CALL) {
      if (group > 0) await letOthersRun()
      const count = Math.min(GROUPS_A_CALL, footer.row_groups - group)
      const decoded = decodeGroups(
        parquet,
        table,
        bytes,
        Array.from({ length: count }, (_, index) => group + index),
      )
      for (const row of decoded) rows.push(row)
    }
  } catch (error) {
    if (isOperatingError(error)) throw error
    throw corrupt(`A file of ${table} cannot be decoded: ${messageOf(error)}. Run \`servo ledger verify\`.`, error)
  }
  if (rows.length === footer.rows) return rows
  throw corrupt(`A file of ${table} has ${rows.length} rows where its footer says ${footer.rows}. Run \`servo ledger verify\`.`)
}
