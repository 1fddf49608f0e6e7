// A checksum of a set of segments that does not depend on their order: the sum of one digest for each, modulo 2^256.
// Every revision records it over all segments folded so far, so that nothing can leave the ledger unnoticed.

import { sha256Hex } from '../core/hash.js'

const MODULUS = 1n << 256n

export const EMPTY_SET_SUM = 0n

export const addToSetSum = (sum: bigint, segment_name: string, crc32c: string): bigint =>
  (sum + BigInt(`0x${sha256Hex(`${segment_name}:${crc32c}`)}`)) % MODULUS

export const setSumText = (sum: bigint): string => sum.toString(16).padStart(64, '0')

export const setSumFrom = (text: string): bigint => BigInt(`0x${text}`)
