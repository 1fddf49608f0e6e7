// How far back `as_of` reaches by given settings: how many revisions older than an hour can be opened, and the oldest of them.

import { AS_OF_ALL_KEPT_MS } from '../../core/limits.js'
import type { History } from '../../tables/history/history.js'
import { isKept, type KeptAt, olderKept } from '../../tables/history/kept-revisions.js'
import type { AsOfReach } from './effect.js'

export async function asOfReach(history: History, at: KeptAt): Promise<AsOfReach> {
  const { newest } = history
  const all_from = at.now - AS_OF_ALL_KEPT_MS
  let one = await history.newestBefore(newest.sequence + 1, all_from)
  // It stood when that hour began.
  let oldest_at = one !== undefined && (await isKept(history, one, at)) ? one.published_at : null
  let revisions = 0
  while (one !== undefined) {
    const replaced_at = one.sequence === newest.sequence ? at.now : (await history.at(one.sequence + 1)).published_at
    if (replaced_at < all_from && (await isKept(history, one, at))) {
      revisions += 1
      oldest_at = one.published_at
    }
    one = await olderKept(history, one, at)
  }
  return { revisions, oldest_at }
}
