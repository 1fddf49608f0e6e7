// Columns to rows. It reads only what lies in memory, and gives each row every declared column, null for no value.

import { assert, corrupt } from '../../core/errors.js'
import type { KeyValue } from '../../projections/table.js'
import type { LooseRow, RowKey, TableName } from '../../projections/tables.js'
import type { GroupColumns } from './arrow-memory.js'
import type { ColumnData } from './column-data.js'
import { type FileLayout, SCOPE_COLUMN_COUNT, storageOf } from './file-column.js'

type MutableRow = Record<string, unknown>

const TWO_TO_32 = 0x1_0000_0000
/** The high word of an integer that a number can hold exactly lies within this. */
const HIGH_WORD_END = 2 ** 21

export const hasValue = (data: ColumnData, row: number): boolean => data.nulls === 0 || data.present[row] === 1

export function integerAt(table: TableName, data: ColumnData, row: number): number {
  const high = data.words[2 * row + 1] as number
  if (high >= HIGH_WORD_END || high < -HIGH_WORD_END) {
    throw corrupt(`Column ${data.column.name} of a file of ${table} has an integer of more than 53 bits. Run \`servo ledger verify\`.`)
  }
  return high * TWO_TO_32 + ((data.words[2 * row] as number) >>> 0)
}

export const textAt = (data: ColumnData, row: number): string => data.bytes.toString('utf8', data.words[row], data.words[row + 1])

/** One value of a key column. */
function keyValueAt(table: TableName, data: ColumnData, row: number): KeyValue {
  switch (storageOf(data.column)) {
    case 'text':
      return textAt(data, row)
    case 'word':
      return data.words[row] as number
    case 'pair':
      return integerAt(table, data, row)
  }
}

export const rowKeyAt = (layout: FileLayout, columns: readonly ColumnData[], row: number): RowKey =>
  layout.key.map((place) => keyValueAt(layout.table, columns[place] as ColumnData, row))

/** Texts that came lately, by a hash of a few of their bytes. In columns that repeat, few values are many rows', and a row
 *  that shares a text, or what JSON made of it, costs neither the time to decode it nor the memory to hold it. */
type TextCache = { readonly starts: Int32Array; readonly lengths: Int32Array; readonly values: unknown[] }

/** A power of two. Where few rows are decoded, more slots than rows would cost more than the texts. */
const CACHE_SLOTS_MAX = 256
const CACHED_BYTES_MAX = 128

function createTextCache(rows: number): TextCache {
  const slots = Math.min(CACHE_SLOTS_MAX, 2 ** Math.ceil(Math.log2(rows)))
  return { starts: new Int32Array(slots), lengths: new Int32Array(slots).fill(-1), values: new Array<unknown>(slots).fill(undefined) }
}

function slotOf(slots: number, bytes: Uint8Array, start: number, length: number): number {
  if (length === 0) return 0
  const first = bytes[start] as number
  const middle = bytes[start + (length >> 1)] as number
  const last = bytes[start + length - 1] as number
  return (first * 31 + middle * 7 + last * 17 + length) & (slots - 1)
}

/** From the end: what differs between neighbours, a number or an id's chance, mostly stands there. */
function isSameText(bytes: Uint8Array, start: number, other: number, length: number): boolean {
  for (let i = length - 1; i >= 0; i--) if (bytes[start + i] !== bytes[other + i]) return false
  return true
}

function parseJson(table: TableName, name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw corrupt(`Column ${name} of a file of ${table} has a text that is not JSON. Run \`servo ledger verify\`.`, error)
  }
}

/** Of each row that is decoded, its place in the columns; absent where every row is. */
type Picked = readonly number[] | undefined

