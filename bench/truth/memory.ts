// Peak memory of the processes that compact and replay the large workspace, and how fast a replay is.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Report } from '../report.js'
import type { BenchWorkspace } from '../workspace.js'
import { describeSize, type LargeSize } from './large.js'

type Measured = { readonly peak_rss_mb: number; readonly events?: number; readonly seconds?: number }

export async function benchCompactMemory(report: Report, large: BenchWorkspace, size: LargeSize): Promise<void> {
  const { peak_rss_mb } = await inChild('compact', large, size.runs + 1_000)
  const setup = `own process: open, ten turns of 1,000 events, a due merge and a whole merge; ${describeSize(size)}`
  report.add({ name: 'compact_rss_mb', value: peak_rss_mb, unit: 'MB', target: '≤ 400', setup })
}

export async function benchReplay(report: Report, large: BenchWorkspace, size: LargeSize): Promise<void> {
  const { peak_rss_mb, events = 0, seconds = 1 } = await inChild('replay', large, 0)
  const setup = `own process: ${events} events from genesis, every row compared; ${describeSize(size)}`
  report.add({ name: 'replay_events_per_s', value: events / seconds, unit: 'events/s', target: '≥ 20,000', setup })
  report.add({ name: 'replay_rss_mb', value: peak_rss_mb, unit: 'MB', target: '≤ 1,024', setup: 'peak of the same process' })
}

function inChild(what: string, large: BenchWorkspace, first_run: number): Promise<Measured> {
  const script = fileURLToPath(new URL('../../scripts/run.js', import.meta.url))
  const entry = fileURLToPath(new URL('./child.ts', import.meta.url))
  const child = spawn(process.execPath, [script, entry, what, large.folder, String(large.clock.now()), String(first_run)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let stdout = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve(JSON.parse(stdout) as Measured) : reject(new Error(`The ${what} process ended with ${code}.`)),
    )
  })
}
