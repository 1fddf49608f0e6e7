// Makes the tables anew: folds all that was recorded with the fold of this version, and publishes the result as a checkpoint,
// by the same swap as everybody else. Turns go on meanwhile; what they publish is folded too, until nobody was faster.

import { type Compared, compareTables, rowsOfTables } from '../compactor/compare.js'
import { copyRebuilt, publishRebuilt } from '../compactor/rebuilt.js'
import { refuseNewerFold } from '../compactor/swap.js'
import { conflict, missing } from '../core/errors.js'
import { FOLD_VERSION, MERGE_DEADLINE_MS } from '../core/limits.js'
import { openSnapshot, readPointer } from '../tables/snapshot.js'
import { createRefold, type RefoldDeps } from './refold.js'
import { type Newest, throughNewest } from './through-newest.js'

export type RebuildRequest = {
  /** Nothing is written: what would change is only said. */
  readonly is_dry?: boolean
  readonly say?: (line: string) => void
}

/** Rows that are other ones now, or would be. */
export type RebuildAnswer = Compared & {
  /** The revision that the tables were rebuilt at. */
  readonly sequence: number
  /** The revision that was published; undefined: nothing was. */
  readonly published_sequence?: number
}

/** Each folds what was published during the one before it: with a second between two publishes a few are enough. */
const ROUNDS_MAX = 100
const SAY_EVERY = 1_000

export async function rebuild(deps: RefoldDeps, { is_dry = false, say }: RebuildRequest = {}): Promise<RebuildAnswer> {
  const { live, scratch } = deps
  const own = { ...deps, fold_version: deps.fold_version ?? FOLD_VERSION }
  const refold = createRefold(deps)
  const foldOn = () =>
    throughNewest(
      () => current(deps),
      (aim) =>
        refold.through(aim, (sequence) => {
          if (sequence % SAY_EVERY === 0) say?.(`Folded revision ${sequence} of ${aim.sequence}.`)
        }),
    )
  const { pointer, folded } = await foldOn()
  const compared = await compareTables(live, await openSnapshot(live, pointer), rowsOfTables(scratch, folded))
  if (is_dry) return { sequence: pointer.sequence, ...compared }
  await refold.mergeWhole()
  // What came while all of that took its time; from here on a deadline runs.
  await foldOn()
  const began = deps.clock.elapsed()
  const copied = new Set<string>()
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const base = await current(deps)
    const snapshot = await refold.through(base.pointer)
    await copyRebuilt(own, snapshot, copied)
    const published_sequence = await publishRebuilt(own, base, snapshot, began + MERGE_DEADLINE_MS)
    if (published_sequence !== undefined) return { sequence: base.pointer.sequence, ...compared, published_sequence }
    say?.('Something was published meanwhile: folding it too.')
  }
  throw conflict(
    `Somebody else published first, ${ROUNDS_MAX} times in a row. The tables are as they were: stop the automation, or try again.`,
  )
}

async function current({ live, fold_version = FOLD_VERSION }: RefoldDeps): Promise<Newest> {
  const { published, server_time } = await readPointer(live.store)
  if (published === undefined) throw missing(`${live.store.label} has no revision yet, so there is nothing to rebuild.`)
  refuseNewerFold(published.pointer, fold_version)
  return { ...published, server_time }
}
