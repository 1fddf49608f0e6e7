// The footer of a Parquet file, as far as tables need it: how many rows, how many row groups, which notes
// (key-value metadata). It decodes no schema and no statistics; it walks over them.

import { assert, corrupt } from '../../core/errors.js'

type Footer = {
  readonly rows: number
  readonly row_groups: number
  readonly notes: ReadonlyMap<string, string>
  /** Where the footer begins in the file, and the list of notes within the file. */
  readonly start: number
  readonly notes_start: number
  readonly notes_end: number
}

const MAGIC = Buffer.from('PAR1')
const TAIL_BYTES = 8

/** Thrift's compact protocol: the types that a field header or a list names. */
const TRUE = 1
const FALSE = 2
const BYTE = 3
const I16 = 4
const I32 = 5
const I64 = 6
const DOUBLE = 7
const BINARY = 8
const LIST = 9
const SET = 10
const STRUCT = 12

/** Fields of the struct FileMetaData. */
const NUM_ROWS = 3
const ROW_GROUPS = 4
const KEY_VALUE_METADATA = 5

type Cursor = { readonly bytes: Buffer; at: number; readonly end: number }

function readByte(cursor: Cursor): number {
  if (cursor.at >= cursor.end) throw corrupt('A table file has a footer that ends within a field. Run `servo ledger verify`.')
  return cursor.bytes[cursor.at++] as number
}

/** Multiplied, not shifted: counts may pass 32 bits. */
function readVarint(cursor: Cursor): number {
  let value = 0
  for (let factor = 1; ; factor *= 128) {
    const byte = readByte(cursor)
    value += (byte & 127) * factor
    if (byte < 128) return value
    if (factor > 2 ** 56) throw corrupt('A table file has a footer with a number of more than 64 bits. Run `servo ledger verify`.')
  }
}

const readSigned = (cursor: Cursor): number => {
  const value = readVarint(cursor)
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2
}

function readText(cursor: Cursor): string {
  const length = readVarint(cursor)
  const start = cursor.at
  skipBytes(cursor, length)
  return cursor.bytes.toString('utf8', start, cursor.at)
}

function skipBytes(cursor: Cursor, count: number): void {
  cursor.at += count
  if (cursor.at > cursor.end) throw corrupt('A table file has a footer that ends within a value. Run `servo ledger verify`.')
}

function readListHeader(cursor: Cursor): { readonly size: number; readonly type: number } {
  const header = readByte(cursor)
  const size = header >> 4
  return { size: size === 15 ? readVarint(cursor) : size, type: header & 15 }
}

function skipValue(cursor: Cursor, type: number): void {
  switch (type) {
    case TRUE:
    case FALSE:
      return
    case BYTE:
      return skipBytes(cursor, 1)
    case I16:
    case I32:
    case I64:
      readVarint(cursor)
      return
    case DOUBLE:
      return skipBytes(cursor, 8)
    case BINARY:
      return skipBytes(cursor, readVarint(cursor))
    case LIST:
    case SET: {
      const { size, type: item } = readListHeader(cursor)
      for (let i = 0; i < size; i++) item === TRUE || item === FALSE ? skipBytes(cursor, 1) : skipValue(cursor, item)
      return
    }
    case STRUCT:
      return readFields(cursor, (_field, fieldType) => skipValue(cursor, fieldType))
    default:
      throw corrupt(`A table file has a footer with a field of the unknown type ${type}. Run \`servo ledger verify\`.`)
  }
}

/** Calls for each field of a struct; what is called reads the value, or walks over it. */
function readFields(cursor: Cursor, onField: (field: number, type: number) => void): void {
  for (let field = 0; ; ) {
    const header = readByte(cursor)
    if (header === 0) return
    const step = header >> 4
    field = step === 0 ? readSigned(cursor) : field + step
    onField(field, header & 15)
  }
}

function readNote(cursor: Cursor): readonly [string, string] {
  const note = ['', '']
  readFields(cursor, (field, type) => {
    if (type === BINARY && (field === 1 || field === 2)) note[field - 1] = readText(cursor)
    else skipValue(cursor, type)
  })
  return note as unknown as readonly [string, string]
}

export function readFooter(file: Uint8Array): Footer {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const end = bytes.length - TAIL_BYTES
  const isWhole = end >= MAGIC.length && bytes.subarray(-MAGIC.length).equals(MAGIC) && bytes.subarray(0, MAGIC.length).equals(MAGIC)
  const length = isWhole ? bytes.readUInt32LE(end) : 0
  const start = end - length
  if (length === 0 || start < MAGIC.length) {
    throw corrupt(`A table file of ${bytes.length} bytes is not a whole Parquet file. Run \`servo ledger verify\`.`)
  }
  const cursor: Cursor = { bytes, at: start, end }
  const notes = new Map<string, string>()
  const footer = { rows: -1, row_groups: 0, notes, start, notes_start: 0, notes_end: 0 }
  readFields(cursor, (field, type) => {
    if (field === NUM_ROWS && type === I64) footer.rows = readSigned(cursor)
    else if (field === ROW_GROUPS && type === LIST) {
      const { size, type: item } = readListHeader(cursor)
      footer.row_groups = size
      for (let i = 0; i < size; i++) skipValue(cursor, item)
    } else if (field === KEY_VALUE_METADATA && type === LIST) {
      footer.notes_start = cursor.at
      const { size } = readListHeader(cursor)
      for (let i = 0; i < size; i++) notes.set(...readNote(cursor))
      footer.notes_end = cursor.at
    } else skipValue(cursor, type)
  })
  if (footer.rows < 0) throw corrupt('A table file has a footer without a row count. Run `servo ledger verify`.')
  return footer
}

/** The file with these notes instead of the writer's, in the same memory. The Parquet writer adds its own copy of the
 *  schema, which is half of a small file and tells readers nothing that the Parquet schema does not. */
export function replaceNotes(file: Uint8Array, footer: Footer, notes: Readonly<Record<string, string>>): Uint8Array {
  const list = noteList(Object.entries(notes))
  const room = footer.notes_end - footer.notes_start
  assert(list.length <= room, `The Parquet writer left ${room} bytes of notes, where ${list.length} are to be written.`)
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const restEnd = bytes.length - TAIL_BYTES
  bytes.set(list, footer.notes_start)
  const end = footer.notes_start + list.length + restEnd - footer.notes_end
  bytes.copyWithin(footer.notes_start + list.length, footer.notes_end, restEnd)
  bytes.writeUInt32LE(end - footer.start, end)
  bytes.set(MAGIC, end + 4)
  return file.subarray(0, end + TAIL_BYTES)
}

/** A list of so few fits into its header, and a text of so few bytes into one byte of length. */
const ITEMS_MAX = 14
const TEXT_BYTES_MAX = 127
/** A field whose id is the one before it and one, of type binary. */
const NEXT_BINARY = (1 << 4) | BINARY

function noteList(notes: readonly (readonly [string, string])[]): Buffer {
  assert(notes.length <= ITEMS_MAX, `A table file takes ${ITEMS_MAX} notes, not ${notes.length}.`)
  const list = [Buffer.from([(notes.length << 4) | STRUCT])]
  for (const note of notes) {
    for (const text of note) {
      const length = Buffer.byteLength(text)
      assert(length <= TEXT_BYTES_MAX, `A note of a table file takes ${TEXT_BYTES_MAX} bytes, not ${length}.`)
      list.push(Buffer.from([NEXT_BINARY, length]), Buffer.from(text))
    }
    list.push(Buffer.from([0]))
  }
  return Buffer.concat(list)
}
