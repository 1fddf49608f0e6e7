// Creates an object, or reads the one that is there: of all who try the same name one makes it, and everybody learns whose
// it is. An answer that was lost looks like another's object, so whoever may have made it compares what is in it.

import { isOperatingError, messageOf, unavailable } from '../core/errors.js'
import type { Clock } from '../core/time.js'
import { CREATE, type ObjectStore } from './object-store.js'
import { readIntact } from './read-intact.js'

export type CreateDeps = { readonly store: ObjectStore; readonly clock: Clock }

/** As long as a caller waits for an answer; it asks again with the same words. */
const TRIES_DELAYS_MS = [20, 100, 500, 1_000] as const

/** `again` ends the sentence about a store that does not answer: what to do. */
export const createOrRead = (deps: CreateDeps, name: string, content: unknown, again: string): Promise<'created' | Uint8Array> =>
  createBytesOrRead(deps, name, Buffer.from(JSON.stringify(content)), again)

export async function createBytesOrRead(
  { store, clock }: CreateDeps,
  name: string,
  bytes: Uint8Array,
  again: string,
): Promise<'created' | Uint8Array> {
  let failure: unknown
  for (let attempt = 0; attempt <= TRIES_DELAYS_MS.length; attempt++) {
    if (attempt > 0) await clock.sleep(TRIES_DELAYS_MS[attempt - 1] ?? 0)
    try {
      const answer = await store.put(name, bytes, { if_generation: CREATE })
      if (answer.kind === 'stored') return 'created'
      const found = await readIntact(store, name)
      if (found.kind === 'found') return found.bytes
      failure = answer.kind
    } catch (error) {
      if (!isOperatingError(error, 'unavailable')) throw error
      failure = error
    }
  }
  throw unavailable(`${name} could not be written to ${store.label} (${messageOf(failure)}). ${again}`, failure)
}
