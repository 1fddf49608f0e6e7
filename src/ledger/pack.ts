// A pack is one file of many old segments, a line each. What is read from it is byte for byte what was written as a segment
// once. It knows nothing of who packs, and of no page.

import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import { corrupt } from '../core/errors.js'
import { crc32cHex } from '../core/hash.js'
import { isUlid } from '../core/ids.js'
import { parseJson } from '../core/json.js'

export const PACKS_PREFIX = 'ledger/orchestration-packs/'

const ENDING = '.ndjson'
const LINE_FEED = 10

export const packName = (pack: string): string => `${PACKS_PREFIX}${pack}${ENDING}`
/** False for what somebody else left under the prefix. */
export const isPackObject = (name: string): boolean =>
  name.startsWith(PACKS_PREFIX) && name.endsWith(ENDING) && isUlid(name.slice(PACKS_PREFIX.length, -ENDING.length))

const lineHead = z.object({
  /** The ULID alone: what revisions record. */
  name: z.string().refine(isUlid),
  creation_time: z.string(),
  crc32c: z.string(),
  size: z.int(),
  /** Empty where whoever wrote the segment gave it none. */
  keys_sha256: z.string(),
  /** Of the revision that folded it. */
  sequence: z.int(),
})
/** One of the two; the checksum says whether it is the right one. */
const line = z.object({ ...lineHead.shape, body: z.string().optional(), body_base64: z.string().optional() })

export type PackedSegment = z.infer<typeof lineHead> & { readonly bytes: Uint8Array }

/** With its line feed. JSON escapes every one inside, so that lines are told apart without parsing. */
export function encodePackLine({ bytes, ...head }: PackedSegment): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const body = isUtf8(buffer) ? { body: buffer.toString('utf8') } : { body_base64: buffer.toString('base64') }
  return Buffer.from(`${JSON.stringify({ ...head, ...body })}\n`)
}

/** `where` names it in the error: a line that does not hold what it says of itself is damaged. */
export function parsePackLine(bytes: Uint8Array, where: string): PackedSegment {
  const parsed = line.safeParse(parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')))
  if (!parsed.success) throw corrupt(`${where} is no segment. Run \`servo ledger verify\`.`)
  const { body, body_base64, ...head } = parsed.data
  const stored = body === undefined ? Buffer.from(body_base64 ?? '', 'base64') : Buffer.from(body)
  if (stored.byteLength !== head.size || crc32cHex(stored) !== head.crc32c) {
    throw corrupt(`${where}, segment ${head.name}, does not have the size and checksum that it states. Run \`servo ledger verify\`.`)
  }
  return { ...head, bytes: stored }
}

/** Without their line feeds. */
export function* packLines(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; ) {
    const found = bytes.indexOf(LINE_FEED, start)
    const end = found < 0 ? bytes.byteLength : found
    yield bytes.subarray(start, end)
    start = end + 1
  }
}
