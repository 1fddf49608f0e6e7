// Removes table files, sub-lists of cold ones, and checkpoints that nobody can reach any more. It deletes by generation, judges
// age by the server's stamps alone, and never touches a segment or a revision: replay needs those.

import { canonicalJson } from '../core/canonical.js'
import { COLLECT_PART_MS_MAX, ORPHAN_AGE_MS, READER_PIN_MS } from '../core/limits.js'
import { type Clock, stampMs } from '../core/time.js'
import { listAll } from '../storage/list-all.js'
import { manyAtOnce } from '../storage/many-at-once.js'
import type { ObjectHead, ObjectStore } from '../storage/object-store.js'
import { openColdList } from '../tables/cold/list.js'
import { type History, openHistory } from '../tables/history/history.js'
import { keptRevisions, keptThen } from '../tables/history/kept-revisions.js'
import type { Listed } from '../tables/history/pages.js'
import { CHECKPOINTS_PREFIX, COLD_PREFIX, type ColdList, type Pointer, STATE_PREFIX } from '../tables/revision.js'
import { readPointer, type TableStore } from '../tables/snapshot.js'
import { collectClaims } from './collect-claims.js'
import { collectPacks } from './packs/collect.js'
import { type Reach, reachesOf, reachOf } from './reach.js'
import { beginReachedLook, type ReachedLook } from './reached.js'
import { refuseLostPointer, refuseNewerFold, swapPointer } from './swap.js'

type CollectAnswer = { readonly kept_count: number; readonly deleted_count: number; readonly too_young_count: number }

type CollectDeps = { readonly store: ObjectStore; readonly clock: Clock }

export type Collected = CollectAnswer & { readonly claims_deleted_count: number; readonly packs_deleted_count: number }

/** After this many milliseconds a look deletes no further file, and the next look goes on. */
export type CollectBounds = { readonly part_ms_max: number }

const BOUNDS: CollectBounds = { part_ms_max: COLLECT_PART_MS_MAX }

/** All that is collected. Logs are not: they go with their run, and runs are kept. */
export const collectAll = async (deps: CollectDeps & TableStore, bounds: CollectBounds = BOUNDS): Promise<Collected> => ({
  ...(await collectOrphans(deps, bounds)),
  ...(await collectClaims(deps)),
  ...(await collectPacks(deps.store)),
})

async function collectOrphans(deps: CollectDeps, bounds: CollectBounds): Promise<CollectAnswer> {
  const { store } = deps
  // The listing comes first: what is published while it runs is either too young to be deleted or named already.
  const { objects: checkpoints, server_time } = await listAll(store, CHECKPOINTS_PREFIX)
  const { objects: lists } = await listAll(store, COLD_PREFIX)
  const { objects: files } = await listAll(store, STATE_PREFIX)
  const objects = [...checkpoints, ...lists, ...files]
  const { published } = await readPointer(store)
  if (published !== undefined) refuseNewerFold(published.pointer)
  // Where the pointer is lost, or not there yet, nothing says what is needed.
  else await refuseLostPointer(store, false)
  const reach = published === undefined ? NOTHING : await reachKept(store, published.pointer, server_time)
  const isReached = reachesOf(reach)
  const unreachable = objects.filter(({ name }) => !isReached(name))
  const old = unreachable.filter(({ creation_time }) => server_time - stampMs(creation_time) > ORPHAN_AGE_MS)
  const deleted_count = old.length === 0 ? 0 : await deleteFenced(deps, old, { looked_at: published?.pointer, bounds })
  return {
    kept_count: objects.length - unreachable.length + old.length - deleted_count,
    deleted_count,
    too_young_count: unreachable.length - old.length,
  }
}

/** Writes the pointer once more as it is before anything is deleted: whoever uploaded these files and was paused since
 *  finds another generation when it wakes up, and publishes nothing, however long ago it looked at its deadline. */
async function deleteFenced(deps: CollectDeps, old: readonly ObjectHead[], { looked_at, bounds }: Fenced): Promise<number> {
  const { store, clock } = deps
  const { published } = await readPointer(store)
  if (published !== undefined) {
    const fenced = await swapPointer(deps, published.pointer, published)
    if (fenced.kind !== 'won') return 0
  }
  const since = await reachSince(store, (await readPointer(store)).published?.pointer, looked_at)
  if (since === undefined) return 0
  const isReached = reachesOf(since)
  const gone = old.filter(({ name }) => !isReached(name))
  const started = clock.elapsed()
  let deleted_count = 0
  for (let start = 0; start < gone.length; start += DELETES_A_STEP) {
    if (start > 0 && clock.elapsed() - started > bounds.part_ms_max) break
    const step = gone.slice(start, start + DELETES_A_STEP)
    const answers = await manyAtOnce(step, DELETES_AT_ONCE, ({ name, generation }) => store.delete(name, { if_generation: generation }))
    deleted_count += answers.filter(({ kind }) => kind === 'deleted').length
  }
  return deleted_count
}

type Fenced = { readonly looked_at: Pointer | undefined; readonly bounds: CollectBounds }

const DELETES_AT_ONCE = 32
/** Between two looks at the time. */
const DELETES_A_STEP = 320

const NOTHING: Reach = { files: new Set(), deltas: new Map() }

/** Of the current revision and of every one that `as_of` may still open, or has opened for a reader who is at it. */
export async function reachKept(store: ObjectStore, pointer: Pointer, now: number): Promise<Reach> {
  const history = openHistory(store, pointer)
  const look = beginReachedLook(store)
  const reach = await reachOf(keptRevisions(history, await keptThen(history, now - READER_PIN_MS)), sourceOf(store, history, look))
  look.end()
  return reach
}

/** Of what was published since somebody looked: nothing older comes to be needed again. Where the chain is not the one that
 *  he looked at, as of a copy that was restored, what he saw says nothing: undefined. */
async function reachSince(store: ObjectStore, pointer: Pointer | undefined, looked_at: Pointer | undefined): Promise<Reach | undefined> {
  if (pointer === undefined) return looked_at === undefined ? NOTHING : undefined
  const history = openHistory(store, pointer)
  if (looked_at !== undefined) {
    const isSameChain = pointer.sequence >= looked_at.sequence && (await history.at(looked_at.sequence)).revision === looked_at.revision
    if (!isSameChain) return undefined
    // Settings that came since may let go of less than those that he went by: the next look goes by them.
    if (!(await isSameKept(history, looked_at))) return undefined
  }
  return reachOf(listedAfter(history, looked_at?.sequence ?? 0), sourceOf(store, history, beginReachedLook(store)))
}

async function isSameKept(history: History, { sequence }: Pointer): Promise<boolean> {
  const [then, now] = await Promise.all([history.retentionOf(await history.at(sequence)), history.retentionOf(history.newest)])
  return canonicalJson(then) === canonicalJson(now)
}

async function* listedAfter(history: History, stop_after: number): AsyncGenerator<Listed> {
  for (let { sequence } = history.newest; sequence > stop_after; sequence--) yield history.at(sequence)
}

const sourceOf = (store: ObjectStore, history: History, look: ReachedLook) => ({
  openCheckpoint: look.open,
  openColdList: (list: ColdList) => openColdList(store, list),
  revisionAt: async (sequence: number) => (await history.at(sequence)).revision,
})
