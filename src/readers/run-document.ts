// Runs as the API shows them: a row, and the name of the schedule that requested it.

import type { RunRow } from '../projections/run-table.js'
import { documentOf } from './document.js'
import type { View } from './reader.js'
import { SCHEDULE_READS } from './schedules.js'

export const runDocument = async (view: View, row: RunRow) =>
  documentOfRun(row, await SCHEDULE_READS.namesOf(view, row.schedule_id === null ? [] : [row.schedule_id]))

export async function runDocuments(view: View, rows: readonly RunRow[]) {
  const schedule_ids = rows.flatMap(({ schedule_id }) => schedule_id ?? [])
  const names = await SCHEDULE_READS.namesOf(view, schedule_ids)
  return rows.map((row) => documentOfRun(row, names))
}

const documentOfRun = (row: RunRow, names: ReadonlyMap<string, string>) => ({
  ...documentOf('runs', row),
  schedule_name: row.schedule_id === null ? null : (names.get(row.schedule_id) ?? null),
})
