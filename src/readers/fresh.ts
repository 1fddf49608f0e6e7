// A view in which everything is visible that was acknowledged before the question. It looks at the ledger's tail to know
// what is missing, and waits for the turn to publish it; it folds nothing itself.

import { FRESH_WAIT_MS_MAX } from '../core/limits.js'
import { type Clock, instantMs } from '../core/time.js'
import { listSegments, type SegmentHead } from '../ledger/read.js'
import { openSegmentNames } from '../tables/snapshot.js'
import type { Reader, View } from './reader.js'

export type FreshView = {
  readonly view: View | undefined
  /** false: the time was up before everything was published; the view is the newest there is. */
  readonly is_fresh: boolean
  readonly waited_ms: number
}

const POLL_MS = 20

export type FreshDeps = {
  readonly reader: Reader
  readonly clock: Clock
  readonly poke: () => void
  /** Told of each: for whoever counts them. */
  readonly onFresh?: ((fresh: Pick<FreshView, 'is_fresh' | 'waited_ms'>) => void) | undefined
}

export async function readFresh(deps: FreshDeps, wait_ms_max: number = FRESH_WAIT_MS_MAX): Promise<FreshView> {
  const fresh = await waitForFresh(deps, wait_ms_max)
  deps.onFresh?.(fresh)
  return fresh
}

async function waitForFresh({ reader, clock, poke }: FreshDeps, wait_ms_max: number): Promise<FreshView> {
  const started = clock.elapsed()
  const waited = () => clock.elapsed() - started
  let view = await reader.latest()
  const missing = new Set((await listUnfolded(reader, view)).map(({ segment_name }) => segment_name))
  if (missing.size === 0) return { view, is_fresh: true, waited_ms: waited() }
  poke()
  while (waited() < wait_ms_max) {
    await clock.sleep(POLL_MS)
    const newer = await reader.latest()
    if (newer === undefined || newer.sequence === view?.sequence) continue
    for (const { segments } of newer.snapshot.deltas) for (const { name } of segments) missing.delete(name)
    for (const name of newer.snapshot.checkpoint.open_segments) missing.delete(name)
    view = newer
    if (missing.size === 0) return { view, is_fresh: true, waited_ms: waited() }
  }
  return { view, is_fresh: false, waited_ms: waited() }
}

/** The barrier: list the tail; when nothing in it is new, the view is as fresh as this listing. */
export async function listUnfolded({ tables }: Reader, view: View | undefined): Promise<readonly SegmentHead[]> {
  const closed_through = view === undefined ? 0 : instantMs(view.snapshot.revision.watermarks.closed_through)
  const folded = view === undefined ? new Set<string>() : openSegmentNames(view.snapshot)
  const { segments } = await listSegments(tables.store, closed_through)
  return segments.filter(({ segment_name }) => !folded.has(segment_name))
}