function decodeTexts(table: TableName, data: ColumnData, rows: readonly MutableRow[], picked: Picked): void {
  const { words, bytes, nulls, present } = data
  const { name, type } = data.column
  const isJson = type === 'json'
  const { starts, lengths, values } = createTextCache(rows.length)
  for (let i = 0; i < rows.length; i++) {
    const row = picked === undefined ? i : (picked[i] as number)
    if (nulls > 0 && present[row] === 0) continue
    const start = words[row] as number
    const end = words[row + 1] as number
    const length = end - start
    const isCached = length <= CACHED_BYTES_MAX
    const slot = isCached ? slotOf(values.length, bytes, start, length) : 0
    if (isCached && lengths[slot] === length && isSameText(bytes, start, starts[slot] as number, length)) {
      ;(rows[i] as MutableRow)[name] = values[slot]
      continue
    }
    const text = bytes.toString('utf8', start, end)
    const value = isJson ? parseJson(table, name, text) : text
    ;(rows[i] as MutableRow)[name] = value
    if (!isCached) continue
    starts[slot] = start
    lengths[slot] = length
    values[slot] = value
  }
}

function decodeWords(data: ColumnData, rows: readonly MutableRow[], picked: Picked): void {
  const { words, nulls, present } = data
  const { name, type } = data.column
  const isBoolean = type === 'boolean'
  for (let i = 0; i < rows.length; i++) {
    const row = picked === undefined ? i : (picked[i] as number)
    if (nulls > 0 && present[row] === 0) continue
    ;(rows[i] as MutableRow)[name] = isBoolean ? words[row] === 1 : words[row]
  }
}

function decodeIntegers(table: TableName, data: ColumnData, rows: readonly MutableRow[], picked: Picked): void {
  const { nulls, present } = data
  const { name } = data.column
  for (let i = 0; i < rows.length; i++) {
    const row = picked === undefined ? i : (picked[i] as number)
    if (nulls > 0 && present[row] === 0) continue
    ;(rows[i] as MutableRow)[name] = integerAt(table, data, row)
  }
}

function decodeDoubles(data: ColumnData, rows: readonly MutableRow[], picked: Picked): void {
  const { words, nulls, present } = data
  const { name } = data.column
  const doubles = new Float64Array(words.buffer, words.byteOffset, data.rows)
  for (let i = 0; i < rows.length; i++) {
    const row = picked === undefined ? i : (picked[i] as number)
    if (nulls > 0 && present[row] === 0) continue
    ;(rows[i] as MutableRow)[name] = doubles[row]
  }
}

function decodeColumn(table: TableName, data: ColumnData, rows: readonly MutableRow[], picked: Picked): void {
  if (data.nulls === data.rows) return
  switch (data.column.type) {
    case 'string':
    case 'json':
      return decodeTexts(table, data, rows, picked)
    case 'int32':
    case 'boolean':
      return decodeWords(data, rows, picked)
    case 'int64':
    case 'timestamp':
      return decodeIntegers(table, data, rows, picked)
    case 'double':
      return decodeDoubles(data, rows, picked)
  }
}

const blanks = new WeakMap<FileLayout, MutableRow>()

/** A row is a copy of one that has all columns: adding them one by one would make it a slow dictionary. */
function blankOf(layout: FileLayout): MutableRow {
  const known = blanks.get(layout)
  if (known !== undefined) return known
  const names = layout.columns.slice(SCOPE_COLUMN_COUNT).map(({ name }) => [name, null])
  const blank = JSON.parse(JSON.stringify(Object.fromEntries(names))) as MutableRow
  blanks.set(layout, blank)
  return blank
}

/** Rows with null in every column, to be filled. */
export function blankRows(layout: FileLayout, count: number): LooseRow[] {
  const blank = blankOf(layout)
  const rows: MutableRow[] = []
  for (let row = 0; row < count; row++) rows.push({ ...blank })
  return rows as LooseRow[]
}

/** Gives the rows what these columns say of the picked ones, in this order; a column that is missing is left as it is. */
export function fillRows(layout: FileLayout, columns: GroupColumns, rows: readonly LooseRow[], picked?: readonly number[]): void {
  for (let place = SCOPE_COLUMN_COUNT; place < columns.length; place++) {
    const data = columns[place]
    if (data !== undefined) decodeColumn(layout.table, data, rows as readonly MutableRow[], picked)
  }
}

/** `columns` by place; a column that is missing is null in every row. */
export function decodeColumns(layout: FileLayout, columns: GroupColumns): LooseRow[] {
  const count = columns[layout.row_version]?.rows
  assert(count !== undefined, `Rows of ${layout.table} were decoded without their row_version.`)
  const rows = blankRows(layout, count)
  fillRows(layout, columns, rows)
  return rows
}
