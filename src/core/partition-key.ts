// What a partition key may be (DATA section 1, names). Events check it at the edge, definitions when they are made.

import { utf8Bytes } from './canonical.js'
import { PARTITION_KEY_BYTES_MAX } from './limits.js'

/** What is wrong with the key, as the end of a sentence that begins with it; null when it is one. */
export function partitionKeyProblem(key: string): string | null {
  if (key === '') return 'is empty, which is the key of an asset without partitions: give it at least one character'
  if (utf8Bytes(key) > PARTITION_KEY_BYTES_MAX) return `is longer than ${PARTITION_KEY_BYTES_MAX} bytes: shorten it`
  if (/\p{Cc}/u.test(key)) return 'has a control character: remove it'
  if (key === '...') return 'is reserved: choose another one'
  if (key.normalize('NFC') !== key) return 'is not in the composed form of Unicode (NFC): normalize it'
  if (!key.isWellFormed()) return 'has half a character (a lone surrogate): write it anew'
  return null
}
