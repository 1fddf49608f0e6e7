// Reads an object whose bytes are what the store says they are: an answer that was damaged on its way is asked for again.
// What stays damaged is damaged in the store, and no caller may take it for something else.

import { corrupt } from '../core/errors.js'
import { crc32cHex } from '../core/hash.js'
import type { GetAnswer, ObjectStore } from './object-store.js'

const READS_MAX = 4

export async function readIntact(store: Pick<ObjectStore, 'label' | 'get'>, name: string): Promise<GetAnswer> {
  for (let read = 1; ; read++) {
    const answer = await store.get(name)
    if (answer.kind === 'absent' || crc32cHex(answer.bytes) === answer.head.crc32c) return answer
    if (read === READS_MAX) {
      throw corrupt(`${name} in ${store.label} does not have the checksum that the store keeps for it. Restore it from a backup.`)
    }
  }
}
