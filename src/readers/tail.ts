// The newest events of the ledger in the order of their creation, folded or not. It reads segments, and no table.

import type { Scope } from '../core/ids.js'
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.js'
import { ulidTime } from '../core/ulid.js'
import { inFoldOrder, listSegments, readSegment, type SegmentHead } from '../ledger/read.js'
import { LEDGER_PREFIX, parseSegment } from '../ledger/segment.js'
import type { ObjectStore } from '../storage/object-store.js'

export type TailEntry = {
  readonly segment: string
  readonly creation_time: string
  /** The event; or the raw text of what is none, with the reason. */
  readonly event: unknown
  readonly quarantine?: string
}

type TailDeps = { readonly store: ObjectStore; readonly scope: Scope; readonly clock: Clock }

type FollowDeps = TailDeps & { readonly onTrouble?: (error: unknown) => number; readonly onSuccess?: () => void }

/** Looked through one after the other, until there are enough events: nobody who wants twenty lists a year. */
const WINDOWS_MS = [10 * MINUTE_MS, HOUR_MS, DAY_MS, 30 * DAY_MS, Number.POSITIVE_INFINITY] as const
const FOLLOW_POLL_MS = 500
/** Names are remembered this long, and a store's clock may step back by it. */
const FOLLOW_KEPT_MS = HOUR_MS
/** How far back a segment's minute may lie behind its creation. */
const FOLLOW_SLACK_MS = 5 * MINUTE_MS

export async function readTail(deps: TailDeps, limit: number): Promise<TailEntry[]> {
  const now = await storeTime(deps)
  for (const window_ms of WINDOWS_MS) {
    const after = Math.max(0, now - window_ms)
    const { segments } = await listSegments(deps.store, Number.isFinite(after) ? after : 0)
    const entries: TailEntry[] = []
    for (const segment of inFoldOrder(segments).reverse()) {
      if (entries.length >= limit) break
      entries.unshift(...(await readEntries(deps, segment)))
    }
    if (entries.length >= limit || window_ms === Number.POSITIVE_INFINITY) return entries.slice(-limit)
  }
  return []
}

/** Names come from the store's time, so it says which are new. After the last possible name there is nothing to list. */
const storeTime = async ({ store }: TailDeps): Promise<number> => (await store.list(LEDGER_PREFIX, `${LEDGER_PREFIX}~`)).server_time

/** The newest events, then everything that is appended from now on. A look that fails after the first is for `onTrouble`,
 *  which answers how long to wait; what it saw nothing of is seen by the next one. */
export async function* followTail(deps: FollowDeps, limit: number, isStopped: () => boolean): AsyncGenerator<TailEntry> {
  const { clock, onTrouble, onSuccess } = deps
  // Listed before the newest events are read: what is appended between the two is in one of them.
  let highest = await storeTime(deps)
  let after = highest - FOLLOW_KEPT_MS
  const seen = new Set((await listSegments(deps.store, after)).segments.map(({ segment_name }) => segment_name))
  for (const entry of await readTail(deps, limit)) {
    seen.add(entry.segment)
    yield entry
  }
  while (!isStopped()) {
    try {
      const { segments, server_time } = await listSegments(deps.store, after)
      for (const segment of inFoldOrder(segments.filter(({ segment_name }) => !seen.has(segment_name)))) {
        const entries = await readEntries(deps, segment)
        seen.add(segment.segment_name)
        yield* entries
      }
      highest = Math.max(highest, server_time)
      // A clock that steps back shows names again, and new ones below them: as far back as the names are remembered.
      after = Math.max(server_time - FOLLOW_SLACK_MS, highest - FOLLOW_KEPT_MS)
      for (const name of seen) if (ulidTime(name) < highest - FOLLOW_KEPT_MS - MINUTE_MS) seen.delete(name)
      onSuccess?.()
      await clock.sleep(FOLLOW_POLL_MS)
    } catch (error) {
      if (onTrouble === undefined) throw error
      await clock.sleep(onTrouble(error))
    }
  }
}

async function readEntries({ store, scope }: TailDeps, segment: SegmentHead): Promise<TailEntry[]> {
  const bytes = await readSegment(store, segment.name, segment.crc32c)
  const { creation_time, segment_name } = segment
  return parseSegment(bytes, scope).batches.flatMap(({ entries }) =>
    entries.map((entry) =>
      entry.kind === 'event'
        ? { segment: segment_name, creation_time, event: entry.event }
        : { segment: segment_name, creation_time, event: entry.raw, quarantine: entry.reason },
    ),
  )
}
