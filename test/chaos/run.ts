// One run of chaos: the system is started, work is asked for while parts of it die, and when everything runs again all of it
// has to come to its end. Then every process is gone, and the store alone is compared with what the code wrote down.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeLocation } from '../../src/sdk/definition.js'
import { commitOf } from '../fixtures/commit.js'
import { createRandom } from '../fixtures/random.js'
import { runServo } from '../fixtures/servo-process.js'
import { until } from '../fixtures/until.js'
import { effectProblems } from '../system/effect-problems.js'
import { type Effect, readEffects, readStore, startsIn, storeProblems, type Told } from '../system/side-effects.js'
import { carryOut, type Done } from './chaos.js'
import { type Counters, watchCounters } from './counters.js'
import { location, NARROW_MAX, NARROW_POOL } from './location.js'
import { hasIncidents, planOf } from './plan.js'
import type { ChaosReport } from './report.js'
import { askForAll, type Work, wishesOf } from './work.js'
import { LOCATION_PREFETCH, LOCATION_SLOTS, type Neighbour, startWorld, type World } from './world.js'

export type Options = {
  readonly seed: number
  readonly minutes: number
  readonly runs: number
  readonly store_kind: 'gcs' | 'local'
  /** Where logs and effects are. */
  readonly folder: string
  /** The ledger is written there too, whatever comes of it. */
  readonly is_kept: boolean
  readonly say: (line: string) => void
}

/** From the end of chaos until every run is over. Alone on two cores it is a quarter of that. */
const DRAIN_MS_MAX = 240_000
const OPEN_STATES = ['PENDING', 'PLANNED', 'RUNNING', 'CANCELLING'] as const

export async function runChaos(options: Options): Promise<ChaosReport> {
  const { seed, minutes, runs, store_kind, folder, say } = options
  const began = performance.now()
  const commit = commitOf()
  const random = createRandom(seed)
  const has_incidents = hasIncidents(minutes)
  const world = await startWorld({ folder, seed, store_kind, has_neighbour: has_incidents, random: random.fork('proxy'), say })
  const { neighbour } = world
  try {
    await deploy(world)
    if (neighbour !== undefined) await deploy(neighbour)
    await capPool(world)
    say(`everything runs, after ${secondsSince(began)} s`)
    const counters = watchCounters(world.metrics_urls)
    const plan = planOf(random.fork('plan'), minutes, world.parts)
    const wishes = wishesOf(random.fork('work'), runs, plan.duration_ms)
    const stopTelling = tellProgress(world, say)
    const few =
      neighbour === undefined ? [] : wishesOf(random.fork('neighbour'), Math.ceil(minutes * NEIGHBOUR_RUNS_PER_MINUTE), plan.duration_ms)
    const [done, work, besides] = await Promise.all([
      carryOut(world, plan, { random: random.fork('incidents'), say }),
      askForAll(world, wishes),
      neighbour === undefined ? undefined : askForAll(neighbour, few),
    ])
    const drained_from = performance.now()
    say('chaos is over: everything runs, and nothing is cut off any more')
    const undone = await untilAllOver(world, runs, say)
    if (neighbour !== undefined) undone.push(...(await untilAllOver({ client: neighbour.client, store: neighbour.store }, few.length, say)))
    const drain_s = secondsSince(drained_from)
    counters.stop()
    stopTelling()
    say(`all of it is over after ${drain_s} s`)
    // The store is asked to the end: it has to run, and nobody else.
    await Promise.all(world.parts.filter(({ kind }) => kind !== 'store').map((part) => part.kill()))
    const told = await readStore(world.store)
    const effects = readEffects(world.effects)
    say(`${told.events.length} events are read; the store is verified and replayed`)
    const [stored, replayed] = await storeProblems(world.store)
    const problems = [...done.problems, ...undone, ...work.problems, ...effectProblems(work.asked, told, effects), ...stored, ...replayed]
    if (neighbour !== undefined && besides !== undefined) problems.push(...(await neighbourProblems(neighbour, besides)))
    if (problems.length > 0 || options.is_kept) keepLedger(folder, told)
    return {
      suite: 'chaos',
      seed,
      commit,
      minutes,
      store: store_kind,
      runs,
      ...countsOf(told, effects),
      incidents: done.incidents,
      neighbour_runs: few.length,
      ...interruptionsOf(done, world, counters),
      run_key_conflicts: told.conflicts.length,
      revisions: Number(told.sequence),
      drain_s,
      duration_s: secondsSince(began),
      replay_equal: replayed.length === 0,
      verify_clean: stored.length === 0,
      problems,
      verdict: problems.length === 0 ? 'good' : 'bad',
    }
  } finally {
    await world.close()
  }
}

const TELL_EVERY_MS = 10_000

/** How far it has come, as far as somebody answers. */
function tellProgress({ client, effects, metricsAt }: World, say: (line: string) => void): () => void {
  // For people who watch: no check waits for it.
  const timer = setInterval(() => {
    const starts = startsIn(readEffects(effects)).length
    void metricsAt(client.url)
      .catch(() => '')
      .then((text) => {
        const of = (metric: string) => new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1] ?? 'unknown'
        say(`${starts} attempts ran; revision ${of('servo_revision_sequence')}, lag ${of('servo_compaction_lag_seconds')} s`)
      })
  }, TELL_EVERY_MS)
  return () => clearInterval(timer)
}

const secondsSince = (began: number): number => Math.round((performance.now() - began) / 100) / 10

