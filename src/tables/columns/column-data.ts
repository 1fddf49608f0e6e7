// One column of some rows in memory, in typed arrays, and the builder that fills it from row values or from runs of
// another column's rows. A value of the wrong type is a bug and stops here, before it becomes bytes.

import { canonicalJson } from '../../core/canonical.js'
import { assert } from '../../core/errors.js'
import type { LooseRow, TableName } from '../../projections/tables.js'
import { type FileColumn, storageOf } from './file-column.js'

export type ColumnData = {
  readonly column: FileColumn
  readonly rows: number
  readonly nulls: number
  /** 1 where the row has a value; says nothing while `nulls` is 0. */
  readonly present: Uint8Array
  /** One word a row, or two, or where each text begins (and the last one ends). */
  readonly words: Int32Array
  /** The texts in UTF-8, one after another. */
  readonly bytes: Buffer
}

/** Grows as it is filled, and is emptied for the next rows without giving its memory back. */
export type ColumnBuilder = { -readonly [K in keyof ColumnData]: ColumnData[K] } & { capacity: number }

const NO_BYTES = Buffer.alloc(0)
const NO_FLAGS = new Uint8Array(0)
const TEXT_BYTES_A_ROW = 24
const UTF8_BYTES_A_UNIT_MAX = 3
const GROWTH = 1.5
const TWO_TO_32 = 0x1_0000_0000

const wordCount = (column: FileColumn, rows: number): number => {
  switch (storageOf(column)) {
    case 'word':
      return rows
    case 'pair':
      return rows * 2
    case 'text':
      return rows + 1
  }
}

export function createColumnBuilder(column: FileColumn, capacity: number): ColumnBuilder {
  return {
    column,
    rows: 0,
    nulls: 0,
    present: new Uint8Array(column.nullable ? capacity : 0),
    words: new Int32Array(wordCount(column, capacity)),
    bytes: storageOf(column) === 'text' ? Buffer.allocUnsafeSlow(capacity * TEXT_BYTES_A_ROW) : NO_BYTES,
    capacity,
  }
}

export function emptyColumn(builder: ColumnBuilder): void {
  builder.rows = 0
  builder.nulls = 0
}

function reserveRows(builder: ColumnBuilder, count: number): void {
  const needed = builder.rows + count
  if (needed <= builder.capacity) return
  builder.capacity = Math.max(needed, Math.ceil(builder.capacity * GROWTH))
  const words = new Int32Array(wordCount(builder.column, builder.capacity))
  words.set(builder.words)
  builder.words = words
  if (!builder.column.nullable) return
  const present = new Uint8Array(builder.capacity)
  present.set(builder.present)
  builder.present = present
}

/** Texts count from the beginning of `bytes`, so the first offset stays 0 whatever was there before. */
const textEnd = (builder: ColumnBuilder): number => builder.words[builder.rows] as number

function reserveBytes(builder: ColumnBuilder, used: number, count: number): void {
  if (used + count <= builder.bytes.length) return
  const bytes = Buffer.allocUnsafeSlow(Math.max(used + count, Math.ceil(builder.bytes.length * GROWTH)))
  bytes.set(builder.bytes.subarray(0, used))
  builder.bytes = bytes
}

/** The builder's columns hold the same number of rows each; `table` is for the message alone. */
export function appendValues(table: TableName, builder: ColumnBuilder, rows: readonly LooseRow[], start: number, end: number): void {
  reserveRows(builder, end - start)
  switch (builder.column.type) {
    case 'string':
    case 'json':
      return appendTexts(table, builder, rows, start, end)
    case 'int32':
    case 'boolean':
      return appendWords(table, builder, rows, start, end)
    case 'int64':
    case 'timestamp':
      return appendIntegers(table, builder, rows, start, end)
    case 'double':
      return appendDoubles(table, builder, rows, start, end)
  }
}

function wrongValue(table: TableName, { name, type, nullable }: FileColumn, value: unknown): never {
  const given = value === undefined ? 'nothing' : `${typeof value} ${String(value)}`
  assert(false, `Column ${name} of a ${table} row wants ${type}${nullable ? ' or null' : ''} and was given ${given}.`)
}

/** Says whether the row has a value, and remembers when not. */
function isPresent(builder: ColumnBuilder, row: number, value: unknown): boolean {
  if (!builder.column.nullable) return true
  const present = value !== null
  builder.present[row] = present ? 1 : 0
  if (!present) builder.nulls++
  return present
}

