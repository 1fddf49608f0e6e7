// How far one merge moves what has gone cold: to the end of as many whole days as it has room for, one at least. What is left
// goes with the next merges, so that years of history need the time and the memory of a part of them.

import { DAY_MS, floorTo } from '../../core/time.js'
import { TABLE_NAMES, type TableName } from '../../projections/tables.js'
import type { Checkpoint, Part, Revision } from '../../tables/revision.js'
import type { TableFiles } from '../../tables/table-files.js'
import { type ColdMove, coldMoveOf, dueTestOf, isDueIn } from './cold.js'

type Base = {
  readonly files: Pick<TableFiles, 'stream'>
  readonly before: Pick<Checkpoint, 'cold_through'>
  readonly newest: Revision
  /** All that a merge would take in. */
  readonly parts: ReadonlyMap<TableName, readonly Part[]>
}

/** undefined: nothing is to be moved. */
export async function coldStepOf(base: Base, rows_max: number): Promise<ColdMove | undefined> {
  const { before, newest } = base
  const move = coldMoveOf(before, newest)
  if (move === undefined) return undefined
  // A day goes whole, however large it is: nobody counts it.
  if (before.cold_through !== null && move.before - before.cold_through <= DAY_MS) return move
  let rows = 0
  let through: number | undefined
  for (const [day, count] of [...(await dueByDay(base, move))].sort(([left], [right]) => left - right)) {
    rows += count
    if (through !== undefined && rows > rows_max) return coldMoveOf(before, newest, through)
    through = day + DAY_MS
  }
  return move
}

/** Whether more than one day is left over, which no merge waits with until it has enough to do. */
export function isColdLeft(before: Pick<Checkpoint, 'cold_through'>, newest: Revision): boolean {
  const move = coldMoveOf(before, newest)
  return move !== undefined && before.cold_through !== null && move.before - before.cold_through > DAY_MS
}

/** About as many rows as go with each day: edges are not counted, and what is late goes with the first day. */
async function dueByDay({ files, before, newest, parts }: Base, move: ColdMove): Promise<ReadonlyMap<number, number>> {
  const byDay = new Map<number, number>()
  for (const table of TABLE_NAMES) {
    const test = dueTestOf(table, newest, move)
    if (test === undefined) continue
    const due = (parts.get(table) ?? []).filter((part) => isDueIn(part, test))
    if (due.length === 0) continue
    for await (const rows of files.stream(table, due)) {
      for (const row of rows) {
        const at = row[test.column]
        if (typeof at !== 'number' || at < test.from || at >= test.before) continue
        if (test.unless_set !== undefined && row[test.unless_set] !== null) continue
        const day = Math.max(floorTo(at, DAY_MS), before.cold_through ?? Number.NEGATIVE_INFINITY)
        const tasks = table === 'runs' ? Number(row['tasks_total'] ?? 0) : 0
        byDay.set(day, (byDay.get(day) ?? 0) + 1 + tasks)
      }
    }
  }
  return byDay
}
