// Loads what the controllers that plan may read and memory does not hold: long lists, definitions that are not current, and
// the parents of reruns. A list that is not there is loaded as missing, and fails that plan alone.

import { type PlanNeeds, planNeeds } from '../controllers/plan-definitions.js'
import { assert } from '../core/errors.js'
import { readList } from '../ledger/lists.js'
import type { EndedRun } from '../projections/ended-runs.js'
import type { RowKey, Rows, TableName } from '../projections/tables.js'
import type { WorkingSet } from '../projections/working-set.js'
import type { ObjectStore } from '../storage/object-store.js'
import type { Lookup } from './load.js'

export type PlanSources = {
  readonly store: ObjectStore
  readonly lookup: Lookup
  /** Of a run that is over, at the turn's snapshot. */
  readonly endedRun: (run_id: string) => Promise<EndedRun>
}

/** Each round follows one reference: a rerun, its parent, the parent's tasks, their lists and definitions. */
const ROUNDS_MAX = 6

export async function loadPlanNeeds(sources: PlanSources, rows: WorkingSet): Promise<void> {
  rows.ended.forgetLoaded()
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const needs = planNeeds(rows)
    if (needs.lists.length + needs.keys.length + needs.ended.length === 0) return
    await Promise.all([
      loadKeys(sources, rows, needs),
      ...needs.lists.map(async (sha256) => rows.loadList(sha256, await readList(sources.store, sha256))),
      ...needs.ended.map(async (run_id) => rows.ended.load(run_id, await sources.endedRun(run_id))),
    ])
  }
  assert(false, `What the plans need came to no end within ${ROUNDS_MAX} rounds.`)
}

async function loadKeys({ lookup }: PlanSources, rows: WorkingSet, { keys }: PlanNeeds): Promise<void> {
  const byTable = new Map<TableName, RowKey[]>()
  for (const { table, key } of keys) {
    const wanted = byTable.get(table)
    if (wanted === undefined) byTable.set(table, [key])
    else wanted.push(key)
  }
  for (const [table, wanted] of byTable) {
    rows.load(table, wanted, (await lookup(table, wanted)) as unknown as readonly Rows[TableName][])
  }
}
