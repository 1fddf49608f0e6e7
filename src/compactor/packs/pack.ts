// Packs the segments of chain pages that are past the listing window: many small objects become few large ones. First the
// packs, then the index that names them, then the singles go; whoever comes after one that died goes on where it ended.

import { isOperatingError, messageOf } from '../../core/errors.js'
import { COLLECT_PART_MS_MAX } from '../../core/limits.js'
import { compareStamps } from '../../core/time.js'
import { type IndexedPage, listIndexedPages } from '../../ledger/pack-index.js'
import { LEDGER_PREFIX } from '../../ledger/segment.js'
import type { ObjectHead } from '../../storage/object-store.js'
import { chainPageRevisions, readPointer } from '../../tables/snapshot.js'
import { volumePageOf } from '../../tables/volume.js'
import { refuseNewerFold } from '../swap.js'
import { bindPage, removeBound, type Swept, sweepBound } from './bind.js'
import { readPage } from './page.js'
import { isSettled, settle } from './settle.js'
import { type PackDeps, writePacks } from './write.js'

export type PackAnswer = {
  /** Pages that were packed, of so many segments into so many packs; of a dry run those that would be. */
  readonly page_count: number
  readonly segment_count: number
  readonly pack_count: number
  readonly pack_bytes: number
  /** Single segments that went, also those that were left over from an earlier time. */
  readonly deleted_count: number
  /** Pages whose revisions were bound into a volume. */
  readonly bound_count: number
  /** Single revisions that went, with those that were never published. */
  readonly revisions_deleted_count: number
  /** A sentence for each page that is old enough and was left as it is. */
  readonly left: readonly string[]
}

export type PackRequest = {
  /** Everything that is due, and every page is looked at for singles that were left over. */
  readonly whole?: boolean
  /** Nothing is written or deleted. */
  readonly is_dry?: boolean
}

/** After this many milliseconds a look begins no further page, and the next look goes on. */
export type PackBounds = { readonly part_ms_max: number }

const BOUNDS: PackBounds = { part_ms_max: COLLECT_PART_MS_MAX }

type Tally = { -readonly [K in keyof PackAnswer]: PackAnswer[K] extends number ? number : string[] }

export async function packSegments(
  deps: PackDeps,
  { whole = false, is_dry = false }: PackRequest = {},
  { part_ms_max }: PackBounds = BOUNDS,
): Promise<PackAnswer> {
  const { store, clock } = deps
  /** Of a part that begins now. */
  const timer = () => {
    const started = clock.elapsed()
    return () => !whole && clock.elapsed() - started > part_ms_max
  }
  const isTimeUp = timer()
  const tally: Tally = {
    page_count: 0,
    segment_count: 0,
    pack_count: 0,
    pack_bytes: 0,
    deleted_count: 0,
    bound_count: 0,
    revisions_deleted_count: 0,
    left: [],
  }
  const { published } = await readPointer(store)
  if (published === undefined) return tally
  refuseNewerFold(published.pointer)
  const { pages, names, server_time } = await listIndexedPages(store)
  const packed = new Set(pages.map(({ page }) => page))
  if (!is_dry) {
    for (const page of whole ? [...packed] : lastPacked(pages)) {
      await orLeave(tally, page, async () => {
        if (!(await isSettled(store, page)) && (await settleAgain(deps, tally, page, server_time)) === 'void') packed.delete(page)
      })
    }
  }
  const page_revisions = await chainPageRevisions(store, published.pointer)
  for (let page = 0; page * page_revisions < published.pointer.chain_through; page++) {
    if (packed.has(page)) continue
    // One at least, however many before it are left.
    if (tally.page_count > 0 && isTimeUp()) break
    const answer = await orLeave(tally, page, () => packPage(deps, tally, page, { server_time, is_dry }))
    if (answer === 'stop') break
    if (answer === 'packed') packed.add(page)
  }
  if (!is_dry) await bindPacked(deps, tally, { packed, names, page_revisions, whole, server_time, timer })
  // A folder is freed of what was deleted in it where it is listed (local-sweep.ts), and nobody else lists where the ledger begins.
  if (packed.size > 0 && !is_dry) await store.list(LEDGER_PREFIX)
  return tally
}

