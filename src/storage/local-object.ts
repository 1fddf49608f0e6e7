// The form of one generation on disk: the object's bytes and its head in one file, so that one link makes both visible.
// The head is a line in front. In Parquet it is a block between the last page and the footer, where no reader looks
// (pages are found by offsets from the start, the footer from the end): the file stays one that DuckDB reads in place.

import { closeSync, fstatSync, openSync, read, readSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { corrupt, isOperatingError } from '../core/errors.js'
import { stampMs } from '../core/time.js'
import { stampOf } from './local-stamp.js'
import type { ObjectHead, ObjectMeta } from './object-store.js'

/** What a generation says of itself; the name and the number are those of its path. */
export type StoredHead = {
  readonly creation_time: string
  readonly size: number
  readonly crc32c: string
  readonly meta: ObjectMeta
  /** A tombstone: the object is absent from this generation on. */
  readonly deleted?: true
  /** Never written: the file cannot be read as an object (`describeFile`). */
  readonly damaged?: true
}

const LINE_START = 'servo-object-v1 '
const LINE_START_BYTES = Buffer.from(LINE_START)
const PARQUET_MAGIC = Buffer.from('PAR1')
/** Length of the footer as a number of four bytes, and the magic. */
const PARQUET_END_BYTES = 8
const BLOCK_MAGIC = Buffer.from('SVO1')
const BLOCK_END_BYTES = 8
/** A segment's head takes about 350 bytes, the footer of a small Parquet file 2 to 4 KB. */
const FIRST_READ_BYTES = 1_024
/** One for all heads: nothing is awaited between the read and the parse, and a listing reads thousands. */
const FIRST_READ = Buffer.allocUnsafeSlow(FIRST_READ_BYTES)
const FIRST_TAIL_READ_BYTES = 8_192
/** Up to here a read from the page cache costs less than handing it to another thread. */
const READ_IN_PLACE_BYTES_MAX = 256 * 1_024

const readAsync = promisify(read)

/** What is written, in order. */
export function fileParts(head: StoredHead, bytes: Uint8Array): readonly Uint8Array[] {
  const line = Buffer.from(`${LINE_START}${JSON.stringify(head)}\n`)
  const footer = parquetFooterStart(bytes)
  if (footer === undefined) return [line, bytes]
  const end = Buffer.alloc(BLOCK_END_BYTES)
  end.writeUInt32LE(line.length + BLOCK_END_BYTES, 0)
  BLOCK_MAGIC.copy(end, 4)
  return [bytes.subarray(0, footer), line, end, bytes.subarray(footer)]
}

/** The offset of the footer, or `undefined` for what is not a Parquet file. */
function parquetFooterStart(bytes: Uint8Array): number | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.length < PARQUET_MAGIC.length + PARQUET_END_BYTES || !view.subarray(0, 4).equals(PARQUET_MAGIC)) return undefined
  return footerStartFromEnd(view, view.length)
}

/** From the last bytes of a file of this size. */
function footerStartFromEnd(tail: Buffer, size: number): number | undefined {
  if (tail.length < PARQUET_END_BYTES || !tail.subarray(tail.length - 4).equals(PARQUET_MAGIC)) return undefined
  const start = size - PARQUET_END_BYTES - tail.readUInt32LE(tail.length - PARQUET_END_BYTES)
  return start >= PARQUET_MAGIC.length ? start : undefined
}

export const headOf = (name: string, generation: number, stored: StoredHead): ObjectHead => ({
  name,
  generation: String(generation),
  creation_time: stored.creation_time,
  size: stored.size,
  crc32c: stored.crc32c,
  meta: stored.meta,
  ...(stored.damaged === true ? { damaged: true } : {}),
})

/** The head of a generation, whatever its file holds: of one that cannot be read as an object, what the file system says. The path
 *  alone tells the generation, so one damaged file hides none of its neighbours, and can be replaced and deleted. */
export function describeFile(path: string): StoredHead {
  try {
    return readStoredHead(path)
  } catch (error) {
    if (!isOperatingError(error, 'corrupt')) throw error
    const { size, mtimeNs } = statSync(path, { bigint: true })
    return { creation_time: stampOf(mtimeNs).text, size: Number(size), crc32c: '', meta: {}, damaged: true }
  }
}

