// How fast a backlog is folded, and whether the next thousand events notice the history that came before them.

import { STEADY_EVENTS_PER_RUN, steadyRuns } from '../../test/fixtures/steady-runs.js'
import { median, type Report } from '../report.js'
import { appendInSegments, type BenchWorkspace, deploy, foldAll, openBench, withFolder } from '../workspace.js'
import { describeSize, type LargeSize } from './large.js'
import type { SuiteOptions } from './options.js'

export async function benchFoldBacklog(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const events = is_quick ? 6_000 : 100_000
  await withFolder(async (folder) => {
    const workspace = openBench(folder)
    await deploy(workspace)
    // Warm: the first thousands of events compile the code that folds them.
    await backlog(workspace, 0, is_quick ? 2_000 : 20_000)
    await foldAll(workspace.turn)
    await backlog(workspace, 100_000, events)
    const started = performance.now()
    await foldAll(workspace.turn)
    const seconds = (performance.now() - started) / 1_000
    const setup = `${events} run and task events with heartbeats, 50 a segment, 50 runs at once, folder with fsync, warm`
    report.add({ name: 'fold_events_per_s', value: events / seconds, unit: 'events/s', target: '≥ 30,000', setup })
    await workspace.close()
  })
}

async function backlog(workspace: BenchWorkspace, first_run: number, count: number): Promise<void> {
  const story = { runs: Math.ceil(count / 32), first_run, open_runs: 50, enqueued: true, heartbeats: 1 }
  const events = [...steadyRuns({ ...story, now: () => workspace.clock.now() })].slice(0, count)
  await appendInSegments(workspace, events, 50)
}

const EVENTS = 1_000
const RUNS = EVENTS / STEADY_EVENTS_PER_RUN

type Sample = { readonly ms: number; readonly bytes: number }

export async function benchHistory(report: Report, { is_quick }: SuiteOptions, large: BenchWorkspace, size: LargeSize): Promise<void> {
  const rounds = is_quick ? 3 : 15
  const largeSamples: Sample[] = []
  const emptySamples: Sample[] = []
  for (let round = -2; round < rounds; round++) {
    // In turn, so that both meet the same machine; the first rounds warm the process up.
    const inLarge = await foldThousand(large, size.runs + (round + 2) * RUNS)
    const inEmpty = await withFolder(async (folder) => {
      const empty = openBench(folder)
      await deploy(empty)
      const sample = await foldThousand(empty, size.runs + (round + 2) * RUNS)
      await empty.close()
      return sample
    })
    if (round < 0) continue
    largeSamples.push(inLarge)
    emptySamples.push(inEmpty)
  }
  const ms = (samples: readonly Sample[]) => median(samples.map((sample) => sample.ms))
  const bytes = (samples: readonly Sample[]) => median(samples.map((sample) => sample.bytes))
  const setup = `${EVENTS} events, ${RUNS} new runs over consecutive partitions, 50 a segment; large: ${describeSize(size)}; ${rounds} rounds in turn, medians, warm`
  report.add({ name: 'fold_history_ratio', value: ms(largeSamples) / ms(emptySamples), unit: 'ratio', target: '≤ 1.3', setup })
  report.add({ name: 'fold_empty_ms', value: ms(emptySamples), unit: 'ms', target: '≤ 120', setup: 'the same in the empty workspace' })
  report.add({ name: 'write_history_ratio', value: bytes(largeSamples) / bytes(emptySamples), unit: 'ratio', target: '≤ 1.2', setup })
}

async function foldThousand(workspace: BenchWorkspace, first_run: number): Promise<Sample> {
  const events = [...steadyRuns({ runs: RUNS, first_run, now: () => workspace.clock.now() })]
  await appendInSegments(workspace, events, 50)
  const before = workspace.bytesWritten()
  const started = performance.now()
  const answer = await workspace.turn.run()
  const ms = performance.now() - started
  if (answer.counts.applied !== EVENTS || answer.more) throw new Error(`The turn applied ${answer.counts.applied} of ${EVENTS} events.`)
  return { ms, bytes: workspace.bytesWritten() - before }
}