function appendTexts(table: TableName, builder: ColumnBuilder, rows: readonly LooseRow[], start: number, end: number): void {
  const { column, words } = builder
  const { name } = column
  const isJson = column.type === 'json'
  let at = textEnd(builder)
  let previous: unknown
  let previousAt = at
  let previousBytes = 0
  for (let i = start; i < end; i++) {
    const value = rows[i]?.[name]
    const row = builder.rows++
    if (isPresent(builder, row, value)) {
      // Neighbours are often equal: the tasks of a run, the partitions of an asset.
      if (value === previous && i > start) {
        reserveBytes(builder, at, previousBytes)
        builder.bytes.copyWithin(at, previousAt, previousAt + previousBytes)
      } else {
        const text = isJson && value !== undefined ? canonicalJson(value) : value
        if (typeof text !== 'string') wrongValue(table, column, value)
        reserveBytes(builder, at, text.length * UTF8_BYTES_A_UNIT_MAX)
        previousBytes = builder.bytes.write(text, at, 'utf8')
        previousAt = at
        previous = value
      }
      at += previousBytes
    }
    words[row + 1] = at
  }
}

function appendWords(table: TableName, builder: ColumnBuilder, rows: readonly LooseRow[], start: number, end: number): void {
  const { column, words } = builder
  const isBoolean = column.type === 'boolean'
  for (let i = start; i < end; i++) {
    const value = rows[i]?.[column.name]
    const row = builder.rows++
    if (!isPresent(builder, row, value)) words[row] = 0
    else if (isBoolean) words[row] = typeof value === 'boolean' ? Number(value) : wrongValue(table, column, value)
    else words[row] = typeof value === 'number' && (value | 0) === value ? value : wrongValue(table, column, value)
  }
}

function appendIntegers(table: TableName, builder: ColumnBuilder, rows: readonly LooseRow[], start: number, end: number): void {
  const { column, words } = builder
  for (let i = start; i < end; i++) {
    const value = rows[i]?.[column.name]
    const row = builder.rows++
    const isThere = isPresent(builder, row, value)
    if (isThere && !Number.isSafeInteger(value)) wrongValue(table, column, value)
    const number = isThere ? (value as number) : 0
    words[2 * row] = number | 0
    words[2 * row + 1] = Math.floor(number / TWO_TO_32)
  }
}

function appendDoubles(table: TableName, builder: ColumnBuilder, rows: readonly LooseRow[], start: number, end: number): void {
  const { column, words } = builder
  const doubles = new Float64Array(words.buffer)
  for (let i = start; i < end; i++) {
    const value = rows[i]?.[column.name]
    const row = builder.rows++
    const isThere = isPresent(builder, row, value)
    if (isThere && typeof value !== 'number') wrongValue(table, column, value)
    doubles[row] = isThere ? (value as number) : 0
  }
}

/** The same text in every row: what the scope's columns hold. */
export function appendText(builder: ColumnBuilder, text: string, count: number): void {
  const length = Buffer.byteLength(text)
  const from = textEnd(builder)
  reserveRows(builder, count)
  reserveBytes(builder, from, length * count)
  if (length > 0) builder.bytes.fill(text, from, from + length * count, 'utf8')
  for (let i = 1; i <= count; i++) builder.words[builder.rows + i] = from + length * i
  builder.rows += count
}

/** Rows without a value: of a column that is younger than the file it is read from. */
export function appendNulls(builder: ColumnBuilder, count: number): void {
  reserveRows(builder, count)
  const { rows, column } = builder
  builder.present.fill(0, rows, rows + count)
  if (storageOf(column) === 'text') builder.words.fill(textEnd(builder), rows + 1, rows + count + 1)
  else builder.words.fill(0, wordCount(column, rows), wordCount(column, rows + count))
  builder.rows += count
  builder.nulls += count
}

/** Rows `start` to `end` of the source with that place, one run after another: `length` of them. */
export type Runs = { length: number; readonly source: Int32Array; readonly start: Int32Array; readonly end: Int32Array }

export const createRuns = (capacity: number): Runs => ({
  length: 0,
  source: new Int32Array(capacity),
  start: new Int32Array(capacity),
  end: new Int32Array(capacity),
})

export function addRun(runs: Runs, source: number, start: number, end: number): void {
  const last = runs.length - 1
  if (last >= 0 && runs.source[last] === source && runs.end[last] === start) {
    runs.end[last] = end
    return
  }
  runs.source[runs.length] = source
  runs.start[runs.length] = start
  runs.end[runs.length] = end
  runs.length++
}

