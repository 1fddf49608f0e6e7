// Bloom filter files: which keys a table file may have, so that a look-up of a new key opens none. A filter may say yes
// for a key that is not there; it never says no for one that is. It never holds anything but the first key column.
//
// Little-endian: 0 'SVBF' · 4 version (1) · 5 hashes a key · 6 two zero bytes · 8 bits, uint32 · 12 keys, uint32 ·
// 16 crc32c of bytes 0 to 15 and of all from 20 on, uint32 · 20 the bits, bit i is bit i & 7 of byte i >> 3.
// A key's bits: with a and b the first two big-endian uint32 of SHA-256(key in UTF-8), each shifted right by one, the
// first bit is a mod bits. The next is a step of 1 + b mod (bits - 1) further, the one after that a step that is one
// longer, then two longer than that, and so on; bits and steps are taken mod bits.

import { assert, corrupt } from '../core/errors.js'
import { crc32c, sha256Words } from '../core/hash.js'
import { type RowKey, type TableName, tableNamed } from '../projections/tables.js'

/** 24 bits and 17 hashes a key: one absent key in 100,000 is let through (LEDGER section 6). */
const BITS_PER_KEY = 24
const HASHES = 17
/** Above this the two words of a digest would no longer spread evenly over the bits; a file has far fewer rows. */
const BITS_MAX = 2 ** 27
const BITS_MIN = 64

const MAGIC = 0x46425653
const VERSION = 1
const CHECKSUM_AT = 16
const HEADER_BYTES = 20

/** Computed once a key, and asked of any number of filters. */
export type KeyDigest = { readonly first: number; readonly second: number }

export type Filter = {
  readonly bits: Uint8Array
  readonly bit_count: number
  readonly hash_count: number
  readonly key_count: number
}

/** The text of a key that filters know: its first column, so that all rows of a run are one entry. */
export function filterKeyOf(table: TableName, key: RowKey): string {
  const first = key[0]
  assert(typeof first === 'string', `The filters of ${table} hold ${tableNamed(table).key[0]}, which is text, not ${typeof first}.`)
  return first
}

/** Of 31 bits each, because V8 divides those as integers: with 32 a probe takes ten times as long (measured). */
export function keyDigest(text: string): KeyDigest {
  const { first, second } = sha256Words(text)
  return { first: first >>> 1, second: second >>> 1 }
}

/** As many keys as one filter may have. */
export const FILTER_KEYS_MAX = Math.floor(BITS_MAX / BITS_PER_KEY)

/** Equal neighbours count once: the keys come in the order of a file, where a run's rows lie together. */
export function buildFilter(keys: Iterable<string>): Uint8Array {
  const digests = collectDigests()
  for (const key of keys) digests.add(key)
  return digests.toFilter()
}

/** The same of keys that come in several batches. */
export function collectDigests(): { readonly add: (key: string) => void; readonly toFilter: () => Uint8Array } {
  const digests: KeyDigest[] = []
  let previous: string | undefined
  return {
    add(key) {
      if (key !== previous) digests.push(keyDigest(key))
      previous = key
    },
    toFilter() {
      const filter = startFilter(digests.length)
      for (const digest of digests) filter.add(digest)
      return filter.finish()
    },
  }
}

export type FilterInProgress = { readonly add: (digest: KeyDigest) => void; readonly finish: () => Uint8Array }

/** For keys that are too many to be held: as many are promised as will come, or a few more. */
export function startFilter(promised_count: number): FilterInProgress {
  const bit_count = Math.max(BITS_MIN, Math.ceil((promised_count * BITS_PER_KEY) / 8) * 8)
  assert(bit_count <= BITS_MAX, `A filter over ${promised_count} keys is larger than its format admits.`)
  const bytes = new Uint8Array(HEADER_BYTES + bit_count / 8)
  const bits = bytes.subarray(HEADER_BYTES)
  let key_count = 0
  const add = ({ first, second }: KeyDigest): void => {
    key_count += 1
    let step = 1 + (second % (bit_count - 1))
    let bit = first % bit_count
    for (let i = 0; i < HASHES; i++) {
      bits[bit >>> 3] = (bits[bit >>> 3] as number) | (1 << (bit & 7))
      bit += step
      if (bit >= bit_count) bit -= bit_count
      step += i + 1
      if (step >= bit_count) step -= bit_count
    }
  }
  const finish = (): Uint8Array => {
    assert(key_count <= promised_count, `A filter was promised ${promised_count} keys, and has ${key_count}: it would say yes too often.`)
    return sealed(bytes, key_count)
  }
  return { add, finish }
}

/** Says yes to every key: in place of a filter whose keys are not known any more. */
export const filterThatAdmitsAll = (): Uint8Array => sealed(new Uint8Array(HEADER_BYTES + BITS_MIN / 8).fill(0xff, HEADER_BYTES), 0)

/** Writes the header before the bits, the checksum last. */
function sealed(bytes: Uint8Array, key_count: number): Uint8Array {
  const header = new DataView(bytes.buffer)
  header.setUint32(0, MAGIC, true)
  header.setUint8(4, VERSION)
  header.setUint8(5, HASHES)
  header.setUint32(8, (bytes.length - HEADER_BYTES) * 8, true)
  header.setUint32(12, key_count, true)
  header.setUint32(CHECKSUM_AT, checksum(bytes), true)
  return bytes
}

const checksum = (bytes: Uint8Array): number => crc32c(bytes.subarray(HEADER_BYTES), crc32c(bytes.subarray(0, CHECKSUM_AT)))

/** `name` is for the message alone. The filter keeps the bytes: they must not change. */
export function openFilter(bytes: Uint8Array, name = 'A filter file'): Filter {
  const damaged = (what: string) => corrupt(`${name} ${what}.`)
  if (bytes.length <= HEADER_BYTES) throw damaged(`has ${bytes.length} bytes, too few for a filter`)
  const header = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (header.getUint32(0, true) !== MAGIC) throw damaged('does not begin like a filter')
  const version = header.getUint8(4)
  if (version !== VERSION) throw corrupt(`${name} has filter version ${version}. Install a Servo that knows it; this one knows ${VERSION}.`)
  const bit_count = header.getUint32(8, true)
  if (bytes.length !== HEADER_BYTES + bit_count / 8)
    throw damaged(`has ${bytes.length} bytes where its ${bit_count} bits need another size`)
  if (header.getUint32(CHECKSUM_AT, true) !== checksum(bytes)) throw damaged('has another checksum than its content')
  return { bits: bytes.subarray(HEADER_BYTES), bit_count, hash_count: header.getUint8(5), key_count: header.getUint32(12, true) }
}

/** Looked at without a branch each: of absent keys one in sixteen gets past these. */
const FIRST_HASHES = 4

export function mightContain({ bits, bit_count, hash_count }: Filter, { first, second }: KeyDigest): boolean {
  let bit = first % bit_count
  let step = 1 + (second % (bit_count - 1))
  let found = 1
  for (let i = 0; i < hash_count; i++) {
    found &= (bits[bit >>> 3] as number) >>> (bit & 7)
    if (i >= FIRST_HASHES - 1 && found === 0) return false
    bit += step
    if (bit >= bit_count) bit -= bit_count
    step += i + 1
    if (step >= bit_count) step -= bit_count
  }
  return found === 1
}
