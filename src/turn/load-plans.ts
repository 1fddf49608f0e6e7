// Loads what the controllers that plan may read and memory does not hold: long lists and pinned definitions of the runs
// that wait for a plan. A list that is not there is loaded as missing, and fails that plan alone.

import { planNeeds } from '../controllers/plan-definitions.js'
import { assert } from '../core/errors.js'
import { readList } from '../ledger/lists.js'
import type { Rows } from '../projections/tables.js'
import type { WorkingSet } from '../projections/working-set.js'
import type { ObjectStore } from '../storage/object-store.js'
import type { Lookup } from './load.js'

/** A list of pins names definitions, and these name nothing more. */
const ROUNDS_MAX = 4

export async function loadPlanNeeds(
  { store, lookup }: { readonly store: ObjectStore; readonly lookup: Lookup },
  rows: WorkingSet,
): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const { lists, keys } = planNeeds(rows)
    if (lists.length === 0 && keys.length === 0) return
    const definitions = keys.map(({ key }) => key)
    const found = definitions.length === 0 ? [] : await lookup('asset_definitions', definitions)
    rows.load('asset_definitions', definitions, found as unknown as readonly Rows['asset_definitions'][])
    await Promise.all(lists.map(async (sha256) => rows.loadList(sha256, await readList(store, sha256))))
  }
  assert(false, `What the plans need came to no end within ${ROUNDS_MAX} rounds.`)
}
