// Whether a segment that was there first says the same as ours under the same keys. The stored one stands either way:
// this is for a log line, since two processes that say different things under one key are a bug in whoever chose the key.

import { canonicalJson } from '../core/canonical.js'
import type { Scope } from '../core/ids.js'
import type { LedgerEvent } from '../events/event.js'
import type { ObjectHead, ObjectStore } from '../storage/object-store.js'
import { readSegment } from './read.js'
import { parseSegment } from './segment.js'

/** The idempotency keys under which the stored segment has another payload. */
export async function divergentKeys(
  store: ObjectStore,
  scope: Scope,
  head: ObjectHead,
  events: readonly LedgerEvent[],
): Promise<readonly string[]> {
  const { batches } = parseSegment(await readSegment(store, head.name, head.crc32c), scope)
  const stored = new Map<string, Payload>()
  for (const entry of batches.flatMap(({ entries }) => entries)) {
    if (entry.kind === 'event') stored.set(entry.event.idempotency_key, entry.event.payload)
  }
  return events
    .filter(({ idempotency_key, payload }) => !isSame(stored.get(idempotency_key), payload))
    .map((event) => event.idempotency_key)
}

type Payload = Readonly<Record<string, unknown>>

/** While secrets are rotated two processes make different ids for the same run or attempt, and nothing is wrong with that. */
function isSame(stored: Payload | undefined, ours: Payload): boolean {
  if (stored === undefined) return false
  const isRotated = stored['secret_key_id'] !== ours['secret_key_id']
  const [left, right] = isRotated ? [withoutMadeIds(stored), withoutMadeIds(ours)] : [stored, ours]
  return canonicalJson(left) === canonicalJson(right)
}

const MADE_IDS = { secret_key_id: undefined, run_id: undefined, attempt_id: undefined }
const withoutMadeIds = (payload: Payload): Payload => ({ ...payload, ...MADE_IDS })
