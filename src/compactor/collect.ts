// Removes table files that nobody can reach any more. It deletes by generation, judges age by the server's stamps alone,
// and never touches a segment, a revision or a checkpoint: replay needs those.

import { AS_OF_KEPT_MS, ORPHAN_AGE_MS } from '../core/limits.js'
import { type Clock, instantMs, stampMs } from '../core/time.js'
import type { ObjectHead, ObjectStore } from '../storage/object-store.js'
import { type Checkpoint, checkpointName, type Pointer, parseCheckpoint, type Revision, STATE_PREFIX } from '../tables/revision.js'
import { type PublishedPointer, readDocument, readPointer, type TableStore } from '../tables/snapshot.js'
import { walkBack } from './chain.js'
import { collectClaims } from './collect-claims.js'
import { refuseNewerFold, swapPointer } from './swap.js'

type CollectAnswer = { readonly kept_count: number; readonly deleted_count: number; readonly too_young_count: number }

type CollectDeps = { readonly store: ObjectStore; readonly clock: Clock }

export type Collected = CollectAnswer & { readonly claims_deleted_count: number }

/** All that is collected. Logs are not: they go with their run, and runs are kept. */
export const collectAll = async (deps: CollectDeps & TableStore): Promise<Collected> => ({
  ...(await collectOrphans(deps)),
  ...(await collectClaims(deps)),
})

async function collectOrphans(deps: CollectDeps): Promise<CollectAnswer> {
  const { store } = deps
  // The listing comes first: what is published while it runs is either too young to be deleted or named already.
  const { objects, server_time } = await listState(store)
  const { published } = await readPointer(store)
  if (published !== undefined) refuseNewerFold(published.pointer)
  const reachable = await reachableFrom(store, published, server_time)
  const unreachable = objects.filter(({ name }) => !reachable.has(name))
  const old = unreachable.filter(({ creation_time }) => server_time - stampMs(creation_time) > ORPHAN_AGE_MS)
  const deleted_count = old.length === 0 ? 0 : await deleteFenced(deps, old, server_time)
  return {
    kept_count: objects.length - unreachable.length + old.length - deleted_count,
    deleted_count,
    too_young_count: unreachable.length - old.length,
  }
}

/** Writes the pointer once more as it is before anything is deleted: whoever uploaded these files and was paused since
 *  finds another generation when it wakes up, and publishes nothing, however long ago it looked at its deadline. */
async function deleteFenced(deps: CollectDeps, old: readonly ObjectHead[], now: number): Promise<number> {
  const { store } = deps
  const { published } = await readPointer(store)
  if (published !== undefined) {
    const fenced = await swapPointer(deps, published.pointer, published)
    if (fenced.kind !== 'won') return 0
  }
  const reachable = await reachableFrom(store, (await readPointer(store)).published, now)
  let deleted_count = 0
  for (const { name, generation } of old) {
    if (reachable.has(name)) continue
    const answer = await store.delete(name, { if_generation: generation })
    if (answer.kind === 'deleted') deleted_count += 1
  }
  return deleted_count
}

const reachableFrom = async (store: ObjectStore, published: PublishedPointer | undefined, now: number): Promise<Set<string>> =>
  published === undefined ? new Set() : reachableFiles(store, published.pointer, now)

async function listState(store: ObjectStore): Promise<{ readonly objects: ObjectHead[]; readonly server_time: number }> {
  const objects: ObjectHead[] = []
  let start_after: string | undefined
  let server_time = Number.POSITIVE_INFINITY
  do {
    const page = await store.list(STATE_PREFIX, start_after)
    objects.push(...page.objects)
    server_time = Math.min(server_time, page.server_time)
    start_after = page.next
  } while (start_after !== undefined)
  return { objects, server_time }
}

/** Every table file that the current revision or one that `as_of` still opens is made of. */
const reachableFiles = (store: ObjectStore, pointer: Pointer, now: number): Promise<Set<string>> =>
  filesOfRevisions(walkBack(store, pointer, 0), (name) => readDocument(store, checkpointName(name), parseCheckpoint), pointer, now)

/** The same of these revisions, newest first; a checkpoint that is `undefined` is left out. */
export async function filesOfRevisions(
  revisions: AsyncIterable<Revision>,
  openCheckpoint: (name: string) => Promise<Checkpoint | undefined>,
  pointer: Pointer,
  now: number,
): Promise<Set<string>> {
  const names = new Set<string>()
  const checkpoints = new Map<string, Checkpoint | undefined>()
  // The oldest revision that can be opened needs its checkpoint, and every delta since that checkpoint.
  let needed_through = pointer.checkpoint.sequence
  // A revision is what was believed until the next one came: one that stood for days is readable for a day after that.
  let replaced_at = now
  for await (const revision of revisions) {
    const isKept = now - replaced_at <= AS_OF_KEPT_MS
    replaced_at = instantMs(revision.published_at)
    if (!isKept && revision.sequence <= needed_through) break
    for (const { name } of revision.files_added) names.add(name)
    if (isKept) {
      const name = revision.checkpoint
      if (!checkpoints.has(name)) checkpoints.set(name, await openCheckpoint(name))
      needed_through = Math.min(needed_through, checkpoints.get(name)?.sequence ?? needed_through)
    }
  }
  for (const checkpoint of checkpoints.values()) {
    for (const parts of checkpoint?.tables.values() ?? []) for (const { name, filter } of parts) names.add(name).add(filter ?? name)
  }
  return names
}
