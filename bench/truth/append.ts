// How fast events become durable in a folder with fsync.

import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { median, type Report } from '../report.js'
import { openBench, withFolder } from '../workspace.js'
import type { SuiteOptions } from './options.js'

const CALLERS = 64

export async function benchAppendThroughput(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const count = is_quick ? 4_000 : 60_000
  await withFolder(async (folder) => {
    const workspace = openBench(folder)
    const events = workspace.runs({ runs: Math.ceil(count / 20) }).slice(0, count)
    const warm = events.splice(0, Math.min(2_000, count / 4))
    for (const event of warm.slice(0, 50)) await workspace.appender.append([event])
    await Promise.all(warm.slice(50).map((event) => workspace.appender.append([event])))
    const started = performance.now()
    let next = 0
    const caller = async () => {
      for (let event = events[next++]; event !== undefined; event = events[next++]) await workspace.appender.append([event])
    }
    await Promise.all(Array.from({ length: CALLERS }, caller))
    const seconds = (performance.now() - started) / 1_000
    const setup = `${CALLERS} callers, one event each, ${events.length} events, folder with fsync, warm`
    report.add({ name: 'append_events_per_s', value: events.length / seconds, unit: 'events/s', target: '≥ 15,000', setup })
    await workspace.close()
  })
}

export async function benchAppendOverFsync(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const rounds = is_quick ? 60 : 600
  await withFolder(async (folder) => {
    const workspace = openBench(folder)
    const bare = join(folder, 'bare')
    mkdirSync(bare)
    const events = workspace.runs({ runs: Math.ceil((rounds * 2) / 20) })
    const content = Buffer.alloc(1_200, 65)
    const appendTimes: number[] = []
    const bareTimes: number[] = []
    for (let round = 0; round < rounds; round++) {
      // In turn, so that both meet the same disk; half of the rounds the other way round.
      const measure = [
        async () => void bareTimes.push(await timed(async () => twoFsyncs(bare, `${round}`, content))),
        async () => {
          const event = events[round]
          if (event !== undefined) appendTimes.push(await timed(() => workspace.appender.append([event])))
        },
      ]
      for (const act of round % 2 === 0 ? measure : measure.reverse()) await act()
    }
    const ratio = median(appendTimes) / median(bareTimes)
    const setup = `one caller, ${rounds} rounds in turn with a bare create (${median(bareTimes).toFixed(2)} ms), medians, warm`
    report.add({ name: 'append_fsync_ratio', value: ratio, unit: 'ratio', target: '≤ 1.5', setup })
    await workspace.close()
  })
}

async function timed(act: () => unknown): Promise<number> {
  const started = performance.now()
  await act()
  return performance.now() - started
}

/** The least that a durable create needs: the file's bytes and its name in the folder. */
function twoFsyncs(folder: string, name: string, content: Uint8Array): void {
  const file = openSync(join(folder, name), 'wx')
  writeSync(file, content)
  fsyncSync(file)
  closeSync(file)
  const directory = openSync(folder, 'r')
  fsyncSync(directory)
  closeSync(directory)
}
