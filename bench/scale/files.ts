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
  // A look stops after two minutes, and the next one goes on.
  while ((await collectAll(deps)).deleted_count > 0) clock.advance(ORPHAN_AGE_MS)
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

/** Segments and revisions of a page that is not full stay single: up to 1,000 revisions of them, whatever came before. The first
 *  merge after its last revision writes the page. How many turns it took. */
async function fillPage(large: BenchWorkspace): Promise<number> {
  const { reader, appender, turn } = large
  const revisions = async () => (await reader.latest())?.sequence ?? 0
  const page = CHAIN_PAGE_REVISIONS
  const full = Math.ceil((await revisions()) / page) * page
  const runs = Math.ceil(page / STEADY_EVENTS_PER_RUN) + 1
  let turns = 0
  for (const event of large.runs({ runs, first_run: await nextRun(large) })) {
    if ((await revisions()) > full) break
    await appender.append([event])
    const { merge_due } = await turn.run()
    // As maintenance would: every revision that can be opened needs the files of all deltas since its checkpoint.
    if (merge_due) await large.merge()
    turns += 1
  }
  await large.merge()
  return turns
}
