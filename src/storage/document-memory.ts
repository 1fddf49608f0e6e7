// A store that remembers documents which it has read, up to so many bytes, so that work which comes again and again does not
// read them each time. It remembers nothing that did not have its checksum, and writes and deletions go through as they are.

import { crc32cHex } from '../core/hash.js'
import type { GetAnswer, ObjectStore } from './object-store.js'
import { standInFor } from './stoppable.js'

/** `for_ever`: nothing else is ever written under the name, and what was deleted may be had elsewhere. `while_there`: the generation is compared with each read, which is
 *  half of what a read costs on Google Cloud Storage. `no`: it is read each time. */
export type Remembered = 'for_ever' | 'while_there' | 'no'

type DocumentMemory = {
  readonly bytes_max: number
  readonly howLong: (name: string) => Remembered
}

type Found = Extract<GetAnswer, { readonly kind: 'found' }>

export function rememberDocuments(store: ObjectStore, { bytes_max, howLong }: DocumentMemory): ObjectStore {
  /** In the order of their last use. */
  const known = new Map<string, Found>()
  let byte_count = 0

  function forget(name: string): void {
    byte_count -= known.get(name)?.bytes.byteLength ?? 0
    known.delete(name)
  }

  function remember(name: string, answer: Found): void {
    forget(name)
    known.set(name, answer)
    byte_count += answer.bytes.byteLength
    for (const oldest of known.keys()) {
      if (byte_count <= bytes_max) break
      forget(oldest)
    }
  }

  async function recall(name: string): Promise<Found | undefined> {
    const answer = known.get(name)
    if (answer === undefined || howLong(name) === 'for_ever') return answer
    const looked = await store.head(name)
    const isSame = looked.kind === 'found' && looked.head.generation === answer.head.generation
    return isSame ? { ...answer, server_time: looked.server_time } : undefined
  }

  const remembering: ObjectStore = {
    ...store,
    async get(name) {
      if (howLong(name) === 'no') return store.get(name)
      const answer = (await recall(name)) ?? (await store.get(name))
      // What was damaged on its way is asked for again.
      if (answer.kind === 'found' && crc32cHex(answer.bytes) === answer.head.crc32c) remember(name, answer)
      else forget(name)
      return answer
    },
    async put(name, bytes, options) {
      forget(name)
      return store.put(name, bytes, options)
    },
    async delete(name, options) {
      if (howLong(name) !== 'for_ever') forget(name)
      return store.delete(name, options)
    },
  }
  standInFor(store, remembering)
  return remembering
}
