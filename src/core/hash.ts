// The only file of pure code that imports from node: or a native module: digests and checksums.

import { createHash, createHmac, hash } from 'node:crypto'
import { crc32c as crc32cNative } from '@node-rs/crc32'

export const sha256 = (input: string | Uint8Array): Uint8Array => createHash('sha256').update(input).digest()
export const sha256Hex = (input: string | Uint8Array): string => createHash('sha256').update(input).digest('hex')
export const hmacSha256 = (secret: string | Uint8Array, message: string): Uint8Array =>
  createHmac('sha256', secret).update(message).digest()

/** Eight lower-case hex digits, the form in which every object's checksum is recorded. */
export const crc32cHex = (bytes: Uint8Array): string =>
  crc32cNative(bytes as Buffer)
    .toString(16)
    .padStart(8, '0')

/** The same as a number, and over several pieces: pass what came out as `before`. */
export const crc32c = (bytes: Uint8Array, before = 0): number => crc32cNative(bytes as Buffer, before)

/** The first eight bytes of the SHA-256, as two big-endian numbers: for hashing into tables. The text form is what node
 *  gives back fastest (0.8 µs a key, measured; a buffer 1.9). */
export function sha256Words(input: string): { readonly first: number; readonly second: number } {
  const digest = hash('sha256', input, 'binary')
  return { first: wordAt(digest, 0), second: wordAt(digest, 4) }
}

const wordAt = (digest: string, at: number): number =>
  ((digest.charCodeAt(at) << 24) | (digest.charCodeAt(at + 1) << 16) | (digest.charCodeAt(at + 2) << 8) | digest.charCodeAt(at + 3)) >>> 0
