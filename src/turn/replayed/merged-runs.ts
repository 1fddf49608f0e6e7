// The rows of one table from many sorted runs, in key order and each key once: of equal keys the row of the newest run. It
// holds a few rows of each run, and no run whole.

import type { RowsInOrder } from '../../compactor/compare.js'
import { mergedRuns } from '../../core/merged-runs.js'
import { compareText } from '../../core/order.js'
import type { TableName } from '../../projections/tables.js'
import { type LineRange, type Lines, runOfLines } from '../../storage/spill-file.js'
import { parseLines, type RowValues, rowTextOf } from './row-text.js'

/** Lines of one table in key order: where they begin, and where they end. */
export type SpilledRun = LineRange & { readonly table: TableName }

/** Every row of a table in key order, from runs of which the oldest comes first. */
export const rowsInOrder =
  (lines: Lines, runs: readonly SpilledRun[]): RowsInOrder =>
  (table) => {
    const { rowOf, key_places } = rowTextOf(table)
    const ofTable = runs.filter((run) => run.table === table).map((run) => runOfLines(lines, run, parseLines))
    const next = mergedRuns(ofTable, (left, right) => compareAt(key_places, left, right))
    return () => {
      const values = next()
      return values === undefined ? undefined : rowOf(values)
    }
  }

/** The order of the files. */
function compareAt(key_places: readonly number[], left: RowValues, right: RowValues): number {
  for (const place of key_places) {
    const a = left[place] as string | number
    const b = right[place] as string | number
    if (a === b) continue
    return typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b))
  }
  return 0
}
