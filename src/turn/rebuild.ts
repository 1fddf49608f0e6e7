// Makes the tables anew: folds all that was recorded with the fold of this version, and publishes the result as a checkpoint,
// by the same swap as everybody else. Turns go on meanwhile; what they publish is folded too, until nobody was faster.

import { compareTables, type Difference, rowsOfTables } from '../compactor/compare.js'
import { copyRebuilt, publishRebuilt } from '../compactor/rebuilt.js'
import { refuseNewerFold } from '../compactor/swap.js'
import { conflict, missing } from '../core/errors.js'
import { FOLD_VERSION, MERGE_DEADLINE_MS } from '../core/limits.js'
import { openSnapshot, type PublishedPointer, readPointer } from '../tables/snapshot.js'
import { createRefold, type RefoldDeps } from './refold.js'

export type RebuildRequest = {
  /** Nothing is written: what would change is only said. */
  readonly is_dry?: boolean
  readonly say?: (line: string) => void
}

export type RebuildAnswer = {
  /** The revision that the tables were rebuilt at. */
  readonly sequence: number
  readonly row_count: number
  /** The first rows that are other ones now, or would be. */
  readonly differences: readonly Difference[]
  /** The revision that was published; undefined: nothing was. */
  readonly published_sequence?: number
}

/** Each folds what was published during the one before it: with a second between two publishes a few are enough. */
const ROUNDS_MAX = 100
const SAY_EVERY = 1_000

export async function rebuild(deps: RefoldDeps, { is_dry = false, say }: RebuildRequest = {}): Promise<RebuildAnswer> {
  const { live, scratch } = deps
  const own = { ...deps, fold_version: deps.fold_version ?? FOLD_VERSION }
  const first = await current(deps)
  const refold = createRefold(deps)
  const note = (sequence: number) => {
    if (sequence % SAY_EVERY === 0) say?.(`Folded revision ${sequence} of ${first.pointer.sequence}.`)
  }
  const rebuilt = await refold.through(first.pointer, note)
  const compared = await compareTables(live, await openSnapshot(live, first.pointer), rowsOfTables(scratch, rebuilt))
  const { row_count, differences } = compared
  if (is_dry) return { sequence: first.pointer.sequence, row_count, differences }
  let snapshot = await refold.mergeWhole()
  const began = deps.clock.elapsed()
  const copied = new Set<string>()
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const base = await current(deps)
    if (base.pointer.sequence > snapshot.revision.sequence) snapshot = await refold.through(base.pointer)
    await copyRebuilt(own, snapshot, copied)
    const published_sequence = await publishRebuilt(own, base, snapshot, began + MERGE_DEADLINE_MS)
    if (published_sequence !== undefined) return { sequence: base.pointer.sequence, row_count, differences, published_sequence }
    say?.('Something was published meanwhile: folding it too.')
  }
  throw conflict(
    `Somebody else published first, ${ROUNDS_MAX} times in a row. The tables are as they were: stop the automation, or try again.`,
  )
}

async function current({ live, fold_version = FOLD_VERSION }: RefoldDeps): Promise<PublishedPointer & { readonly server_time: number }> {
  const { published, server_time } = await readPointer(live.store)
  if (published === undefined) throw missing(`${live.store.label} has no revision yet, so there is nothing to rebuild.`)
  refuseNewerFold(published.pointer, fold_version)
  return { ...published, server_time }
}
