// The bytes of a table as Parquet, over those of the same rows as JSON.

import { presentRow } from '../../src/readers/rows.js'
import { partsOf } from '../../src/tables/snapshot.js'
import { TENANT_ID, WORKSPACE_ID } from '../../test/fixtures/say.js'
import type { Report } from '../report.js'
import type { BenchWorkspace } from '../workspace.js'
import { describeSize, type LargeSize } from './large.js'

export async function benchSize(report: Report, large: BenchWorkspace, size: LargeSize): Promise<void> {
  await large.merge(true)
  const view = await large.reader.latest()
  if (view === undefined) throw new Error('The large workspace has no revision.')
  const parts = partsOf(view.snapshot, 'partition_status')
  const parquet = parts.reduce((sum, { bytes }) => sum + bytes, 0)
  const scope = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
  let json = 0
  for await (const rows of large.files.stream('partition_status', parts)) {
    for (const row of rows) {
      const present = Object.entries(presentRow('partition_status', row, scope)).filter(([, value]) => value !== null)
      json += Buffer.byteLength(JSON.stringify(Object.fromEntries(present))) + 1
    }
  }
  const setup = `partition_status, ${parts.reduce((sum, { rows }) => sum + rows, 0)} rows in ${parts.length} files (zstd), six partitions a run; JSON without nulls; ${describeSize(size)}`
  report.add({ name: 'parquet_vs_json_ratio', value: parquet / json, unit: 'ratio', target: '≤ 0.12', setup })
}
