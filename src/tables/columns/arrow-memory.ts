// Columns of a record batch in WebAssembly memory, read in place through Arrow's C data interface. What it returns are
// views: they are void after the next call into WebAssembly, so read them at once or copy them.

import { corrupt } from '../../core/errors.js'
import type { ColumnData } from './column-data.js'
import { type FileColumn, type FileLayout, storageOf } from './file-column.js'

/** The part of parquet-wasm's exported structs that is used here. */
type Exported = { readonly arrayAddr: () => number; readonly schemaAddr: () => number }

/** Byte offsets in the C structs, on a machine with 32-bit pointers. */
const ARRAY = { length: 0, null_count: 8, offset: 16, buffers: 40, children: 44 } as const
const SCHEMA = { format: 0, name: 4, child_count: 24, children: 32 } as const

const FORMATS: Readonly<Record<FileColumn['type'], string>> = {
  string: 'u',
  json: 'u',
  int32: 'i',
  int64: 'l',
  timestamp: 'tsm:UTC',
  double: 'g',
  boolean: 'b',
}

type Memory = { readonly buffer: ArrayBufferLike; readonly bytes: Buffer; readonly view: DataView }

/** Counts are 64 bits wide; a batch has fewer than 2^32 rows. */
const readCount = (memory: Memory, at: number): number => memory.view.getUint32(at, true)
const readPointer = (memory: Memory, at: number): number => memory.view.getUint32(at, true)

function readText(memory: Memory, at: number): string {
  const start = readPointer(memory, at)
  return memory.bytes.toString('latin1', start, memory.bytes.indexOf(0, start))
}

/** Whether the text there is this one: of a row that is looked up alone, names took as long as its values. */
function isText({ bytes }: Memory, start: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false
  return bytes[start + text.length] === 0
}

/** A bit a row to a byte a row; bit `offset` is the first row's. */
function unpackBits<T extends Uint8Array | Int32Array>(bits: Uint8Array, offset: number, target: T): T {
  for (let row = 0, bit = offset; row < target.length; row++, bit++) target[row] = ((bits[bit >> 3] as number) >> (bit & 7)) & 1
  return target
}

const NO_BYTES = Buffer.alloc(0)
const NO_FLAGS = new Uint8Array(0)

function readColumn(memory: Memory, column: FileColumn, array: number): ColumnData {
  const { buffer, bytes } = memory
  const rows = readCount(memory, array + ARRAY.length)
  const nulls = readCount(memory, array + ARRAY.null_count)
  const offset = readCount(memory, array + ARRAY.offset)
  const buffers = readPointer(memory, array + ARRAY.buffers)
  const [flags, values] = [readPointer(memory, buffers), readPointer(memory, buffers + 4)]
  const present = nulls === 0 ? NO_FLAGS : unpackBits(bytes.subarray(flags), offset, new Uint8Array(rows))
  const base = { column, rows, nulls, present, bytes: NO_BYTES }
  if (column.type === 'boolean') return { ...base, words: unpackBits(bytes.subarray(values), offset, new Int32Array(rows)) }
  switch (storageOf(column)) {
    case 'word':
      return { ...base, words: new Int32Array(buffer, values + 4 * offset, rows) }
    case 'pair':
      return { ...base, words: new Int32Array(buffer, values + 8 * offset, 2 * rows) }
    case 'text': {
      const words = new Int32Array(buffer, values + 4 * offset, rows + 1)
      return { ...base, words, bytes: bytes.subarray(readPointer(memory, buffers + 8)) }
    }
  }
}

/** Columns by place. One that was not read is absent, and so is one that the file does not have and that may be null. */
export type GroupColumns = readonly (ColumnData | undefined)[]

export function readColumns(
  memory: ArrayBufferLike,
  exported: Exported,
  { table, columns }: FileLayout,
  places: readonly number[],
): GroupColumns {
  const source: Memory = { buffer: memory, bytes: Buffer.from(memory), view: new DataView(memory) }
  const schema = exported.schemaAddr()
  const count = readCount(source, schema + SCHEMA.child_count)
  const schemas = readPointer(source, schema + SCHEMA.children)
  const arrays = readPointer(source, exported.arrayAddr() + ARRAY.children)
  const schemaOf = (child: number) => readPointer(source, schemas + 4 * child)
  // Nearly always they are asked for in the order that they have.
  let next = 0
  const find = (name: string): number | undefined => {
    for (let step = 0; step < count; step++) {
      const child = (next + step) % count
      if (!isText(source, readPointer(source, schemaOf(child) + SCHEMA.name), name)) continue
      next = child + 1
      return child
    }
    return undefined
  }
  const read: (ColumnData | undefined)[] = columns.map(() => undefined)
  for (const place of places) {
    const column = columns[place] as FileColumn
    const child = find(column.name)
    if (child === undefined) {
      if (column.nullable) continue
      throw corrupt(`A file of ${table} has no column ${column.name}. Run \`servo ledger verify\`.`)
    }
    const format = schemaOf(child) + SCHEMA.format
    if (!isText(source, readPointer(source, format), FORMATS[column.type])) {
      throw corrupt(
        `Column ${column.name} of a file of ${table} has the Arrow type ${readText(source, format)}, not ${FORMATS[column.type]}.`,
      )
    }
    const data = readColumn(source, column, readPointer(source, arrays + 4 * child))
    if (data.nulls > 0 && !column.nullable) {
      throw corrupt(`Column ${column.name} of a file of ${table} has ${data.nulls} rows without a value. Run \`servo ledger verify\`.`)
    }
    read[place] = data
  }
  return read
}
