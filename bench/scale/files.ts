// How many objects a workspace keeps, over the events that it has folded.

import { listAll } from '../../src/storage/list-all.js'
import type { Report } from '../report.js'
import { describeSize, type LargeSize } from '../truth/large.js'
import type { BenchWorkspace } from '../workspace.js'

const MILLION = 1_000_000

export async function benchFiles(report: Report, { store, reader }: BenchWorkspace, size: LargeSize): Promise<void> {
  const events = (await reader.latest())?.snapshot.revision.applied_total ?? 0
  const { objects } = await listAll(store, '')
  report.add({
    name: 'files_per_million_events',
    value: (objects.length * MILLION) / events,
    unit: 'objects',
    target: '≤ 2,000',
    setup: `all objects of the prefix, ${events} events folded; ${describeSize(size)}`,
  })
}