/** Below these a loop is faster than a call that copies memory and leaves a view behind as garbage (measured). */
const LOOP_WORDS_MAX = 48
const LOOP_BYTES_MAX = 192

function copyWords(target: Int32Array, at: number, source: Int32Array, start: number, end: number): void {
  if (end - start > LOOP_WORDS_MAX) target.set(source.subarray(start, end), at)
  else for (let i = start, to = at; i < end; i++, to++) target[to] = source[i] as number
}

function copyBytes(target: Buffer, at: number, source: Buffer, start: number, end: number): void {
  if (end - start > LOOP_BYTES_MAX) source.copy(target, at, start, end)
  else for (let i = start, to = at; i < end; i++, to++) target[to] = source[i] as number
}

/** `sources` are the same column of several files, `count` the rows in all runs. */
export function appendRuns(builder: ColumnBuilder, sources: readonly ColumnData[], runs: Runs, count: number): void {
  reserveRows(builder, count)
  if (builder.column.nullable) copyPresence(builder, sources, runs)
  const storage = storageOf(builder.column)
  if (storage === 'text') return copyTexts(builder, sources, runs)
  const width = storage === 'pair' ? 2 : 1
  for (let r = 0; r < runs.length; r++) {
    const { words } = sources[runs.source[r] as number] as ColumnData
    const start = runs.start[r] as number
    const end = runs.end[r] as number
    copyWords(builder.words, builder.rows * width, words, start * width, end * width)
    builder.rows += end - start
  }
}

function copyPresence(builder: ColumnBuilder, sources: readonly ColumnData[], runs: Runs): void {
  const { present } = builder
  let at = builder.rows
  for (let r = 0; r < runs.length; r++) {
    const source = sources[runs.source[r] as number] as ColumnData
    const end = runs.end[r] as number
    for (let i = runs.start[r] as number; i < end; i++, at++) {
      const flag = source.nulls === 0 ? 1 : (source.present[i] as number)
      present[at] = flag
      builder.nulls += 1 - flag
    }
  }
}

function copyTexts(builder: ColumnBuilder, sources: readonly ColumnData[], runs: Runs): void {
  const target = builder.words
  let at = textEnd(builder)
  let row = builder.rows
  for (let r = 0; r < runs.length; r++) {
    const { words, bytes } = sources[runs.source[r] as number] as ColumnData
    const start = runs.start[r] as number
    const end = runs.end[r] as number
    const from = words[start] as number
    const to = words[end] as number
    reserveBytes(builder, at, to - from)
    copyBytes(builder.bytes, at, bytes, from, to)
    for (let i = start + 1; i <= end; i++) target[++row] = (words[i] as number) - from + at
    at += to - from
  }
  builder.rows = row
}

/** The same rows in memory of their own, and no more of it than they need. */
export function copyColumn(data: ColumnData): ColumnData {
  const { column, rows, nulls } = data
  const words = data.words.slice(0, wordCount(column, rows))
  const present = nulls === 0 ? NO_FLAGS : data.present.slice(0, rows)
  if (storageOf(column) !== 'text') return { column, rows, nulls, present, words, bytes: NO_BYTES }
  const start = words[0] as number
  const end = words[rows] as number
  if (start !== 0) for (let row = 0; row <= rows; row++) words[row] = (words[row] as number) - start
  const bytes = Buffer.allocUnsafeSlow(end - start)
  data.bytes.copy(bytes, 0, start, end)
  return { column, rows, nulls, present, words, bytes }
}

/** What a column that is no builder takes in memory. */
export const dataBytes = ({ present, words, bytes }: ColumnData): number => present.byteLength + words.byteLength + bytes.byteLength

/** What the column's values take in memory. */
export const columnBytes = (builder: ColumnBuilder): number =>
  wordCount(builder.column, builder.rows) * 4 + (storageOf(builder.column) === 'text' ? textEnd(builder) : 0)

/** By the bytes of UTF-8, which is the order of the files. */
export function compareTexts(left: ColumnData, leftRow: number, right: ColumnData, rightRow: number): number {
  const leftStart = left.words[leftRow] as number
  const rightStart = right.words[rightRow] as number
  const leftLength = (left.words[leftRow + 1] as number) - leftStart
  const rightLength = (right.words[rightRow + 1] as number) - rightStart
  const length = Math.min(leftLength, rightLength)
  const leftBytes = left.bytes
  const rightBytes = right.bytes
  for (let i = 0; i < length; i++) {
    const difference = (leftBytes[leftStart + i] as number) - (rightBytes[rightStart + i] as number)
    if (difference !== 0) return difference
  }
  return leftLength - rightLength
}
