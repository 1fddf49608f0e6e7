// One soak: the whole of Servo as real processes on a folder with fsync, a load that goes by the clock, and a look at all of
// it every few seconds. Merges, packs and collection go on as the automation does them by itself.

import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
// A soak is time that passes: the looks go by the clock, and nothing else is waited for by it.
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/fixtures/free-port.js'
import { startSystem } from '../../test/fixtures/system.js'
import { untilSeen } from '../../test/fixtures/until.js'
import { askingOf, deployAssets } from '../run/system.js'
import { partitionOf, startLoad } from './load.js'
import { location, TASKS_PER_RUN } from './location.js'
import { openObjects } from './objects.js'
import { createSampler, PROCESSES, type ProcessName, type Sample } from './sample.js'
import { type SoakSummary, summaryOf } from './summary.js'

export type SoakOptions = {
  readonly minutes: number
  readonly events_per_s: number
  /** Lines of JSON: a sample each, and the summary last. */
  readonly file: string
  readonly commit: string
  readonly say: (line: string) => void
}

const MODULE = fileURLToPath(new URL('./location.ts', import.meta.url))
const WORKSPACE = 'store/tenant=default/workspace=default'
const SLOTS = 256
const LOOK_EVERY_S = 5
/** All folders are gone through for them. */
const OBJECTS_EVERY_S = 60
/** So that a short soak has as many as a line needs. */
const LOOKS_MIN = 20
const OBJECT_LOOKS_MIN = 4
const TELL_EVERY_LOOKS = 6
/** What was asked for last is over long before. */
const DRAIN_MS_MAX = 120_000

export async function runSoak({ minutes, events_per_s, file, commit, say }: SoakOptions): Promise<SoakSummary> {
  const metrics_port = await freePort()
  const system = await startSystem({
    module: MODULE,
    slots: SLOTS,
    on_disk: true,
    environment: { SERVO_METRICS_PORT: String(metrics_port) },
  })
  try {
    const { client } = system
    const asking = askingOf(system)
    await deployAssets(system, location.assets, system.worker_url, SLOTS)
    // One run, which warms everything up as well.
    const first = { partitions: { keys: [partitionOf(0)] } }
    await untilSeen('the assets are defined', async () => {
      await asking.untilOver(await asking.request(['*'], first))
      return true
    })
    say(`everything runs; ${events_per_s} events a second for ${minutes} min`)
    const samples: Sample[] = []
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '')
    const began = performance.now()
    const load = startLoad({
      events_per_s,
      request: (key, run_key) => client.post('/runs', { selection: '*', partitions: { keys: [key] }, run_key }),
    })
    const look = createSampler({
      began,
      pids: Object.fromEntries(PROCESSES.map((name) => [name, system.pid(name)])) as Record<ProcessName, number>,
      metrics_url: `http://127.0.0.1:${metrics_port}/metrics`,
      runs_asked: load.acknowledged,
      tasks_per_run: TASKS_PER_RUN,
    })
    const objects = openObjects(join(system.folder, WORKSPACE))
    const note = async (with_objects: boolean): Promise<Sample> => {
      const sample = await look(with_objects ? await objects() : undefined)
      samples.push(sample)
      appendFileSync(file, `${JSON.stringify(sample)}\n`)
      return sample
    }

    const load_s = minutes * 60
    const every_s = Math.min(LOOK_EVERY_S, load_s / LOOKS_MIN)
    const objects_every_s = Math.min(OBJECTS_EVERY_S, load_s / OBJECT_LOOKS_MIN)
    let objects_due_s = 0
    for (let number = 1; number * every_s <= load_s; number++) {
      const at_s = number * every_s
      await sleep(Math.max(0, began + at_s * 1_000 - performance.now()))
      const with_objects = at_s >= objects_due_s
      if (with_objects) objects_due_s += objects_every_s
      const sample = await note(with_objects)
      if (number % TELL_EVERY_LOOKS === 0) say(lineOf(sample))
    }
    await load.stop()
    const drain_from = performance.now()
    const runs = load.acknowledged()
    const isOver = async () => (await note(false)).runs_over > runs
    // With the one that made the assets known.
    await untilSeen(`${runs} runs have succeeded`, isOver, DRAIN_MS_MAX)
    const drain_s = (performance.now() - drain_from) / 1_000
    await note(true)
    const facts = { commit, minutes, events_per_s, runs, request_failures: load.failures(), drain_s }
    const summary = summaryOf(samples, facts)
    appendFileSync(file, `${JSON.stringify(summary)}\n`)
    return summary
  } catch (error) {
    for (const part of ['automation', 'api', 'worker'] as const) say(`${part} said last: ${system.log(part).trim().split('\n').at(-1)}`)
    throw error
  } finally {
    await system.stop()
  }
}

const lineOf = ({ at_s, events, turn_ms, lag_ms, open_tasks, rss_mb }: Sample): string =>
  `${Math.round(at_s)} s: ${events} events, turn ${turn_ms?.toFixed(0)} ms, lag ${lag_ms?.toFixed(0)} ms, ${open_tasks} tasks open, ` +
  `automation ${rss_mb.automation?.toFixed(0)} MB`
