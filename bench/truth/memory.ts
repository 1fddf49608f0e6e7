// Peak memory of the processes that compact and replay the large workspace, and how fast a replay is.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { withCompiled } from '../compiled.js'
import type { Report } from '../report.js'
import type { BenchWorkspace } from '../workspace.js'
import { describeSize, type LargeSize, nextRun } from './large.js'
import type { LargeOptions } from './options.js'

type Measured = {
  readonly peak_rss_mb: number
  readonly events?: number
  readonly seconds?: number
  readonly milliseconds?: number
}

export async function benchCompactMemory(report: Report, { targets }: LargeOptions, large: BenchWorkspace, size: LargeSize): Promise<void> {
  const { peak_rss_mb } = await inChild('compact', large, await nextRun(large))
  const setup = `own process: open, ten turns of 1,000 events, a due merge and a whole merge; ${describeSize(size)}`
  report.add({ name: 'compact_rss_mb', value: peak_rss_mb, unit: 'MB', target: targets.compact_rss_mb, setup })
}

export async function benchReplay(report: Report, large: BenchWorkspace, size: LargeSize): Promise<void> {
  const { peak_rss_mb, events = 0, seconds = 1 } = await inChild('replay', large, 0)
  const setup = `own process: ${events} events from genesis, every row compared; ${describeSize(size)}`
  report.add({ name: 'replay_events_per_s', value: events / seconds, unit: 'events/s', target: '≥ 20,000', setup })
  report.add({ name: 'replay_rss_mb', value: peak_rss_mb, unit: 'MB', target: '≤ 1,024', setup: 'peak of the same process' })
}

export const inChild = (what: 'compact' | 'replay' | 'takeover', large: BenchWorkspace, first_run: number): Promise<Measured> =>
  withCompiled((compiled) => measured(argumentsOf(compiled, what, large, first_run)))

export const argumentsOf = (compiled: string, what: string, { folder, clock, unit }: BenchWorkspace, first_run: number): ChildArguments => [
  join(compiled, 'bench/truth/child.js'),
  what,
  folder,
  String(clock.now()),
  String(first_run),
  unit,
]

type ChildArguments = readonly [string, ...string[]]

function measured([what, ...args]: ChildArguments): Promise<Measured> {
  const child = spawn(process.execPath, [what, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let stdout = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve(JSON.parse(stdout) as Measured) : reject(new Error(`${what} ended with ${code}.`))))
  })
}
