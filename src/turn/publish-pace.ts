// How far apart the publishes of a workspace are, by how many revisions lie above its base. A merge takes them in, and while it
// works the next ones must not pile up until every publish waits a second.

import { DELTAS_MAX, DELTAS_SLOW_MS, MERGE_DUE_DELTAS } from '../core/limits.js'

/** Milliseconds from one publish to the next: none before a merge is due, then growing with the square of what has piled up since, to
 *  a second. The square leaves the first part of the room nearly free: a hundred revisions take two seconds, which is a merge of a small
 *  base, and all 448 two and a half minutes, which is one of a large base (docs/performance.md). */
export function publishIntervalMs(delta_count: number): number {
  const share = (delta_count - MERGE_DUE_DELTAS) / (DELTAS_MAX - MERGE_DUE_DELTAS)
  return DELTAS_SLOW_MS * Math.min(1, Math.max(0, share)) ** 2
}
