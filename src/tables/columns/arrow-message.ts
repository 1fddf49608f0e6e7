// Columns as one Arrow IPC stream, the form in which the Parquet writer takes them: a schema message, a record batch,
// the end mark. Written by hand because arrow-js takes a quarter of a second to load and costs a small file more than
// its Parquet does. It knows flatbuffers and the four types that tables use, and reads nothing.

import { assert } from '../../core/errors.js'
import type { ColumnData } from './column-data.js'
import { type FileColumn, storageOf } from './file-column.js'

/** A flatbuffer value: a scalar of so many bytes, or something that is written elsewhere and pointed at. */
type Scalar = { readonly bytes: 1 | 2 | 4 | 8; readonly value: number }
type Pointed = { readonly write: (output: Output) => number }
type Slot = Scalar | Pointed | null

type Output = { bytes: Buffer; end: number }

const scalar = (bytes: Scalar['bytes'], value: number): Scalar => ({ bytes, value })

const METADATA_VERSION_5 = scalar(2, 4)
const HEADER_SCHEMA = scalar(1, 1)
const HEADER_RECORD_BATCH = scalar(1, 3)
const TIME_UNIT_MILLISECOND = scalar(2, 1)
const PRECISION_DOUBLE = scalar(2, 2)

const CONTINUATION = 0xffffffff
const PREFIX_BYTES = 8
const END_BYTES = 8

const padded = (length: number): number => (length + 7) & ~7

/** A message's metadata is small: names, and 32 bytes a buffer. */
const METADATA_BYTES_START = 4_096

/** Room for so many bytes, zeroed, the first of them on a multiple of `unit` after `lead` bytes. */
function take(output: Output, length: number, unit: number, lead = 0): number {
  const start = Math.ceil((output.end + lead) / unit) * unit - lead
  const end = start + length
  if (end > output.bytes.length) output.bytes = Buffer.concat([output.bytes], Math.max(end, output.bytes.length * 2))
  output.end = end
  return start
}

function writeScalar(bytes: Buffer, at: number, { bytes: width, value }: Scalar): void {
  if (width === 8) {
    bytes.writeInt32LE(value | 0, at)
    bytes.writeInt32LE(Math.floor(value / 0x1_0000_0000), at + 4)
  } else bytes.writeIntLE(value, at, width)
}

/** Pointers are unsigned and count from themselves: what is pointed at always comes later. */
const point = (output: Output, from: number, to: number) => output.bytes.writeUInt32LE(to - from, from)

const table = (slots: readonly Slot[]): Pointed => ({
  write: (output) => {
    const directoryBytes = 4 + 2 * slots.length
    const directory = take(output, directoryBytes, 2)
    const start = take(output, 4, 8)
    output.bytes.writeInt32LE(start - directory, start)
    const places = slots.map((slot) => {
      if (slot === null) return 0
      const width = 'bytes' in slot ? slot.bytes : 4
      return take(output, width, width)
    })
    output.bytes.writeUInt16LE(directoryBytes, directory)
    output.bytes.writeUInt16LE(output.end - start, directory + 2)
    slots.forEach((slot, index) => {
      const place = places[index] as number
      if (slot === null) return
      output.bytes.writeUInt16LE(place - start, directory + 4 + 2 * index)
      if ('bytes' in slot) writeScalar(output.bytes, place, slot)
    })
    slots.forEach((slot, index) => {
      if (slot !== null && 'write' in slot) point(output, places[index] as number, slot.write(output))
    })
    return start
  },
})

const text = (value: string): Pointed => ({
  write: (output) => {
    const length = Buffer.byteLength(value)
    const start = take(output, 4 + length + 1, 4)
    output.bytes.writeUInt32LE(length, start)
    output.bytes.write(value, start + 4, 'utf8')
    return start
  },
})

const list = (items: readonly Pointed[]): Pointed => ({
  write: (output) => {
    const start = take(output, 4 + 4 * items.length, 4)
    output.bytes.writeUInt32LE(items.length, start)
    items.forEach((item, index) => {
      point(output, start + 4 + 4 * index, item.write(output))
    })
    return start
  },
})

/** A vector of structs of two 64-bit numbers. */
const pairs = (values: readonly number[]): Pointed => ({
  write: (output) => {
    const start = take(output, 4 + 8 * values.length, 8, 4)
    output.bytes.writeUInt32LE(values.length / 2, start)
    values.forEach((value, index) => {
      writeScalar(output.bytes, start + 4 + 8 * index, scalar(8, value))
    })
    return start
  },
})

/** The framed message: mark, length, flatbuffer; its body follows. */
function message(headerType: Scalar, header: Pointed, bodyBytes: number): Buffer {
  const output: Output = { bytes: Buffer.alloc(METADATA_BYTES_START), end: PREFIX_BYTES }
  const root = take(output, 4, 8)
  point(output, root, table([METADATA_VERSION_5, headerType, header, scalar(8, bodyBytes)]).write(output))
  const end = padded(output.end)
  take(output, end - output.end, 1)
  output.bytes.writeUInt32LE(CONTINUATION, 0)
  output.bytes.writeUInt32LE(end - PREFIX_BYTES, 4)
  return output.bytes.subarray(0, end)
}

