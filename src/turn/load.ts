// Loads every row that folding these batches may touch: keysOf to a fixpoint, one batched look-up a table a round.
// It reads one published snapshot and never the ledger, long lists apart.

import { assert } from '../core/errors.js'
import { readList } from '../ledger/lists.js'
import type { Hints } from '../projections/hint.js'
import { furtherKeysOf, keysOf, listsOf, mayNameMore } from '../projections/need.js'
import type { BatchEntry } from '../projections/outcome.js'
import type { KeyedRow, LooseRow, RowKey, Rows, TableName } from '../projections/tables.js'
import { keyText } from '../projections/tables.js'
import { missingKeys, type WorkingSet } from '../projections/working-set.js'
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
  let open = entries
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const wanted = missingOf(rows, open, hints)
    if (wanted.keys.size === 0 && wanted.lists.size === 0) return
    // What an entry names depends on the rows that it named before: who has all of his is not asked again.
    open = wanted.open
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
  !mayNameMore(entry) ||
  (furtherKeysOf(entry, rows, hints).every(({ table, key }) => rows.isKnown(table, key)) &&
    listsOf(entry, rows).every((sha256) => rows.isListKnown(sha256)))

type Wanted = {
  readonly keys: Map<TableName, Map<string, RowKey>>
  readonly lists: Set<string>
  /** The entries that may name more, once they have what is missing. */
  readonly open: BatchEntry[]
}

/** What is found under an idempotency key names no other row, so that most entries are asked once. */
const leadsOn = ({ table }: KeyedRow): boolean => table !== 'idempotency_keys'

function missingOf(rows: WorkingSet, entries: readonly BatchEntry[], hints: Hints): Wanted {
  const keys: Wanted['keys'] = new Map()
  const lists: Wanted['lists'] = new Set()
  const open: BatchEntry[] = []
  for (const entry of entries) {
    const missingLists = listsOf(entry, rows).filter((sha256) => !rows.isListKnown(sha256))
    const missing = missingKeys(rows, keysOf(entry, rows, hints))
    if (missingLists.length > 0 || missing.some(leadsOn)) open.push(entry)
    for (const sha256 of missingLists) lists.add(sha256)
    for (const { table, key } of missing) {
      const ofTable = keys.get(table) ?? new Map<string, RowKey>()
      keys.set(table, ofTable.set(keyText(key), key))
    }
  }
  return { keys, lists, open }
}
