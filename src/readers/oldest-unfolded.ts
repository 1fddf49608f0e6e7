// Remembers the oldest segment that the newest revision has not folded, so that probes need not list the ledger: a scrape of the
// metrics lists it anyway, and as long as no revision follows, what was once found unfolded still is.

import { UNFOLDED_GRACE_MS, UNFOLDED_LISTING_EVERY_MS } from '../core/limits.js'
import { type Clock, stampMs } from '../core/time.js'
import { listUnfolded } from './fresh.js'
import type { Reader, View } from './reader.js'

export type OldestUnfolded = {
  /** What a listing found: 0 as the sequence where nothing is published. */
  readonly note: (sequence: number, oldest_at: number | null) => void
  /** When it was created. null: a moment ago there was none. It lists at most once in UNFOLDED_LISTING_EVERY_MS. */
  readonly find: (view: View) => Promise<number | null>
}

type Deps = {
  readonly reader: Reader
  readonly clock: Pick<Clock, 'elapsed'>
  /** The store's time. */
  readonly now: () => number
  /** Called once for each segment that waits for longer than turns need: a poke may have been lost with its process. */
  readonly onLate: () => void
}

export const oldestOf = (segments: readonly { readonly creation_time: string }[]): number | null =>
  segments.length === 0 ? null : Math.min(...segments.map(({ creation_time }) => stampMs(creation_time)))

export function createOldestUnfolded({ reader, clock, now, onLate }: Deps): OldestUnfolded {
  let known: { readonly sequence: number; readonly oldest_at: number | null; readonly listed_at: number } | undefined
  let listing: Promise<number | null> | undefined
  let late_at: number | undefined

  function note(sequence: number, oldest_at: number | null): void {
    if (known === undefined || known.sequence <= sequence) known = { sequence, oldest_at, listed_at: clock.elapsed() }
    if (oldest_at === null || oldest_at === late_at || now() - oldest_at < UNFOLDED_GRACE_MS) return
    late_at = oldest_at
    onLate()
  }

  async function list(view: View): Promise<number | null> {
    const oldest_at = oldestOf(await listUnfolded(reader, view))
    note(view.sequence, oldest_at)
    return oldest_at
  }

  async function find(view: View): Promise<number | null> {
    if (known !== undefined && known.sequence === view.sequence) {
      const isRecent = clock.elapsed() - known.listed_at < UNFOLDED_LISTING_EVERY_MS
      if (known.oldest_at !== null || isRecent) return known.oldest_at
    }
    listing ??= list(view).finally(() => {
      listing = undefined
    })
    return listing
  }

  return { note, find }
}