/** Each index is made after the page of the one before it was settled, so that only the last one may have left singles over. */
function lastPacked(pages: readonly IndexedPage[]): number[] {
  const [last] = [...pages].sort(
    (left, right) => compareStamps(right.head.creation_time, left.head.creation_time) || right.page - left.page,
  )
  return last === undefined ? [] : [last.page]
}

/** Damage in one page is for people, and keeps no other page from being packed. */
async function orLeave<T>(tally: Tally, page: number, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!isOperatingError(error, 'missing') && !isOperatingError(error, 'corrupt')) throw error
    leave(tally, page, messageOf(error))
    return undefined
  }
}

type Bindable = {
  readonly packed: ReadonlySet<number>
  readonly names: readonly string[]
  readonly page_revisions: number
  readonly whole: boolean
  readonly server_time: number
  readonly timer: () => () => boolean
}

/** Whose segments lie in packs: then its revisions are as old, and nobody opens them one by one. */
async function bindPacked(
  deps: PackDeps,
  tally: Tally,
  { packed, names, page_revisions, whole, server_time, timer }: Bindable,
): Promise<void> {
  const { store } = deps
  const bound = new Set(names.flatMap((name) => volumePageOf(name) ?? []))
  const due = [...packed].filter((page) => !bound.has(page)).sort((left, right) => left - right)
  const boundNow = new Map<number, readonly ObjectHead[]>()
  const isTimeUp = timer()
  for (const page of due) {
    // One at least that is bound, however many before it are left.
    if (boundNow.size > 0 && isTimeUp()) break
    const answer = await orLeave(tally, page, () => bindPage(deps, page))
    if (answer === undefined) continue
    if ('left' in answer) leave(tally, page, answer.left)
    else boundNow.set(page, answer.singles)
  }
  tally.bound_count += boundNow.size
  const note = ({ deleted_count, left }: Swept) => {
    tally.revisions_deleted_count += deleted_count
    for (const { page, why } of left) leave(tally, page, why)
  }
  for (const [page, singles] of boundNow) {
    bound.add(page)
    note(await removeBound(store, page, singles, server_time))
  }
  // What a look that died has left over goes with a later page: until then readers find it twice, and nobody minds.
  if (boundNow.size > 0 || whole) note(await sweepBound(store, { bound, page_revisions, begin_at: server_time, isTimeUp: timer() }))
}

const leave = (tally: Tally, page: number, why: string): void => void tally.left.push(`Page ${page} of the chain is left as it is: ${why}`)

type Look = { readonly server_time: number; readonly is_dry: boolean }

async function packPage(deps: PackDeps, tally: Tally, page: number, { server_time, is_dry }: Look): Promise<'packed' | 'stop' | undefined> {
  const found = await readPage(deps.store, page, server_time)
  if (found.kind !== 'due') return found.kind === 'young' ? 'stop' : undefined
  const { document, segments } = found
  if (!is_dry) {
    const written = await writePacks(deps, document, segments)
    if ('left' in written) {
      leave(tally, page, written.left)
      return undefined
    }
    tally.pack_count += written.packs.length
    tally.pack_bytes += written.packs.reduce((sum, { bytes }) => sum + bytes, 0)
    const settled = await settle(deps.store, page, segments)
    // Another's, which came too late: the next look begins with the page, as the last one that has an index.
    if (settled === 'void') return 'stop'
    if ('left' in settled) leave(tally, page, settled.left)
    else tally.deleted_count += settled.deleted_count
  }
  tally.page_count += 1
  tally.segment_count += segments.length
  return 'packed'
}

async function settleAgain({ store }: PackDeps, tally: Tally, page: number, server_time: number): Promise<'void' | undefined> {
  const found = await readPage(store, page, server_time)
  if (found.kind !== 'due') return undefined
  const settled = await settle(store, page, found.segments)
  if (settled === 'void') return 'void'
  if ('left' in settled) leave(tally, page, settled.left)
  else tally.deleted_count += settled.deleted_count
  return undefined
}
