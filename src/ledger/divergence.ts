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
  const stored = new Map<string, string>()
  for (const entry of batches.flatMap(({ entries }) => entries)) {
    if (entry.kind === 'event') stored.set(entry.event.idempotency_key, canonicalJson(entry.event.payload))
  }
  return events
    .filter(({ idempotency_key, payload }) => stored.get(idempotency_key) !== canonicalJson(payload))
    .map((event) => event.idempotency_key)
}
