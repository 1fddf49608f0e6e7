// The newest events of the ledger in the order of their creation, folded or not, packed or not. It reads segments, and no table.

import type { Scope } from '../core/ids.js'
import { type Clock, compareStamps, DAY_MS, HOUR_MS, instantMs, MINUTE_MS, stampMs } from '../core/time.js'
import { ulidTime } from '../core/ulid.js'
import type { PackedSegment } from '../ledger/pack.js'
import { listIndexedPages } from '../ledger/pack-index.js'
import { newestPacks } from '../ledger/packed.js'
import { inFoldOrder, listSegments, readSegment, type SegmentHead } from '../ledger/read.js'
import { LEDGER_PREFIX, parseSegment } from '../ledger/segment.js'
import type { ObjectStore } from '../storage/object-store.js'
import { chainName, parseChainPage } from '../tables/revision.js'
import { readDocument } from '../tables/snapshot.js'

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
  const packed_until = await packedUntil(deps.store)
  for (const window_ms of WINDOWS_MS) {
    const { segments } = await listSegments(deps.store, Math.max(0, now - window_ms))
    // Before that instant some are packed, and those that are not may lie among them.
    const [unpacked, mixed] = divide(inFoldOrder(segments), ({ creation_time }) => stampMs(creation_time) > packed_until)
    const entries: TailEntry[] = []
    await prepend(entries, limit, unpacked.reverse(), (segment) => readEntries(deps, segment))
    if (entries.length < limit && window_ms === Number.POSITIVE_INFINITY) await prependMixed(deps, entries, limit, mixed)
    if (entries.length >= limit || window_ms === Number.POSITIVE_INFINITY) return entries.slice(-limit)
  }
  return []
}

/** Newest first, until there are enough. */
async function prepend<T>(entries: TailEntry[], limit: number, newest_first: readonly T[], read: (segment: T) => Promise<TailEntry[]>) {
  for (const segment of newest_first) {
    if (entries.length >= limit) return
    entries.unshift(...(await read(segment)))
  }
}

function divide<T>(values: readonly T[], isFirst: (value: T) => boolean): [T[], T[]] {
  return [values.filter(isFirst), values.filter((value) => !isFirst(value))]
}

/** No packed segment was created after this; 0: nothing is packed. */
async function packedUntil(store: ObjectStore): Promise<number> {
  const last = (await listIndexedPages(store)).pages.at(-1)
  if (last === undefined) return 0
  const { revisions } = await readDocument(store, chainName(last.page), parseChainPage)
  return Math.max(0, ...revisions.map(({ published_at }) => instantMs(published_at)))
}

async function prependMixed(deps: TailDeps, entries: TailEntry[], limit: number, singles: readonly SegmentHead[]): Promise<void> {
  const packed: PackedSegment[] = []
  for await (const read of newestPacks(deps.store)) {
    // A segment has an event at least, or is shown as what it is.
    if (entries.length + packed.length >= limit) break
    const segments: PackedSegment[] = []
    for await (const segment of read()) segments.push(segment)
    packed.unshift(...segments)
  }
  const names = new Set(packed.map(({ name }) => name))
  const newest_first = [
    ...singles.filter(({ segment_name }) => !names.has(segment_name)).map((segment) => ({ segment, creation_time: segment.creation_time })),
    ...packed.map((segment) => ({ packed: segment, creation_time: segment.creation_time })),
  ].sort((left, right) => compareStamps(right.creation_time, left.creation_time))
  await prepend(entries, limit, newest_first, async (one) =>
    'packed' in one ? entriesOf(deps, { ...one.packed, segment_name: one.packed.name }, one.packed.bytes) : readEntries(deps, one.segment),
  )
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
      const { segments, server_time } = await listSegments(deps.store, after, (name) => seen.has(name))
      for (const segment of inFoldOrder(segments)) {
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

const readEntries = async (deps: TailDeps, segment: SegmentHead): Promise<TailEntry[]> =>
  entriesOf(deps, segment, await readSegment(deps.store, segment.name, segment.crc32c))

type Told = Pick<SegmentHead, 'segment_name' | 'creation_time'>

function entriesOf({ scope }: TailDeps, { segment_name, creation_time }: Told, bytes: Uint8Array): TailEntry[] {
  return parseSegment(bytes, scope).batches.flatMap(({ entries }) =>
    entries.map((entry) =>
      entry.kind === 'event'
        ? { segment: segment_name, creation_time, event: entry.event }
        : { segment: segment_name, creation_time, event: entry.raw, quarantine: entry.reason },
    ),
  )
}
