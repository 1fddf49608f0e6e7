// The rows that a turn keeps in memory: loaded once from a revision, then kept by deltas. It is a copy of published
// rows and never a source of anything: drop it at any moment, and the next turn loads it again.

import { canonicalJson } from '../core/canonical.js'
import type { EndedRun } from '../projections/ended-runs.js'
import type { DepSatisfactionRow, TaskRow } from '../projections/run-table.js'
import type { OpenRows } from '../projections/table.js'
import { type AnyRow, type ChangedRows, keyTextOfRow, type LooseRow, TABLE_NAMES, TABLES, type TableName } from '../projections/tables.js'
import { createWorkingSet, type WorkingSet } from '../projections/working-set.js'
import { pageOfScan, pagesOfScans } from '../tables/keyset.js'
import type { FilterCache } from '../tables/lookup.js'
import { layersOf } from '../tables/overlay.js'
import { loadPage } from '../tables/page.js'
import type { Revision } from '../tables/revision.js'
import { pageAt } from '../tables/rows-at.js'
import { partsOf, readDelta, type Snapshot, type TableStore } from '../tables/snapshot.js'
import type { Condition, Scan } from '../tables/table-files.js'

/** Runs asked for at a time when the tasks of all open runs are loaded. */
const RUNS_PER_QUERY = 200
const PAGE_ROWS = 50_000

export async function loadHotState(tables: TableStore, snapshot: Snapshot): Promise<WorkingSet> {
  const rows = createWorkingSet(snapshot.revision.applied_total)
  // What is hot is never cold: no sub-list is opened, whatever is asked for.
  const load = async (table: TableName, where: readonly Condition[]) => {
    const source = { files: tables.files, table, parts: partsOf(snapshot, table), above: await layersOf(snapshot.overlay, table) }
    rows.follow(table, await readAll(table, where, (scan) => loadPage({ ...source, scan })))
  }
  const withRun: TableName[] = []
  for (const table of TABLE_NAMES) {
    const { residency } = TABLES[table]
    if (residency === 'whole') await load(table, [])
    else if (residency === 'with_run') withRun.push(table)
    else if (residency !== 'on_disk') await load(table, [openCondition(residency.while_open)])
  }
  const openRuns = rows.hotRows('runs').map(({ run_id }) => run_id)
  for (let start = 0; start < openRuns.length; start += RUNS_PER_QUERY) {
    const ofTheseRuns: Condition[] = [{ column: 'run_id', in: openRuns.slice(start, start + RUNS_PER_QUERY) }]
    for (const table of withRun) await load(table, ofTheseRuns)
  }
  return rows
}

const openCondition = ({ column, values }: OpenRows): Condition => ({ column, in: values })

/** All of a run that is over, which memory does not hold. */
export function endedRunIn(
  tables: TableStore,
  filters: FilterCache,
  snapshot: Snapshot | undefined,
): (run_id: string) => Promise<EndedRun> {
  return async (run_id) => {
    if (snapshot === undefined) return { tasks: [], edges: [] }
    const where: Condition[] = [{ column: 'run_id', is: '=', value: run_id }]
    const at = { ...tables, snapshot, filters }
    const ofRun = (table: TableName) => readAll(table, where, (scan) => pageAt(at, table, scan))
    const [tasks, edges] = await Promise.all([ofRun('tasks'), ofRun('dep_satisfaction')])
    return { tasks: tasks as readonly TaskRow[], edges: edges as readonly DepSatisfactionRow[] }
  }
}

/** The rows that differ between two sets that stand on the same revision, by table and key; empty when they agree. */
export function differingHotRows(left: WorkingSet, right: WorkingSet): readonly string[] {
  return TABLE_NAMES.flatMap((table) => {
    const byKey = (rows: WorkingSet) => new Map(rows.hotRows(table).map((row) => [keyTextOfRow(table, row), canonicalJson(row)]))
    const [these, those] = [byKey(left), byKey(right)]
    const keys = new Set([...these.keys(), ...those.keys()])
    return [...keys].filter((key) => these.get(key) !== those.get(key)).map((key) => `${table} ${key.replaceAll('\u0000', ' ')}`)
  })
}

/** Rows in memory follow deltas for as long as a process lives: what they are must be what a fresh start would load. undefined: it is;
 *  else what was loaded, and what to log. */
export async function findDrift(
  tables: TableStore,
  snapshot: Snapshot,
  rows: WorkingSet,
): Promise<{ readonly loaded: WorkingSet; readonly line: string } | undefined> {
  const loaded = await loadHotState(tables, snapshot)
  const differing = differingHotRows(rows, loaded)
  if (differing.length === 0) return undefined
  const { sequence } = snapshot.revision
  return {
    loaded,
    line: `hot_state_drift: ${differing.length} rows in memory are not those of revision ${sequence}, first ${differing[0]}.`,
  }
}

async function readAll(
  table: TableName,
  where: readonly Condition[],
  readPage: (scan: Scan) => Promise<readonly LooseRow[]>,
): Promise<readonly AnyRow[]> {
  const found: LooseRow[] = []
  const readPageOf = async (scan: Scan) => pageOfScan(table, await readPage(scan), scan)
  for await (const rows of pagesOfScans(readPageOf, { where, page_rows: PAGE_ROWS })) found.push(...rows)
  return found as unknown as readonly AnyRow[]
}

/** Of what other turns published since, the rows that may be hot, a revision after the other. Nothing is taken in yet: where a
 *  file cannot be read, the memory is what it was. */
export const readChanges = (tables: TableStore, deltas: readonly Revision[]): Promise<readonly ChangedRows[]> =>
  Promise.all(deltas.map((delta) => readDelta(tables, delta, (table) => TABLES[table].residency !== 'on_disk')))

/** Takes them in; merges change no row. */
export function takeIn(rows: WorkingSet, changes: readonly ChangedRows[], applied_total: number): void {
  for (const changed of changes) {
    // In the order of TABLE_NAMES: a run comes before its tasks, so that both know whether they stay.
    for (const table of TABLE_NAMES) {
      const changedRows = changed.get(table)
      if (changedRows !== undefined) rows.follow(table, [...changedRows.values()] as unknown as readonly AnyRow[])
    }
  }
  rows.followTotal(applied_total)
}