function readStoredHead(path: string): StoredHead {
  const file = openSync(path, 'r')
  try {
    const start = FIRST_READ.subarray(0, readSync(file, FIRST_READ, 0, FIRST_READ_BYTES, 0))
    if (!startsWith(start, PARQUET_MAGIC)) {
      const line = lineIn(start)
      // A head beyond the first read has large metadata: the file is read whole, which no listing of segments needs.
      return line === undefined ? split(readRange(file, 0, fstatSync(file).size), path).stored : parseLine(line, path)
    }
    const { size } = fstatSync(file)
    const tail = readRange(file, Math.max(0, size - FIRST_TAIL_READ_BYTES), size)
    const footer = footerStartFromEnd(tail, size)
    const from = footer === undefined ? 0 : footer - FIRST_READ_BYTES
    return blockBefore(from < size - tail.length ? readRange(file, 0, size) : tail, size, path).stored
  } finally {
    closeSync(file)
  }
}

/** The whole object. Large files are read by another thread. */
export async function readObject(path: string): Promise<{ readonly stored: StoredHead; readonly bytes: Uint8Array }> {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    return split(size <= READ_IN_PLACE_BYTES_MAX ? readRange(file, 0, size) : await readLarge(file, size), path)
  } finally {
    closeSync(file)
  }
}

function readRange(file: number, from: number, to: number): Buffer {
  const buffer = Buffer.allocUnsafe(to - from)
  let filled = 0
  while (filled < buffer.length) {
    const count = readSync(file, buffer, filled, buffer.length - filled, from + filled)
    if (count === 0) break
    filled += count
  }
  return buffer.subarray(0, filled)
}

async function readLarge(file: number, size: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(size)
  let filled = 0
  while (filled < size) {
    const { bytesRead } = await readAsync(file, buffer, filled, size - filled, filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

/** The file as a whole, taken apart; the buffer is used up. */
function split(file: Buffer, path: string): { readonly stored: StoredHead; readonly bytes: Uint8Array } {
  if (startsWith(file, PARQUET_MAGIC)) {
    const { stored, start, end } = blockBefore(file, file.length, path)
    file.copyWithin(start, end)
    return { stored, bytes: whole(file.subarray(0, file.length - (end - start)), stored, path) }
  }
  const line = lineIn(file)
  if (line === undefined) throw damaged(path)
  const stored = parseLine(line, path)
  return { stored, bytes: whole(file.subarray(line.length + 1), stored, path) }
}

function whole(bytes: Uint8Array, stored: StoredHead, path: string): Uint8Array {
  if (bytes.length !== stored.size) throw damaged(path)
  return bytes
}

/** The block in front of the footer, from the last bytes of a file of this size. */
function blockBefore(
  tail: Buffer,
  size: number,
  path: string,
): { readonly stored: StoredHead; readonly start: number; readonly end: number } {
  const footer = footerStartFromEnd(tail, size)
  const end = footer === undefined ? -1 : footer - (size - tail.length)
  if (end < BLOCK_END_BYTES || !tail.subarray(end - BLOCK_MAGIC.length, end).equals(BLOCK_MAGIC)) throw damaged(path)
  const start = end - tail.readUInt32LE(end - BLOCK_END_BYTES)
  const line = start < 0 ? undefined : lineIn(tail.subarray(start, end))
  if (line === undefined) throw damaged(path)
  return { stored: parseLine(line, path), start, end }
}

const startsWith = (bytes: Buffer, start: Buffer): boolean =>
  bytes.length >= start.length && bytes.compare(start, 0, start.length, 0, start.length) === 0

/** The head's line without its end, where the bytes begin with a whole one. */
function lineIn(bytes: Buffer): Buffer | undefined {
  if (!startsWith(bytes, LINE_START_BYTES)) return undefined
  const end = bytes.indexOf(10)
  return end < 0 ? undefined : bytes.subarray(0, end)
}

function parseLine(line: Buffer, path: string): StoredHead {
  let head: unknown
  try {
    head = JSON.parse(line.toString('utf8', LINE_START.length))
  } catch (error) {
    throw damaged(path, error)
  }
  if (!isStoredHead(head)) throw damaged(path)
  return head
}

/** By hand: a listing parses thousands of them. */
function isStoredHead(value: unknown): value is StoredHead {
  if (typeof value !== 'object' || value === null) return false
  const { creation_time, size, crc32c, meta } = value as Readonly<Record<keyof StoredHead, unknown>>
  return (
    typeof creation_time === 'string' &&
    !Number.isNaN(stampMs(creation_time)) &&
    typeof size === 'number' &&
    typeof crc32c === 'string' &&
    typeof meta === 'object' &&
    meta !== null
  )
}

const damaged = (path: string, cause?: unknown) =>
  corrupt(
    `The file ${path} is not an object as the local store writes it. Restore it from a copy, or run \`servo ledger verify\` to see what needs it.`,
    cause,
  )
