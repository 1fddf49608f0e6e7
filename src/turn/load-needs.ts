// Loads what the controllers may read and memory does not hold: for plans, long lists, definitions that are not current, and
// the parents of reruns. A list that is not there is loaded as missing, and fails that plan alone.

import type { Needs } from '../controllers/decision.js'
import { EVERY_NOUN } from '../controllers/nouns/every.js'
import { assert } from '../core/errors.js'
import { readList } from '../ledger/lists.js'
import type { EndedRun } from '../projections/ended-runs.js'
import type { RowKey, Rows, TableName } from '../projections/tables.js'
import type { WorkingSet } from '../projections/working-set.js'
import type { ObjectStore } from '../storage/object-store.js'
import type { Lookup } from './load.js'

export type NeedSources = {
  readonly store: ObjectStore
  readonly lookup: Lookup
  /** Of a run that is over, at the turn's snapshot. */
  readonly endedRun: (run_id: string) => Promise<EndedRun>
}

/** Each round follows one reference: a rerun, its parent, the parent's tasks, their lists and definitions. */
const ROUNDS_MAX = 6

export async function loadNeeds(sources: NeedSources, rows: WorkingSet): Promise<void> {
  rows.ended.forgetLoaded()
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const needs = needsOfAll(rows)
    if (needs.lists.length + needs.keys.length + needs.ended.length === 0) return
    await Promise.all([
      loadKeys(sources, rows, needs),
      ...needs.lists.map(async (sha256) => rows.loadList(sha256, await readList(sources.store, sha256))),
      ...needs.ended.map(async (run_id) => rows.ended.load(run_id, await sources.endedRun(run_id))),
    ])
  }
  assert(false, `What the controllers need came to no end within ${ROUNDS_MAX} rounds.`)
}

function needsOfAll(rows: WorkingSet): Needs {
  const needs = EVERY_NOUN.flatMap(([, { needs: needsOf }]) => needsOf?.(rows) ?? [])
  return {
    lists: needs.flatMap(({ lists }) => lists),
    keys: needs.flatMap(({ keys }) => keys),
    ended: needs.flatMap(({ ended }) => ended),
  }
}

async function loadKeys({ lookup }: NeedSources, rows: WorkingSet, { keys }: Needs): Promise<void> {
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
