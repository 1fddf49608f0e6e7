// Folds a long history until what came meanwhile is short, and says which revision it has reached: only that one is compared
// with. It pins nothing for longer than collection waits, and judges by the store's own time.

import { conflict, missing } from '../core/errors.js'
import { REFOLD_ROUND_MS_MAX } from '../core/limits.js'
import type { ObjectStore } from '../storage/object-store.js'
import type { Pointer } from '../tables/revision.js'
import { type PublishedPointer, readPointer } from '../tables/snapshot.js'

export type Newest = PublishedPointer & { readonly server_time: number }

/** Each folds what was published during the one before it, and is shorter by as much as folding is faster than publishing. */
const ROUNDS_MAX = 100

export async function throughNewest<T>(
  readNewest: () => Promise<Newest>,
  foldThrough: (pointer: Pointer) => Promise<T>,
): Promise<{ readonly pointer: Pointer; readonly folded: T }> {
  let aim = await readNewest()
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const folded = await foldThrough(aim.pointer)
    const next = await readNewest()
    const isShort = next.server_time - aim.server_time <= REFOLD_ROUND_MS_MAX
    if (isShort || next.pointer.revision === aim.pointer.revision) return { pointer: aim.pointer, folded }
    aim = next
  }
  throw conflict(
    `In ${ROUNDS_MAX} rounds as much was published as was folded again, up to revision ${aim.pointer.sequence}. ` +
      'Run it on a quicker machine, or while less happens.',
  )
}

export async function readNewest(store: ObjectStore): Promise<Newest> {
  const { published, server_time } = await readPointer(store)
  if (published === undefined) throw missing(`${store.label} has no revision yet: run \`servo ledger compact\` first.`)
  return { ...published, server_time }
}