/** All that holds of the workspace, of its neighbour in the same namespace of Temporal. */
async function neighbourProblems({ store, effects }: Neighbour, work: Work): Promise<string[]> {
  const told = await readStore(store)
  const [stored, replayed] = await storeProblems(store)
  const found = [...work.problems, ...effectProblems(work.asked, told, readEffects(effects)), ...stored, ...replayed]
  return found.map((problem) => `neighbour: ${problem}`)
}

/** Enough to see that each of its parts works; the load is on the other workspace. */
const NEIGHBOUR_RUNS_PER_MINUTE = 3

async function deploy({ client, worker_url }: Pick<World, 'client' | 'worker_url'>): Promise<void> {
  const { assets } = describeLocation({ name: location.name, assets: location.assets })
  const body = { worker_url, slots: LOCATION_SLOTS, prefetch: LOCATION_PREFETCH, assets: assets.map(({ definition }) => definition) }
  await client.post(`/code-locations/${location.name}/deploy`, body)
  await until('the assets are defined', async () => (await client.get<{ assets: readonly unknown[] }>('/assets')).assets.length > 0)
}

async function capPool({ store }: World): Promise<void> {
  const { stdout } = await runServo(['ledger', 'example', 'PoolDefined', '--json'])
  const example = JSON.parse(stdout) as { readonly payload: object }
  const pool_key = `pool:${NARROW_POOL}`
  const event = { ...example, idempotency_key: `pool_def:${pool_key}:chaos`, payload: { pool_key, max_running: NARROW_MAX } }
  const { code, stderr } = await runServo(['ledger', 'append', '--file', '-', ...placeOf(store)], {}, JSON.stringify(event))
  if (code !== 0) throw new Error(`The cap of the pool could not be set: ${stderr}`)
}

const placeOf = ({ store, gcs_endpoint }: World['store']): readonly string[] => [
  ...['--store', store],
  ...(gcs_endpoint === undefined ? [] : ['--gcs-endpoint', gcs_endpoint]),
]

/** What is not over in time, as a problem: the checks that follow say what of it. */
async function untilAllOver(
  { client, store }: Pick<World, 'client' | 'store'>,
  runs: number,
  say: (line: string) => void,
): Promise<string[]> {
  const openOf = async (state: string) => (await client.get<{ runs: readonly unknown[] }>('/runs', { limit: 1, state })).runs.length
  const isNoneOpen = async () => (await Promise.all(OPEN_STATES.map(openOf))).every((open) => open === 0)
  // The gauges of the API are up to a minute old.
  const isAllFolded = async () => {
    const { stdout } = await runServo(['ledger', 'stats', '--json', ...placeOf(store)])
    return (JSON.parse(stdout) as { readonly unfolded_event_count: number }).unfolded_event_count === 0
  }
  return until(`${runs} runs are over`, async () => (await isNoneOpen()) && (await isAllFolded()) && (await isNoneOpen()), DRAIN_MS_MAX)
    .then(() => [])
    .catch((error: unknown) => {
      say(String(error))
      return [String(error)]
    })
}

function countsOf(told: Told, effects: readonly Effect[]) {
  const { runs, tasks, events, applied, refusals } = told
  const dispatched = events.filter(({ event_type, event_id }) => event_type === 'DispatchRequested' && applied.has(event_id))
  const lost = events.flatMap((event) => (event.event_type === 'AttemptLost' && applied.has(event.event_id) ? [event.payload.reason] : []))
  const ended = effects.filter(({ what }) => what === 'end')
  const accepted = new Set(tasks.flatMap((row) => (row['state'] === 'SUCCEEDED' ? [String(row['attempt_id'])] : [])))
  return {
    run_states: tally(runs.map((row) => String(row['state']))),
    tasks: tasks.length,
    task_states: tally(tasks.map((row) => String(row['state']))),
    attempts: dispatched.length,
    attempts_run: startsIn(effects).length,
    effects: ended.length,
    effects_refused: ended.filter(({ attempt_id }) => !accepted.has(attempt_id)).length,
    attempts_lost: tally(lost),
    refusals: tally(refusals.map((row) => String(row['reason']))),
    events: events.length,
  }
}

function interruptionsOf({ kills, stops, wipes, missed }: Done, { parts, proxy }: World, counters: Counters) {
  const { requests, faults } = proxy?.counts() ?? { requests: 0, faults: {} }
  return {
    kills,
    stops,
    wipes,
    interruptions_missed: missed,
    ended_by_themselves: tally(parts.flatMap(({ kind, endings }) => endings.map(() => kind))),
    proxy_requests: requests,
    proxy_faults: faults,
    repairs: counters.by('servo_repairs_total', 'kind'),
    publishes_lost: counters.by('servo_publishes_total', 'outcome')['lost'] ?? 0,
  }
}

function tally(values: readonly string[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const value of [...values].sort()) sums[value] = (sums[value] ?? 0) + 1
  return sums
}

/** The store is gone with this process: who looks for what went wrong finds its ledger and its tables in the folder. */
function keepLedger(folder: string, { applied, ...told }: Told): void {
  for (const [name, rows] of Object.entries({ ...told, applied: [...applied] })) {
    if (Array.isArray(rows)) writeFileSync(join(folder, `${name}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  }
}

/** What a process said last. */
export const lastLines = (folder: string, name: string, count: number): string =>
  readFileSync(join(folder, 'logs', `${name}.log`), 'utf8')
    .trim()
    .split('\n')
    .slice(-count)
    .join('\n')
