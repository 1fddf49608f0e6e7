// Compares what a replay has kept with the live tables, in this thread and, where there is another one, in both. It decides
// nothing by which thread looked at a table.

import { type Compared, compareTables, DIFFERENCES_MAX, rowsAtHand } from '../../compactor/compare.js'
import { TABLE_NAMES, type TableName } from '../../projections/tables.js'
import { openLines } from '../../storage/spill-file.js'
import type { Pointer } from '../../tables/revision.js'
import { openSnapshot, type TableStore } from '../../tables/snapshot.js'
import type { KeptRows } from './done-rows.js'
import { rowsInOrder, type SpilledRun } from './merged-runs.js'

/** What another thread of this process is told. */
export type CompareJob = {
  readonly pointer: Pointer
  readonly tables: readonly TableName[]
  readonly descriptor: number
  readonly runs: readonly SpilledRun[]
}

export type CompareBeside = {
  /** Of fewer bytes than this both halves are compared sooner than a thread has begun. */
  readonly bytes_min: number
  readonly compare: (job: CompareJob) => Promise<Compared>
}

/** In the other thread. */
export const compareJob = async (live: TableStore, { pointer, tables, descriptor, runs }: CompareJob): Promise<Compared> =>
  compareTables(live, await openSnapshot(live, pointer), rowsAtHand(rowsInOrder(openLines(descriptor), runs)), tables)

export async function compareKept(live: TableStore, pointer: Pointer, kept: KeptRows, beside?: CompareBeside): Promise<Compared> {
  const snapshot = await openSnapshot(live, pointer)
  const compareHere = (tables: readonly TableName[]) =>
    compareTables(live, snapshot, rowsAtHand(rowsInOrder(kept.lines, kept.runs)), tables)
  const { descriptor } = kept
  const runs = kept.runs.map(({ table, start, end }) => ({ table, start, end }))
  const bytes = runs.reduce((sum, run) => sum + bytesOf(run), 0)
  if (beside === undefined || descriptor === undefined || bytes < beside.bytes_min) return compareHere(TABLE_NAMES)
  const [here, there] = halvesOf(runs)
  // Whatever ails the thread: what it was asked is looked at here.
  const asked = beside.compare({ pointer, tables: there, descriptor, runs }).catch(() => undefined)
  const own = await compareHere(here)
  const other = (await asked) ?? (await compareHere(there))
  const differences = [...own.differences, ...other.differences]
  const inTableOrder = TABLE_NAMES.flatMap((table) => differences.filter((difference) => difference.table === table))
  return {
    row_count: own.row_count + other.row_count,
    differences: inTableOrder.slice(0, DIFFERENCES_MAX),
    differing_rows: { ...own.differing_rows, ...other.differing_rows },
  }
}

const bytesOf = ({ start, end }: SpilledRun): number => end - start

/** Every table in one of two lists, which are about as many bytes each. */
function halvesOf(runs: readonly SpilledRun[]): readonly [readonly TableName[], readonly TableName[]] {
  const sizes = TABLE_NAMES.map((table) => ({
    table,
    bytes: runs.filter((run) => run.table === table).reduce((sum, run) => sum + bytesOf(run), 0),
  }))
  const halves = [newHalf(), newHalf()] as const
  for (const { table, bytes } of sizes.sort((left, right) => right.bytes - left.bytes)) {
    const half = halves[0].bytes <= halves[1].bytes ? halves[0] : halves[1]
    half.tables.push(table)
    half.bytes += bytes
  }
  // Each names the first differences of its tables, in the order in which one thread would.
  const inOrder = ({ tables }: Half) => TABLE_NAMES.filter((table) => tables.includes(table))
  return [inOrder(halves[0]), inOrder(halves[1])]
}

type Half = { readonly tables: TableName[]; bytes: number }
const newHalf = (): Half => ({ tables: [], bytes: 0 })
