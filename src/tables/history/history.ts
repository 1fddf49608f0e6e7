// The published chain, asked by sequence, by id and by instant. What a page lists is not opened; the newest revisions, which
// no page lists yet, are walked by their links. It writes nothing, reads no table file, and judges nothing.

import { assert, corrupt } from '../../core/errors.js'
import { instantMs } from '../../core/time.js'
import type { RetentionPolicy } from '../../projections/retention.js'
import type { ObjectStore } from '../../storage/object-store.js'
import type { Pointer, Revision } from '../revision.js'
import { type Link, readRevision } from '../snapshot.js'
import { openVolumes, type Volumes } from '../volume.js'
import { type Listed, openPages, type Pages } from './pages.js'

export type History = Pages & {
  readonly newest: Listed
  /** The settings that held at a revision. */
  readonly retentionOf: (listed: Link) => Promise<RetentionPolicy>
}

/** Newest first, from this link back to the sequence after `stop_after`, by the links themselves. */
export async function* walkBack(
  store: ObjectStore,
  from: Link,
  stop_after: number,
  volumes: Volumes = openVolumes(store),
): AsyncGenerator<Revision> {
  let { sequence, revision } = from
  while (sequence > stop_after) {
    const document = await readRevision(store, sequence, revision, volumes)
    yield document
    if (document.previous === null) {
      if (sequence === 1) return
      throw corrupt(`Revision ${sequence} names no predecessor, but is not the first. Run \`servo ledger verify\`.`)
    }
    revision = document.previous
    sequence -= 1
  }
}

/** Instants never go back along the chain: whoever publishes sees to it. */
export function openHistory(store: ObjectStore, pointer: Pointer): History {
  const { chain_through } = pointer
  const pages = openPages(store, chain_through)
  const walk = walkBack(store, pointer, chain_through)
  const tail: Listed[] = []

  async function inTail(sequence: number): Promise<Listed> {
    while (tail.length <= pointer.sequence - sequence) {
      const next = await walk.next()
      assert(next.done !== true, `The chain of ${store.label} ends above revision ${sequence}.`)
      tail.push(listedOf(next.value))
    }
    return tail[pointer.sequence - sequence] as Listed
  }

  /** Then nothing that no page lists was published before it, and none of that is walked for it. */
  const isWithinPages = async (instant: number): Promise<boolean> =>
    chain_through > 0 && (await pages.at(chain_through)).published_at >= instant

  return {
    newest: listedOf({ ...pointer, checkpoint: pointer.checkpoint.name }),
    at: (sequence) => (sequence > chain_through ? inTail(sequence) : pages.at(sequence)),
    async newestBefore(below, instant) {
      if (below - 1 > chain_through && !(await isWithinPages(instant))) {
        for (let sequence = below - 1; sequence > chain_through; sequence--) {
          const listed = await inTail(sequence)
          if (listed.published_at < instant) return listed
        }
      }
      return pages.newestBefore(Math.min(below, chain_through + 1), instant)
    },
    retentionOf: async ({ sequence, revision }) => (await readRevision(store, sequence, revision)).retention,
    async named(revision) {
      for (let { sequence } = pointer; sequence > chain_through; sequence--) {
        const listed = await inTail(sequence)
        if (listed.revision === revision) return listed
      }
      return pages.named(revision)
    },
  }
}

const listedOf = ({ sequence, revision, published_at, checkpoint }: Omit<Listed, 'published_at'> & { published_at: string }): Listed => ({
  sequence,
  revision,
  published_at: instantMs(published_at),
  checkpoint,
})
