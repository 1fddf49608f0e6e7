// How fast a backlog is folded, and whether the next thousand events notice the history that came before them.

import { CLOSED_MINUTE_SLACK_MS } from '../../src/core/limits.js'
import { MINUTE_MS } from '../../src/core/time.js'
import { STEADY_EVENTS_PER_RUN } from '../../test/fixtures/steady-runs.js'
import { median, type Report } from '../report.js'
import { appendInSegments, type BenchWorkspace, deploy, foldAll, openBench, withFolder } from '../workspace.js'
import { describeSize, type LargeSize, nextRun } from './large.js'
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
  const events = workspace.runs(story).slice(0, count)
  await appendInSegments(workspace, events, 50)
}

const EVENTS = 1_000
export const RUNS_OF_THOUSAND = EVENTS / STEADY_EVENTS_PER_RUN

export type Sample = { readonly ms: number; readonly bytes: number }
type Order = 'consecutive' | 'scattered'
type Ratios = { readonly ms: number; readonly bytes: number; readonly empty_ms: number; readonly setup: string }

export async function benchHistory(report: Report, options: SuiteOptions, large: BenchWorkspace, size: LargeSize): Promise<void> {
  const { ms, bytes, empty_ms, setup } = await compare(options, large, size, 'consecutive')
  report.add({ name: 'fold_history_ratio', value: ms, unit: 'ratio', target: '≤ 1.3', setup })
  report.add({ name: 'fold_empty_ms', value: empty_ms, unit: 'ms', target: '≤ 120', setup: 'the same in the empty workspace' })
  report.add({ name: 'write_history_ratio', value: bytes, unit: 'ratio', target: '≤ 1.2', setup })
}

/** Partitions that are there, all over the table: each has a row group of its own to be read. */
export async function benchRandomHistory(report: Report, options: SuiteOptions, large: BenchWorkspace, size: LargeSize): Promise<void> {
  const { ms, setup } = await compare(options, large, size, 'scattered')
  report.add({ name: 'fold_history_random_ratio', value: ms, unit: 'ratio', target: '≤ 3', setup })
}

async function compare({ is_quick }: SuiteOptions, large: BenchWorkspace, size: LargeSize, order: Order): Promise<Ratios> {
  const rounds = is_quick ? 3 : 15
  const first = await nextRun(large)
  const story = { order, span: size.runs }
  const largeSamples: Sample[] = []
  const emptySamples: Sample[] = []
  for (let round = -2; round < rounds; round++) {
    // In turn, so that both meet the same machine; the first rounds warm the process up.
    const first_run = first + (round + 2) * RUNS_OF_THOUSAND
    const inLarge = await foldThousand(large, { ...story, first_run })
    const inEmpty = await withFolder(async (folder) => {
      const empty = openBench(folder, { unit: large.unit })
      await deploy(empty)
      const sample = await foldThousand(empty, { ...story, first_run })
      await empty.close()
      return sample
    })
    if (round < 0) continue
    largeSamples.push(inLarge)
    emptySamples.push(inEmpty)
  }
  const ms = (samples: readonly Sample[]) => median(samples.map((sample) => sample.ms))
  const bytes = (samples: readonly Sample[]) => median(samples.map((sample) => sample.bytes))
  const which = order === 'consecutive' ? 'consecutive partitions' : `partitions drawn from all ${size.runs} of an asset`
  const setup = `${EVENTS} events, ${RUNS_OF_THOUSAND} new runs over ${which}, 50 a segment; large: ${describeSize(size)}; ${rounds} rounds in turn, medians, warm`
  return {
    ms: ms(largeSamples) / ms(emptySamples),
    bytes: bytes(largeSamples) / bytes(emptySamples),
    empty_ms: ms(emptySamples),
    setup,
  }
}

const CLOSED_AFTER_MS = CLOSED_MINUTE_SLACK_MS + 2 * MINUTE_MS

type Runs = { readonly first_run: number; readonly order: Order; readonly span: number }

/** Of a thousand events that are new, folded and published in one turn. They come when the minutes of those before them are
 *  closed, as they would in a workspace that has just begun: what a turn lists is how much came lately, not history. */
export async function foldThousand(workspace: BenchWorkspace, runs: Runs): Promise<Sample> {
  workspace.clock.advance(CLOSED_AFTER_MS)
  const events = workspace.runs({ ...runs, runs: RUNS_OF_THOUSAND })
  await appendInSegments(workspace, events, 50)
  const before = workspace.bytesWritten()
  const started = performance.now()
  const answer = await workspace.turn.run()
  const ms = performance.now() - started
  if (answer.counts.applied !== EVENTS || answer.more) throw new Error(`The turn applied ${answer.counts.applied} of ${EVENTS} events.`)
  return { ms, bytes: workspace.bytesWritten() - before }
}
