// ULIDs and ULID-shaped ids: 16 bytes as a big-endian number in 26 Crockford digits.

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

export const ULID_PATTERN = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/** Sixteen bytes of randomness a call, or whatever a test supplies. */
export type RandomBytes = (count: number) => Uint8Array

export function ulidFromBytes(bytes: Uint8Array): string {
  let text = ''
  // 128 bits are 26 digits of 5 bits with two zero bits in front.
  let carry = 0
  let bits = 2
  for (let i = 0; i < 16; i++) {
    carry = (carry << 8) | (bytes[i] as number)
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(carry >>> bits) & 31]
      carry &= (1 << bits) - 1
    }
  }
  return text
}

/** 48 bits of time, then 80 bits that the caller gives. */
export function ulidAt(at_ms: number, last80bits: Uint8Array): string {
  const bytes = new Uint8Array(16)
  for (let i = 5, rest = at_ms; i >= 0; i--) {
    bytes[i] = rest % 256
    rest = Math.floor(rest / 256)
  }
  bytes.set(last80bits.subarray(0, 10), 6)
  return ulidFromBytes(bytes)
}

/** The first ten digits of every ULID of that millisecond. */
export const ulidTimePrefix = (at_ms: number): string => ulidAt(at_ms, new Uint8Array(10)).slice(0, 10)

export function ulidTime(ulid: string): number {
  let at_ms = 0
  for (let i = 0; i < 10; i++) at_ms = at_ms * 32 + ALPHABET.indexOf(ulid[i] as string)
  return at_ms
}

/** An id for something new. Order among ids of one millisecond means nothing to anybody. */
export const newUlid = (now_ms: number, random: RandomBytes): string => ulidAt(now_ms, random(10))
