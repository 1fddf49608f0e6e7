// A view in which everything is visible that was acknowledged before the question: the newest revision where nothing came
// since, a preview with the tail of the ledger folded over it, or the revision that a turn publishes meanwhile.

import { FRESH_WAIT_MS_MAX } from '../core/limits.js'
import type { Clock } from '../core/time.js'
import { listSegments, type SegmentHead } from '../ledger/read.js'
import { isAmong, NO_NAMES } from '../tables/folded-names.js'
import { recentListingAfter } from '../tables/listed-after.js'
import { openSegmentNames } from '../tables/snapshot.js'
import type { Reader, View } from './reader.js'

export type FreshView = {
  readonly view: View | undefined
  /** false: the time was up before everything was published; the view is the newest there is. */
  readonly is_fresh: boolean
  readonly waited_ms: number
}

const POLL_MS = 20

/** Looks at the tail of the ledger, and may fold it. */
export type Tail = { readonly read: () => Promise<TailAnswer> }

export type TailAnswer = {
  /** A preview, or the newest revision. */
  readonly view: View | undefined
  /** Acknowledged segments that are not in it. */
  readonly missing: ReadonlySet<string>
}

export type FreshDeps = {
  readonly reader: Reader
  /** Without it nothing is folded, and a turn has to publish. */
  readonly tail?: Tail | undefined
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

async function waitForFresh(deps: FreshDeps, wait_ms_max: number): Promise<FreshView> {
  const { reader, clock, poke, tail = barrierOf(reader) } = deps
  const started = clock.elapsed()
  const waited = () => clock.elapsed() - started
  const answer = await tail.read()
  let { view } = answer
  const missing = new Set(answer.missing)
  // Of what nobody has published yet, the poke may be lost.
  if (missing.size > 0 || view?.snapshot.unpublished !== undefined) poke()
  if (missing.size === 0) return { view, is_fresh: true, waited_ms: waited() }
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

const barrierOf = (reader: Reader): Tail => ({
  async read() {
    const view = await reader.latest()
    return { view, missing: new Set((await listUnfolded(reader, view)).map(({ segment_name }) => segment_name)) }
  },
})

/** The listing of what may be new begins here. */
export const listedAfter = (view: View | undefined): number =>
  view === undefined ? 0 : recentListingAfter(view.snapshot.revision.watermarks)

/** The barrier: list the tail; when nothing in it is new, the view is as fresh as this listing. */
export async function listUnfolded({ tables }: Reader, view: View | undefined, after = listedAfter(view)): Promise<readonly SegmentHead[]> {
  const folded = view === undefined ? NO_NAMES : openSegmentNames(view.snapshot)
  return (await listSegments(tables.store, after, (name) => isAmong(folded, name))).segments
}
