// A turn that has nothing to do, over many tasks: what it costs each second that a workspace waits, and that it writes nothing.

import { createReconcile } from '../../src/turn/controllers.js'
import { grouped } from '../../test/fixtures/steady-runs.js'
import { median, percentile, type Report } from '../report.js'
import { buildLarge, describeSize, FULL_SIZE, type LargeSize } from '../truth/large.js'
import type { SuiteOptions } from '../truth/options.js'
import { appendInSegments, type BenchWorkspace, foldAll, openBench, withFolder } from '../workspace.js'
import { type QueueSize, queueStory } from './queue.js'

const FULL_QUEUE: QueueSize = { queued: 10_000, active: 1_000 }
/** A few seconds: it is part of `npm test`. */
const QUICK_HISTORY: LargeSize = { runs: 100, segments: 60 }
const QUICK_QUEUE: QueueSize = { queued: 1_000, active: 100 }
const EVENTS_PER_SEGMENT = 100
const SECRET = { secret_key_id: 's1', secret: 'a-secret-of-the-benchmark' }

export async function measureIdleTurn(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const [history, queue] = is_quick ? [QUICK_HISTORY, QUICK_QUEUE] : [FULL_SIZE, FULL_QUEUE]
  const [warm, rounds] = is_quick ? [20, 50] : [100, 300]
  await withFolder(async (folder) => {
    const building = openBench(folder, { sync: false })
    await buildLarge(building, history)
    await buildQueue(building, queue)
    await building.close()
    const workspace = openBench(folder, { start: building.clock.now(), reconcile: createReconcile({ secret: SECRET }) })
    await idleTurns(workspace, warm)
    expectQueue(workspace, queue)
    const before = { writes: workspace.writeCount(), cpu: process.cpuUsage() }
    const durations = await idleTurns(workspace, rounds)
    const writes = workspace.writeCount() - before.writes
    const { user, system } = process.cpuUsage(before.cpu)
    await workspace.close()
    const setup = `${queue.queued} tasks ready and without room, ${queue.active} running, ${describeSize(history)}; all controllers, folder store, ${rounds} turns, warm`
    report.add({ name: 'turn_idle_ms', value: median(durations), unit: 'ms', target: '<= 30', setup: `${setup}; median` })
    const cpu_ms = (user + system) / 1_000 / rounds
    report.add({ name: 'turn_idle_cpu_ms', value: cpu_ms, unit: 'ms', target: '-', setup: 'processor time of the same turns, on average' })
    report.add({ name: 'turn_idle_p95_ms', value: percentile(durations, 0.95), unit: 'ms', target: '-', setup: 'the same turns' })
    report.add({
      name: 'turn_idle_writes',
      value: writes,
      unit: 'objects',
      target: '0',
      setup: 'created, replaced or deleted by these turns',
    })
  })
}

async function buildQueue(workspace: BenchWorkspace, size: QueueSize): Promise<void> {
  for (const events of grouped(
    queueStory(size, () => workspace.clock.now()),
    EVENTS_PER_SEGMENT * 10,
  )) {
    await appendInSegments(workspace, events, EVENTS_PER_SEGMENT)
  }
  await foldAll(workspace.turn)
  await workspace.merge()
}

/** A figure of something else would mean nothing. */
function expectQueue({ turn }: BenchWorkspace, { queued, active }: QueueSize): void {
  const tasks = turn.workspace().rows.hotRows('tasks')
  const inState = (state: string) => tasks.filter((task) => task.state === state).length
  const [ready, running] = [inState('READY'), inState('RUNNING')]
  if (ready !== queued || running !== active) throw new Error(`There are ${ready} tasks ready and ${running} running.`)
}

async function idleTurns({ turn }: BenchWorkspace, count: number): Promise<number[]> {
  const durations: number[] = []
  for (let i = 0; i < count; i++) {
    const began = performance.now()
    const { published_count, more } = await turn.run()
    durations.push(performance.now() - began)
    if (published_count > 0 || more) throw new Error('A turn that was to have nothing to do has published something.')
  }
  return durations
}
