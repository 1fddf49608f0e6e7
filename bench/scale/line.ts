// The next thousand events over more and more history: one figure for each size, all within one run and in turns, so that they are
// of the same machine at the same time.

import { mkdir, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY_MS } from '../../src/core/time.js'
import { STEADY_TASKS_PER_RUN } from '../../test/fixtures/steady-runs.js'
import { median, type Report } from '../report.js'
import { foldThousand } from '../truth/fold.js'
import { buildLarge, describeSize, type LargeSize, nextRun } from '../truth/large.js'
import type { SuiteOptions } from '../truth/options.js'
import { type BenchWorkspace, deploy, openBench, STORY_START, withFolder } from '../workspace.js'

/** Below the large workspace, which is the last of the line. */
const FULL_SIZES: readonly LargeSize[] = [
  { runs: 1_667, segments: 1_000 },
  { runs: 16_667, segments: 10_000 },
]
const QUICK_SIZES: readonly LargeSize[] = [
  { runs: 100, segments: 60 },
  { runs: 300, segments: 180 },
]

type Place = { readonly tasks: number; readonly what: string; readonly open: () => Promise<BenchWorkspace>; readonly samples: number[] }

/** `large`: undefined where the line ends before it. */
export async function benchLine(
  report: Report,
  { is_quick }: SuiteOptions,
  large?: { readonly workspace: BenchWorkspace; readonly size: LargeSize },
) {
  const rounds = is_quick ? 3 : 15
  await withFolder(async (folder) => {
    const places: Place[] = [{ tasks: 0, what: 'an empty workspace', open: () => emptyIn(folder), samples: [] }]
    const opened: BenchWorkspace[] = []
    for (const size of is_quick ? QUICK_SIZES : FULL_SIZES) {
      const workspace = await built(join(folder, String(size.runs)), size)
      opened.push(workspace)
      places.push({ tasks: size.runs * STEADY_TASKS_PER_RUN, what: describeSize(size), open: async () => workspace, samples: [] })
    }
    if (large !== undefined) {
      const { workspace, size } = large
      places.push({ tasks: size.runs * STEADY_TASKS_PER_RUN, what: describeSize(size), open: async () => workspace, samples: [] })
    }
    // The first rounds warm the process up.
    for (let round = -2; round < rounds; round++) {
      for (const { open, samples, tasks } of places) {
        const workspace = await open()
        const { ms } = await foldThousand(workspace, { first_run: await nextRun(workspace), order: 'consecutive', span: 1 })
        if (round >= 0) samples.push(ms)
        if (tasks === 0) await workspace.close()
      }
    }
    for (const { tasks, what, samples } of places) {
      const setup = `1,000 events, 50 new runs over consecutive partitions, after ${what}; ${rounds} rounds in turn, median, warm`
      report.add({ name: `next_thousand_ms_after_${tasks}_tasks`, value: median(samples), unit: 'ms', target: '-', setup })
    }
    for (const workspace of opened) await workspace.close()
  })
}

async function emptyIn(folder: string): Promise<BenchWorkspace> {
  const own = await mkdtemp(join(folder, 'empty-'))
  const workspace = openBench(own, { unit: 'hour' })
  await deploy(workspace)
  return workspace
}

async function built(folder: string, size: LargeSize): Promise<BenchWorkspace> {
  await mkdir(folder)
  const building = openBench(folder, { unit: 'hour', sync: false })
  await buildLarge(building, size)
  await building.close()
  return openBench(folder, { unit: 'hour', start: STORY_START + 8 * DAY_MS })
}
