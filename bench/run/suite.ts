// Runs from request to the end, on real processes: a Temporal dev server, the automation, the API, and a worker whose
// assets do nothing but say when.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asset } from '../../src/sdk/asset.js'
import type { Asset } from '../../src/sdk/dependency.js'
import { freePorts, start, untilSaid } from '../../test/fixtures/started.js'
import { median, percentile, type Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'
import { type Measured, withSystem } from './system.js'
import { measureThroughput } from './throughput.js'
import { writesOf } from './writes.js'

const PARTS = {
  request: measureRequest,
  chain: measureChain,
  tasks: measureTasks,
  fanout: measureFanout,
  idle: measureIdle,
  start: measureStart,
} as const
export const RUN_NAMES: readonly string[] = Object.keys(PARTS)

/** As many as may run of what is ready, so that the engine is measured, and not how long one slot is taken. */
const SLOTS = 256
/** What a location has that nobody gave a number. */
const FEW_SLOTS = 64

export async function runRun(report: Report, options: SuiteOptions): Promise<void> {
  const wanted = Object.entries(PARTS).filter(([name]) => options.only === undefined || options.only === name)
  for (const [, measure] of wanted) await measure(report, options)
}

/** Assets that note when their code starts and ends. */
function noted() {
  const started: number[] = []
  const ended: number[] = []
  const make = (key: string, deps: readonly string[] = []): Asset =>
    asset({
      key,
      deps,
      run: async () => {
        started.push(performance.now())
        ended.push(performance.now())
      },
    })
  return { make, started, ended, forget: () => void (started.splice(0), ended.splice(0)) }
}

async function measureRequest(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const { make, started, forget } = noted()
  const count = is_quick ? 15 : 60
  await withSystem([make('one')], SLOTS, async (system) => {
    const latencies: number[] = []
    for (let i = 0; i < count; i++) {
      await isIdle(system)
      forget()
      const asked_at = performance.now()
      const run_id = await system.request(['one'])
      await system.untilOver(run_id)
      latencies.push((started[0] as number) - asked_at)
    }
    const setup = `${count} runs of one task, one after the other, on an idle workspace; local store with fsync`
    report.add({ name: 'request_to_first_task_p95_ms', value: percentile(latencies, 0.95), unit: 'ms', target: '<= 600', setup })
    report.add({ name: 'request_to_first_task_p50_ms', value: median(latencies), unit: 'ms', target: '-', setup })
  })
}

/** What followed the last run is over: the pause is between two measurements, and no part of one. */
const isIdle = (_system: Measured): Promise<void> => new Promise((resolve) => setTimeout(resolve, 400))

async function measureChain(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const { make, started, ended, forget } = noted()
  const length = 10
  const runs = is_quick ? 2 : 6
  const keys = Array.from({ length }, (_, i) => `step${i}`)
  const assets = keys.map((key, i) => make(key, i === 0 ? [] : [keys[i - 1] as string]))
  await withSystem(assets, SLOTS, async (system) => {
    const steps: number[] = []
    for (let i = 0; i < runs; i++) {
      forget()
      await system.untilOver(await system.request(['*']))
      for (let step = 1; step < length; step++) steps.push((started[step] as number) - (ended[step - 1] as number))
    }
    const setup = `${runs} chains of ${length} tasks; local store with fsync`
    report.add({ name: 'chain_step_p95_ms', value: percentile(steps, 0.95), unit: 'ms', target: '<= 500', setup })
    report.add({ name: 'chain_step_p50_ms', value: median(steps), unit: 'ms', target: '-', setup })
  })
}

async function measureTasks(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const { make } = noted()
  await measureThroughput(report, { name: 'tasks_per_s', target: '>= 250', slots: SLOTS, is_quick, make })
  await measureThroughput(report, { name: 'tasks_few_slots_per_s', target: '-', slots: FEW_SLOTS, is_quick, make })
}

async function measureFanout(report: Report): Promise<void> {
  const { make } = noted()
  const count = 1_000
  const assets = Array.from({ length: count }, (_, i) => make(`leaf${i}`))
  await withSystem(assets, SLOTS, async (system) => {
    const began = performance.now()
    await system.untilOver(await system.request(['*']))
    const setup = `one run of ${count} independent tasks, ${SLOTS} slots`
    report.add({ name: 'fanout_1000_s', value: (performance.now() - began) / 1_000, unit: 's', target: '<= 6', setup })
  })
}

async function measureIdle(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const { make } = noted()
  // Longer than the longest pause between two looks of any loop.
  const watched_ms = is_quick ? 15_000 : 660_000
  await withSystem([make('one')], SLOTS, async (system) => {
    const writes = await writesOf(system.folder, watched_ms)
    const setup = `files of the store written within ${watched_ms / 1_000} s, after a run`
    report.add({ name: 'idle_writes_per_min', value: (writes * 60_000) / watched_ms, unit: '1/min', target: '0', setup })
  })
}

/** A fresh folder each time: the ledger, the deploy and the run are new, and nothing is left to be built. */
async function measureStart(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const count = is_quick ? 1 : 3
  const seconds: number[] = []
  for (let i = 0; i < count; i++) {
    const folder = await mkdtemp(join(tmpdir(), 'servo-bench-start-'))
    const began = performance.now()
    const started = start(folder, await freePorts())
    await untilSaid(started, 'The quickstart is materialized')
    seconds.push((performance.now() - began) / 1_000)
    await started.interrupt()
    await rm(folder, { recursive: true, force: true })
  }
  const setup = `npm start, everything built, on a new folder, to the quickstart materialized; median of ${count}`
  report.add({ name: 'start_warm_s', value: median(seconds), unit: 's', target: '<= 20', setup })
}
