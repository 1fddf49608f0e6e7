// Compares the tables of two revisions row for row, in key order, without holding more than a batch of either. Rows that
// have expired by fold time are absent on both sides, merged away or not.

import { canonicalJson } from '../core/canonical.js'
import { instantMs } from '../core/time.js'
import { isExpired } from '../projections/retention.js'
import { compareKeys, keyOfRow, type LooseRow, type RowKey, TABLE_NAMES, type TableName, tableNamed } from '../projections/tables.js'
import { partsOf, type Snapshot, type TableStore } from '../tables/snapshot.js'
import type { FileReference } from '../tables/table-files.js'

export type Difference = {
  readonly table: string
  readonly key: RowKey
  /** The columns that differ; empty where one side has no such row. */
  readonly columns: readonly string[]
  readonly live: Readonly<Record<string, unknown>> | null
  readonly replayed: Readonly<Record<string, unknown>> | null
}

/** More than these would not be read by anybody: the first ones show what is wrong. */
export const DIFFERENCES_MAX = 10

export async function compareTables(
  live: TableStore,
  liveSnapshot: Snapshot,
  replayed: TableStore,
  replayedSnapshot: Snapshot,
): Promise<{ readonly row_count: number; readonly differences: readonly Difference[] }> {
  const differences: Difference[] = []
  let row_count = 0
  for (const table of TABLE_NAMES) {
    const left = rowsOf(live, liveSnapshot, table)
    const right = rowsOf(replayed, replayedSnapshot, table)
    let a = await left.next()
    let b = await right.next()
    while (!(a.done && b.done) && differences.length < DIFFERENCES_MAX) {
      const order = a.done ? 1 : b.done ? -1 : compareKeys(keyOfRow(table, a.value), keyOfRow(table, b.value))
      const found = differenceOf(table, order <= 0 && !a.done ? a.value : undefined, order >= 0 && !b.done ? b.value : undefined)
      if (found !== undefined) differences.push(found)
      row_count += 1
      if (order <= 0) a = await left.next()
      if (order >= 0) b = await right.next()
    }
    await left.return(undefined)
    await right.return(undefined)
  }
  return { row_count, differences }
}

async function* rowsOf({ files }: TableStore, snapshot: Snapshot, table: TableName): AsyncGenerator<LooseRow, void, undefined> {
  const fold_time = instantMs(snapshot.revision.fold_time)
  const { retention } = snapshot.revision
  for await (const rows of files.stream(table, filesOf(snapshot, table))) {
    for (const row of rows) if (!isExpired(table, row, fold_time, retention)) yield row
  }
}

/** Every file of a table at a revision, base and L0 alike. */
export function filesOf(snapshot: Snapshot, table: TableName): FileReference[] {
  const fresh = snapshot.deltas.flatMap(({ files_added }) => files_added.filter((file) => file.table === table))
  return [...partsOf(snapshot, table), ...fresh]
}

function differenceOf(table: TableName, live: LooseRow | undefined, replayed: LooseRow | undefined): Difference | undefined {
  const present = live ?? replayed
  if (present === undefined) return undefined
  const key = keyOfRow(table, present)
  if (live === undefined || replayed === undefined) return { table, key, columns: [], live: live ?? null, replayed: replayed ?? null }
  const columns = Object.entries(tableNamed(table).columns)
    .filter(([name, { type }]) => !isSame(live[name], replayed[name], type === 'json'))
    .map(([name]) => name)
  return columns.length === 0 ? undefined : { table, key, columns, live, replayed }
}

function isSame(left: unknown, right: unknown, isJson: boolean): boolean {
  if (left === right) return true
  if (!isJson || left === null || right === null) return false
  return canonicalJson(left) === canonicalJson(right)
}
