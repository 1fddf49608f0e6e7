// Loads every row that folding these batches may touch: keysOf to a fixpoint, one batched look-up a table a round.
// It reads one published snapshot and never the ledger, long lists apart.

import { assert } from '../core/errors.js'
import { readList } from '../ledger/lists.js'
import { keysOf, listsOf } from '../projections/need.js'
import type { Hints } from '../projections/hint.js'
import type { BatchEntry } from '../projections/outcome.js'
import type { KeyedRow, LooseRow, RowKey, Rows, TableName } from '../projections/tables.js'
import { keyText } from '../projections/tables.js'
import type { WorkingSet } from '../projections/working-set.js'
import type { ObjectStore } from '../storage/object-store.js'

/** Newest rows of one table with these keys, at the turn's snapshot. */
export type Lookup = (table: TableName, keys: readonly RowKey[]) => Promise<readonly LooseRow[]>

/** Each round follows one reference from a row to another (a run, its definition, a list): more than a few is a cycle. */
const ROUNDS_MAX = 12

export async function loadRows(
  { store, lookup }: { readonly store: ObjectStore; readonly lookup: Lookup },
  rows: WorkingSet,
  entries: readonly BatchEntry[],
  hints: Hints,
): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const wanted = missingOf(rows, entries, hints)
    if (wanted.keys.size === 0 && wanted.lists.size === 0) return
    await Promise.all([
      ...[...wanted.keys].map(async ([table, keys]) => {
        const list = [...keys.values()]
        rows.load(table, list, (await lookup(table, list)) as unknown as readonly Rows[TableName][])
      }),
      ...[...wanted.lists].map(async (sha256) => rows.loadList(sha256, await readList(store, sha256))),
    ])
  }
  assert(false, `keysOf came to no end within ${ROUNDS_MAX} rounds.`)
}

export const isLoaded = (rows: WorkingSet, entry: BatchEntry, hints: Hints): boolean =>
  keysOf(entry, rows, hints).every(({ table, key }) => rows.isKnown(table, key)) &&
  listsOf(entry, rows).every((sha256) => rows.isListKnown(sha256))

type Wanted = { readonly keys: Map<TableName, Map<string, RowKey>>; readonly lists: Set<string> }

function missingOf(rows: WorkingSet, entries: readonly BatchEntry[], hints: Hints): Wanted {
  const keys: Wanted['keys'] = new Map()
  const lists: Wanted['lists'] = new Set()
  for (const entry of entries) {
    for (const sha256 of listsOf(entry, rows)) if (!rows.isListKnown(sha256)) lists.add(sha256)
    for (const { table, key } of keysOf(entry, rows, hints)) if (!rows.isKnown(table, key)) want(keys, { table, key })
  }
  return { keys, lists }
}

function want(keys: Wanted['keys'], { table, key }: KeyedRow): void {
  const ofTable = keys.get(table)
  if (ofTable === undefined) keys.set(table, new Map([[keyText(key), key]]))
  else ofTable.set(keyText(key), key)
}
