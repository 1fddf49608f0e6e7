// Writes an object whose name nobody else ever uses (it carries a ULID of the writer's own, or its content's hash).
// That is what makes the retry safe: a 412 on such a name can only be this write's own lost answer.

import { corrupt, isOperatingError, messageOf, unavailable } from '../core/errors.js'
import { crc32cHex } from '../core/hash.js'
import type { Clock } from '../core/time.js'
import { CREATE, type ObjectHead, type ObjectMeta, type ObjectStore } from './object-store.js'

const RETRY_DELAYS_MS = [20, 100, 500, 1_000, 2_000] as const

export type WriteOnce = { readonly store: ObjectStore; readonly clock: Clock }

export async function writeOnce(
  { store, clock }: WriteOnce,
  name: string,
  bytes: Uint8Array,
  meta: ObjectMeta = {},
): Promise<ObjectHead | undefined> {
  let lastFailure: unknown
  for (let attempt = 0; attempt <= RETRY_DELAYS_MS.length; attempt++) {
    if (attempt > 0) await clock.sleep(RETRY_DELAYS_MS[attempt - 1] ?? 0)
    try {
      const answer = await store.put(name, bytes, { if_generation: CREATE, meta })
      if (answer.kind === 'stored') return answer.head
      const found = await store.head(name)
      if (found.kind === 'found') return checked(found.head, bytes)
      lastFailure = answer.kind
    } catch (error) {
      if (!isOperatingError(error, 'unavailable')) throw error
      lastFailure = error
    }
  }
  throw unavailable(
    `${name} could not be written to ${store.label} in ${RETRY_DELAYS_MS.length + 1} tries, the last of which ended so: ${messageOf(lastFailure)}`,
    lastFailure,
  )
}

function checked(head: ObjectHead, bytes: Uint8Array): ObjectHead {
  if (head.crc32c === crc32cHex(bytes)) return head
  throw corrupt(`${head.name} holds other bytes than those that were written under its name. Run \`servo ledger verify\`.`)
}
