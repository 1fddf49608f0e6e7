// How many objects a workspace keeps once maintenance has caught up with it, over the events that it has folded.

import { collectAll } from '../../src/compactor/collect.js'
import { packSegments } from '../../src/compactor/packs/pack.js'
import { CHAIN_PAGE_REVISIONS, LISTING_WINDOW_LOCAL_MS, ORPHAN_AGE_MS } from '../../src/core/limits.js'
import { listAll } from '../../src/storage/list-all.js'
import { STEADY_EVENTS_PER_RUN } from '../../test/fixtures/steady-runs.js'
import type { Report } from '../report.js'
import { describeSize, type LargeSize, nextRun } from '../truth/large.js'
import type { SuiteOptions } from '../truth/options.js'
import type { BenchWorkspace } from '../workspace.js'

const MILLION = 1_000_000

export async function benchFiles(report: Report, { is_quick }: SuiteOptions, large: BenchWorkspace, size: LargeSize): Promise<void> {
  const { store, reader, deps, clock } = large
  const revision_count = is_quick ? 0 : await fillPage(large)
  clock.advance(LISTING_WINDOW_LOCAL_MS + ORPHAN_AGE_MS)
  const { left } = await packSegments(deps, { whole: true })
  if (left.length > 0) throw new Error(left.join(' '))
  await collectAll(deps)
  const events = (await reader.latest())?.snapshot.revision.applied_total ?? 0
  const { objects } = await listAll(store, '')
  report.add({
    name: 'files_per_million_events',
    value: (objects.length * MILLION) / events,
    unit: 'objects',
    target: '≤ 2,000',
    setup:
      `all objects of the prefix after packing and collection, ${events} events folded, of which the last ${revision_count} one a turn, ` +
      `so that the chain ends with a page; ${describeSize(size)}`,
  })
}

/** Segments and revisions of a page that is not full stay single: up to 1,000 revisions of them, whatever came before. */
async function fillPage(large: BenchWorkspace): Promise<number> {
  const { reader, appender, turn } = large
  const sequence = async () => (await reader.latest())?.sequence ?? 0
  // The merge that makes the page is its last revision.
  const missing = CHAIN_PAGE_REVISIONS - 1 - ((await sequence()) % CHAIN_PAGE_REVISIONS)
  const first_run = await nextRun(large)
  const events = large.runs({ runs: Math.ceil(missing / STEADY_EVENTS_PER_RUN), first_run }).slice(0, missing)
  for (const event of events) {
    await appender.append([event])
    await turn.run()
  }
  await large.merge()
  return events.length
}
