// Compares the tables of a revision row for row with what somebody else has made of the same events, in key order, without
// holding more than a batch of either. Rows that have expired by fold time are absent on both sides, merged away or not.

import { canonicalJson } from '../core/canonical.js'
import { instantMs } from '../core/time.js'
import { isExpired } from '../projections/retention.js'
import { compareRows, keyOfRow, type LooseRow, type RowKey, TABLE_NAMES, type TableName, tableNamed } from '../projections/tables.js'
import { filesAt } from '../tables/cold/files-at.js'
import type { Revision } from '../tables/revision.js'
import type { Snapshot, TableStore } from '../tables/snapshot.js'

export type Difference = {
  readonly table: string
  readonly key: RowKey
  /** The columns that differ; empty where one side has no such row. */
  readonly columns: readonly string[]
  readonly live: Readonly<Record<string, unknown>> | null
  readonly replayed: Readonly<Record<string, unknown>> | null
}

/** More than these would not be read by anybody: the first ones show what is wrong, and of the others there is a count. */
export const DIFFERENCES_MAX = 10

export type Compared = {
  readonly row_count: number
  /** The first ones. */
  readonly differences: readonly Difference[]
  /** How many rows differ, of the tables in which one does. */
  readonly differing_rows: DifferingRows
}

export type DifferingRows = Readonly<Partial<Record<TableName, number>>>

/** Rows of a table in key order, each key once; then undefined. */
export type RowsInOrder = (table: TableName) => () => LooseRow | undefined

type IsKept = (row: LooseRow) => boolean

type Cursor = {
  /** undefined: there are no more, or it is at the end of what it holds. */
  readonly row: () => LooseRow | undefined
  readonly advance: () => void
  readonly isAtEnd: () => boolean
  readonly refill: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Where the rows of a table that have not expired are read. */
export type RowSource = (table: TableName, isKept: IsKept) => Promise<Cursor>

export async function compareTables(
  live: TableStore,
  snapshot: Snapshot,
  replayed: RowSource,
  tables: readonly TableName[] = TABLE_NAMES,
): Promise<Compared> {
  const differences: Difference[] = []
  const differing_rows: Partial<Record<TableName, number>> = {}
  let row_count = 0
  const rowsOfLive = rowsOfTables(live, snapshot)
  for (const table of tables) {
    const isKept = keptAt(table, snapshot.revision)
    const left = await rowsOfLive(table, isKept)
    const right = await replayed(table, isKept)
    const isDifferent = differenceIn(table)
    for (;;) {
      // Only at the end of a batch: waiting for each row would cost more than comparing it.
      if (left.isAtEnd()) await left.refill()
      if (right.isAtEnd()) await right.refill()
      const [a, b] = [left.row(), right.row()]
      if (a === undefined && b === undefined) break
      const order = a === undefined ? 1 : b === undefined ? -1 : compareRows(table, a, b)
      const found = isDifferent(order <= 0 ? a : undefined, order >= 0 ? b : undefined)
      if (found !== undefined) {
        differing_rows[table] = (differing_rows[table] ?? 0) + 1
        if (differences.length < DIFFERENCES_MAX) differences.push(found)
      }
      row_count += 1
      if (order <= 0) left.advance()
      if (order >= 0) right.advance()
    }
    await left.close()
    await right.close()
  }
  return { row_count, differences, differing_rows }
}

const keptAt = (table: TableName, { fold_time, retention }: Revision): IsKept => {
  const at = instantMs(fold_time)
  return (row) => !isExpired(table, row, at, retention)
}

/** All of them are at hand, and nothing has to be waited for. */
export const rowsAtHand =
  (rows: RowsInOrder): RowSource =>
  async (table, isKept) => {
    const next = rows(table)
    let row: LooseRow | undefined
    const advance = () => {
      do row = next()
      while (row !== undefined && !isKept(row))
    }
    advance()
    return { row: () => row, advance, isAtEnd: () => false, refill: async () => {}, close: async () => {} }
  }

/** A batch of them in memory at a time. */
export const rowsOfTables =
  ({ store, files }: TableStore, snapshot: Snapshot): RowSource =>
  async (table, isKept) => {
    const batches = files.stream(table, await filesAt(store, snapshot, table))[Symbol.asyncIterator]()
    let rows: readonly LooseRow[] = []
    let at = 0
    let isOver = false
    return {
      row: () => rows[at],
      advance: () => void (at += 1),
      isAtEnd: () => at >= rows.length && !isOver,
      async refill() {
        do {
          const next = await batches.next()
          isOver = next.done === true
          rows = next.done === true ? [] : next.value.filter(isKept)
          at = 0
        } while (rows.length === 0 && !isOver)
      },
      close: async () => void (await batches.return?.()),
    }
  }

/** What differs between two rows of one key, of which one may be missing. */
function differenceIn(table: TableName) {
  const { columns } = tableNamed(table)
  const names = Object.keys(columns)
  const isSameIn = (name: string, live: LooseRow, replayed: LooseRow): boolean =>
    live[name] === replayed[name] || (columns[name]?.type === 'json' && isSameJson(live[name], replayed[name]))
  return (live: LooseRow | undefined, replayed: LooseRow | undefined): Difference | undefined => {
    if (live === undefined || replayed === undefined) {
      const present = live ?? replayed
      return present && { table, key: keyOfRow(table, present), columns: [], live: live ?? null, replayed: replayed ?? null }
    }
    let isDifferent = false
    for (const name of names) if (!isSameIn(name, live, replayed)) isDifferent = true
    if (!isDifferent) return undefined
    return { table, key: keyOfRow(table, live), columns: names.filter((name) => !isSameIn(name, live, replayed)), live, replayed }
  }
}

const isSameJson = (left: unknown, right: unknown): boolean =>
  left !== null && right !== null && (isAlike(left, right) || canonicalJson(left) === canonicalJson(right))

/** True only of what has one canonical JSON; nearly all that is equal is found here, at a fraction of writing it. */
function isAlike(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const names = Object.keys(left)
  if (names.length !== Object.keys(right).length) return false
  const others = right as Readonly<Record<string, unknown>>
  for (const name of names) {
    if (!Object.hasOwn(others, name) || !isAlike((left as Readonly<Record<string, unknown>>)[name], others[name])) return false
  }
  return true
}
