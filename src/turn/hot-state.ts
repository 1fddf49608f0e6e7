// The rows that a turn keeps in memory: loaded once from a revision, then kept by deltas. It is a copy of published
// rows and never a source of anything: drop it at any moment, and the next turn loads it again.

import { canonicalJson } from '../core/canonical.js'
import type { EndedRun } from '../projections/ended-runs.js'
import type { DepSatisfactionRow, TaskRow } from '../projections/run-table.js'
import { type AnyRow, keyTextOfRow, type LooseRow, TABLE_NAMES, TABLES, type TableName } from '../projections/tables.js'
import { createWorkingSet, type WorkingSet } from '../projections/working-set.js'
import { layersOf, overlayRows } from '../tables/overlay.js'
import { loadPage } from '../tables/page.js'
import type { Revision } from '../tables/revision.js'
import { partsOf, readDelta, type Snapshot, type TableStore } from '../tables/snapshot.js'
import type { Condition } from '../tables/table-files.js'

/** Runs asked for at a time when the tasks of all open runs are loaded. */
const RUNS_PER_QUERY = 200
const PAGE_ROWS = 50_000

const OPEN_RUN_STATES = ['PENDING', 'PLANNED', 'RUNNING', 'CANCELLING'] as const
const OPEN_OUTBOX_STATUSES = ['PENDING', 'ACKED'] as const

export async function loadHotState(tables: TableStore, snapshot: Snapshot): Promise<WorkingSet> {
  const rows = createWorkingSet(snapshot.revision.applied_total)
  const load = async (table: TableName, where: readonly Condition[]) => rows.follow(table, await readAll(tables, snapshot, table, where))
  for (const table of TABLE_NAMES) if (TABLES[table].residency === 'whole') await load(table, [])
  await load('runs', [{ column: 'state', in: OPEN_RUN_STATES }])
  await load('dispatch_outbox', [{ column: 'status', in: OPEN_OUTBOX_STATUSES }])
  await load('asset_definitions', [{ column: 'state', is: '=', value: 'CURRENT' }])
  const openRuns = rows.hotRows('runs').map(({ run_id }) => run_id)
  for (let start = 0; start < openRuns.length; start += RUNS_PER_QUERY) {
    const ofTheseRuns: Condition[] = [{ column: 'run_id', in: openRuns.slice(start, start + RUNS_PER_QUERY) }]
    await load('tasks', ofTheseRuns)
    await load('dep_satisfaction', ofTheseRuns)
  }
  return rows
}

/** All of a run that is over, which memory does not hold. */
export function endedRunIn(tables: TableStore, snapshot: Snapshot | undefined): (run_id: string) => Promise<EndedRun> {
  return async (run_id) => {
    if (snapshot === undefined) return { tasks: [], edges: [] }
    const where: Condition[] = [{ column: 'run_id', is: '=', value: run_id }]
    const [tasks, edges] = await Promise.all([
      readAll(tables, snapshot, 'tasks', where),
      readAll(tables, snapshot, 'dep_satisfaction', where),
    ])
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

async function readAll(
  { files }: TableStore,
  snapshot: Snapshot,
  table: TableName,
  where: readonly Condition[],
): Promise<readonly AnyRow[]> {
  const found: LooseRow[] = []
  const overlay = overlayRows(await layersOf(snapshot.overlay, table))
  const { key } = TABLES[table]
  for (;;) {
    const last = found.at(-1)
    const after = last === undefined ? undefined : key.map((column) => last[column] as string | number)
    const scan = { where, limit: PAGE_ROWS, ...(after === undefined ? {} : { after }) }
    const page = await loadPage({ files, table, parts: partsOf(snapshot, table), overlay, scan })
    found.push(...page)
    if (page.length < PAGE_ROWS) return found as unknown as readonly AnyRow[]
  }
}

/** Takes in what other turns published since; merges change no row. */
export async function followDeltas(tables: TableStore, rows: WorkingSet, deltas: readonly Revision[]): Promise<void> {
  for (const delta of deltas) {
    const changed = await readDelta(tables, delta)
    // In the order of TABLE_NAMES: a run comes before its tasks, so that both know whether they stay.
    for (const table of TABLE_NAMES) {
      const changedRows = changed.get(table)
      if (changedRows !== undefined) rows.follow(table, [...changedRows.values()] as unknown as readonly AnyRow[])
    }
    rows.followTotal(delta.applied_total)
  }
}
