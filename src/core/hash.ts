// The only file of pure code that imports from node: or a native module: digests and checksums.

import { crc32c as crc32cNative } from '@node-rs/crc32'
import { createHash, createHmac } from 'node:crypto'

export const sha256 = (input: string | Uint8Array): Uint8Array => createHash('sha256').update(input).digest()
export const sha256Hex = (input: string | Uint8Array): string => createHash('sha256').update(input).digest('hex')
export const hmacSha256 = (secret: string | Uint8Array, message: string): Uint8Array =>
  createHmac('sha256', secret).update(message).digest()

/** Eight lower-case hex digits, the form in which every object's checksum is recorded. */
export const crc32cHex = (bytes: Uint8Array): string =>
  crc32cNative(bytes as Buffer)
    .toString(16)
    .padStart(8, '0')