/** Number and slots of Arrow's type union. */
function typeOf(column: FileColumn): readonly [Scalar, Pointed] {
  switch (column.type) {
    case 'string':
    case 'json':
      return [scalar(1, 5), table([])]
    case 'int32':
      return [scalar(1, 2), table([scalar(4, 32), scalar(1, 1)])]
    case 'int64':
      return [scalar(1, 2), table([scalar(4, 64), scalar(1, 1)])]
    case 'double':
      return [scalar(1, 3), table([PRECISION_DOUBLE])]
    case 'boolean':
      return [scalar(1, 6), table([])]
    case 'timestamp':
      return [scalar(1, 10), table([TIME_UNIT_MILLISECOND, text('UTC')])]
  }
}

const field = (column: FileColumn): Pointed => {
  const [kind, type] = typeOf(column)
  return table([text(column.name), scalar(1, column.nullable ? 1 : 0), kind, type, null, list([])])
}

/** The same for every file of a table, so made once. */
export const schemaMessage = (columns: readonly FileColumn[]): Buffer => message(HEADER_SCHEMA, table([null, list(columns.map(field))]), 0)

const bitBytes = (count: number): number => (count + 7) >> 3

function valueBytes(data: ColumnData): number {
  if (data.column.type === 'boolean') return bitBytes(data.rows)
  switch (storageOf(data.column)) {
    case 'word':
      return data.rows * 4
    case 'pair':
      return data.rows * 8
    case 'text':
      return textEnd(data)
  }
}

const textEnd = (data: ColumnData): number => data.words[data.rows] as number

/** Lengths of a column's buffers, in Arrow's order: which are null, offsets of texts, values. */
function bufferBytes(data: ColumnData): readonly number[] {
  const nulls = data.nulls === 0 ? 0 : bitBytes(data.rows)
  return storageOf(data.column) === 'text' ? [nulls, (data.rows + 1) * 4, textEnd(data)] : [nulls, valueBytes(data)]
}

function packBits(target: Buffer, at: number, count: number, isSet: (row: number) => boolean): void {
  for (let row = 0; row < count; row += 8) {
    let byte = 0
    const end = Math.min(8, count - row)
    for (let bit = 0; bit < end; bit++) if (isSet(row + bit)) byte |= 1 << bit
    target[at + (row >> 3)] = byte
  }
}

const wordBytes = (words: Int32Array, length: number): Uint8Array => new Uint8Array(words.buffer, words.byteOffset, length)

function writeColumn(target: Buffer, start: number, data: ColumnData): number {
  const [nullBytes, firstBytes, textBytes] = bufferBytes(data)
  let at = start
  if (nullBytes !== undefined && nullBytes > 0) {
    packBits(target, at, data.rows, (row) => data.present[row] === 1)
    at += padded(nullBytes)
  }
  if (firstBytes === undefined) return at
  if (data.column.type === 'boolean') packBits(target, at, data.rows, (row) => data.words[row] === 1)
  else target.set(wordBytes(data.words, firstBytes), at)
  at += padded(firstBytes)
  if (textBytes === undefined) return at
  target.set(data.bytes.subarray(0, textBytes), at)
  return at + padded(textBytes)
}

/** Memory for one stream after another: megabytes that would be garbage at once. */
export type Scratch = { bytes: Buffer }

export const createScratch = (): Scratch => ({ bytes: Buffer.alloc(0) })

/** One stream with one record batch of all the columns, valid until the scratch is used again. The padding between
 *  buffers is whatever the memory held. */
export function recordBatchStream(schema: Buffer, columns: readonly ColumnData[], scratch: Scratch): Uint8Array {
  const rows = columns[0]?.rows ?? 0
  const nodes: number[] = []
  const buffers: number[] = []
  let bodyBytes = 0
  for (const data of columns) {
    assert(data.rows === rows, `Column ${data.column.name} has ${data.rows} rows where the others have ${rows}.`)
    nodes.push(rows, data.nulls)
    for (const length of bufferBytes(data)) {
      buffers.push(bodyBytes, length)
      bodyBytes += padded(length)
    }
  }
  const header = message(HEADER_RECORD_BATCH, table([scalar(8, rows), pairs(nodes), pairs(buffers)]), bodyBytes)
  const length = schema.length + header.length + bodyBytes + END_BYTES
  if (scratch.bytes.length < length) scratch.bytes = Buffer.allocUnsafe(length)
  const stream = scratch.bytes.subarray(0, length)
  stream.set(schema)
  stream.set(header, schema.length)
  let at = schema.length + header.length
  for (const data of columns) at = writeColumn(stream, at, data)
  stream.writeUInt32LE(CONTINUATION, at)
  stream.writeUInt32LE(0, at + 4)
  return stream
}
