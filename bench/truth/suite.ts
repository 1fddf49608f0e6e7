// The truth layer's benchmarks, in the order of the issue; those on the large workspace share one.

import type { Report } from '../report.js'
import { openBench, withFolder } from '../workspace.js'
import { benchAppendOverFsync, benchAppendThroughput } from './append.js'
import { benchFoldBacklog, benchHistory } from './fold.js'
import { buildLarge, FULL_SIZE, QUICK_SIZE } from './large.js'
import { benchCompactMemory, benchReplay } from './memory.js'
import type { LargeTargets, SuiteOptions } from './options.js'
import { benchReads, benchVisible } from './read.js'
import { benchSize } from './size.js'

const ON_LARGE: readonly string[] = ['history', 'memory', 'read', 'size', 'replay']
export const TRUTH_NAMES: readonly string[] = ['append', 'fold', 'visible', ...ON_LARGE]

/** Of 100,000 partitions and tasks. */
const TARGETS: LargeTargets = {
  compact_rss_mb: '≤ 400',
  read_point_p95_ms: '≤ 20',
  read_page_p95_ms: '≤ 40',
  read_fresh_p95_ms: '≤ 200',
}

export async function runTruth(report: Report, asked: SuiteOptions): Promise<void> {
  const options = { ...asked, targets: TARGETS }
  const { is_quick, only } = options
  const isAsked = (name: string) => only === undefined || only === name
  if (isAsked('append')) {
    await benchAppendThroughput(report, options)
    await benchAppendOverFsync(report, options)
  }
  if (isAsked('fold')) await benchFoldBacklog(report, options)
  if (isAsked('visible')) await benchVisible(report, options)
  if (!ON_LARGE.some(isAsked)) return
  await withFolder(async (folder) => {
    const size = is_quick ? QUICK_SIZE : FULL_SIZE
    const started = performance.now()
    const building = openBench(folder, { sync: false })
    await buildLarge(building, size)
    await building.close()
    process.stderr.write(`The large workspace was built in ${((performance.now() - started) / 1_000).toFixed(1)} s.\n`)
    const large = openBench(folder, { start: building.clock.now() })
    if (isAsked('history')) await benchHistory(report, options, large, size)
    if (isAsked('memory')) await benchCompactMemory(report, options, large, size)
    if (isAsked('read')) await benchReads(report, options, large, size)
    if (isAsked('replay')) await benchReplay(report, large, size)
    if (isAsked('size')) await benchSize(report, large, size)
    await large.close()
  })
}
