// What a year of use costs: the benchmarks of a large workspace, of a million rows of everything, and an empty one beside it.

import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS, instantMs } from '../../src/core/time.js'
import type { Report } from '../report.js'
import { benchHistory, benchRandomHistory } from '../truth/fold.js'
import { buildLarge, type LargeSize } from '../truth/large.js'
import { benchCompactMemory, benchReplay } from '../truth/memory.js'
import type { LargeOptions, LargeTargets, SuiteOptions } from '../truth/options.js'
import { benchReads } from '../truth/read.js'
import { type BenchWorkspace, openBench, STORY_START, withFolder } from '../workspace.js'
import { benchFiles } from './files.js'
import { benchFilters } from './filters.js'
import { benchLine } from './line.js'
import { benchSoak } from './soak.js'
import { benchColdStart, benchFollower, benchTakeover } from './starts.js'

const ON_LARGE: readonly string[] = ['takeover', 'cold', 'line', 'history', 'random', 'read', 'memory', 'files', 'replay']
export const SCALE_NAMES: readonly string[] = ['filters', 'soak', ...ON_LARGE]

/** 1,000,002 tasks and partitions, 4,333,342 keys, 100,000 segments. */
const FULL_SIZE: LargeSize = { runs: 166_667, segments: 100_000 }
const QUICK_SIZE: LargeSize = { runs: 600, segments: 360 }

/** Where a large workspace is kept that was built before: it takes a quarter of an hour. */
const KEPT_VARIABLE = 'SERVO_BENCH_FOLDER'

/** The file that `npm run soak -- --file` left: with none, a short soak is run, which is compared with no target. */
const SOAK_VARIABLE = 'SERVO_BENCH_SOAK'

/** Of a million of everything. */
const TARGETS: LargeTargets = {
  compact_rss_mb: '≤ 512',
  read_point_p95_ms: '≤ 25',
  read_page_p95_ms: '≤ 60',
  read_fresh_p95_ms: '≤ 200',
}

export async function runScale(report: Report, asked: SuiteOptions): Promise<void> {
  const options = { ...asked, targets: TARGETS }
  const isAsked = (name: string) => options.only === undefined || options.only === name
  if (isAsked('filters')) await benchFilters(report, options.is_quick)
  if (isAsked('soak')) await benchSoak(report, options, process.env[SOAK_VARIABLE])
  if (!ON_LARGE.some(isAsked)) return
  const kept = process.env[KEPT_VARIABLE]
  if (kept === undefined) await withFolder((folder) => measure(folder, report, options))
  else await measure(kept, report, options)
}

async function measure(folder: string, report: Report, options: LargeOptions): Promise<void> {
  const { is_quick, only } = options
  const isAsked = (name: string) => only === undefined || only === name
  const size = is_quick ? QUICK_SIZE : FULL_SIZE
  const built = join(folder, 'built')
  if (!existsSync(built)) {
    await rm(join(folder, 'store'), { recursive: true, force: true })
    const started = performance.now()
    const building = openBench(folder, { unit: 'hour', sync: false })
    await buildLarge(building, size)
    await building.close()
    process.stderr.write(`The large workspace was built in ${((performance.now() - started) / 1_000).toFixed(1)} s.\n`)
    await writeFile(built, `${JSON.stringify(size)}\n`)
  }
  const large = openBench(folder, { unit: 'hour', start: STORY_START + 8 * DAY_MS })
  await passWhatIsThere(large)
  const parts: readonly (readonly [string, () => Promise<void>])[] = [
    ['takeover', () => benchTakeover(report, large, size)],
    ['takeover', () => benchFollower(report, large, size)],
    ['cold', () => benchColdStart(report, large, size)],
    ['line', () => benchLine(report, options, { workspace: large, size })],
    ['history', () => benchHistory(report, options, large, size)],
    ['random', () => benchRandomHistory(report, options, large, size)],
    ['read', () => benchReads(report, options, large, size)],
    ['memory', () => benchCompactMemory(report, options, large, size)],
    // Packs what is old: whatever comes after it reads packs.
    ['files', () => benchFiles(report, options, large, size)],
    ['replay', () => benchReplay(report, large, size)],
  ]
  for (const [name, run] of parts) {
    if (!isAsked(name)) continue
    await run()
    // As maintenance would have, long before so much lies above the base.
    await large.merge()
  }
  await large.close()
}

/** One that is kept has what former benchmarks said in it: this one begins after it, or its turns would list all of that. */
async function passWhatIsThere({ reader, clock }: BenchWorkspace): Promise<void> {
  const newest = await reader.latest()
  if (newest === undefined) throw new Error('The large workspace has no revision.')
  clock.advance(Math.max(0, instantMs(newest.snapshot.revision.published_at) + HOUR_MS - clock.now()))
}
