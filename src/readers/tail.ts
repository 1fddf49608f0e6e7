// The newest events of the ledger in the order of their creation, folded or not. It reads segments, and no table.

import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.js'
import { inFoldOrder, listSegments, readSegment, type SegmentHead } from '../ledger/read.js'
import { parseSegment } from '../ledger/segment.js'
import type { ObjectStore } from '../storage/object-store.js'
import type { Scope } from '../core/ids.js'

export type TailEntry = {
  readonly segment: string
  readonly creation_time: string
  /** The event; or the raw text of what is none, with the reason. */
  readonly event: unknown
  readonly quarantine?: string
}

export type TailDeps = { readonly store: ObjectStore; readonly scope: Scope; readonly clock: Clock }

/** Looked through one after the other, until there are enough events: nobody who wants twenty lists a year. */
const WINDOWS_MS = [10 * MINUTE_MS, HOUR_MS, DAY_MS, 30 * DAY_MS, Number.POSITIVE_INFINITY] as const
const FOLLOW_POLL_MS = 500
/** How far back a segment's minute may lie behind its creation. */
const FOLLOW_SLACK_MS = 5 * MINUTE_MS

export async function readTail(deps: TailDeps, limit: number): Promise<TailEntry[]> {
  for (const window_ms of WINDOWS_MS) {
    const after = Math.max(0, deps.clock.now() - window_ms)
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

/** The newest events, then everything that is appended from now on. */
export async function* followTail(deps: TailDeps, limit: number, isStopped: () => boolean): AsyncGenerator<TailEntry> {
  const listNow = async () => (await listSegments(deps.store, deps.clock.now() - FOLLOW_SLACK_MS)).segments
  // Listed before the newest events are read: what is appended between the two is in one of them.
  let seen = new Set((await listNow()).map(({ segment_name }) => segment_name))
  for (const entry of await readTail(deps, limit)) {
    seen.add(entry.segment)
    yield entry
  }
  while (!isStopped()) {
    const listed = await listNow()
    const fresh = listed.filter(({ segment_name }) => !seen.has(segment_name))
    // Names that the listing has left behind never come back.
    seen = new Set(listed.map(({ segment_name }) => segment_name))
    for (const segment of inFoldOrder(fresh)) yield* await readEntries(deps, segment)
    await deps.clock.sleep(FOLLOW_POLL_MS)
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
