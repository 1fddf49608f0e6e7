// Pools over random histories: caps come, change and go while tasks are with workers, assets move between locations, tasks
// fail, are lost, given back and cancelled. A second account of the same history (fixtures/pool-model.ts) says after every
// step how many tasks each pool has to count, and whether a dispatch has to be taken.

import { describe, expect, test } from '@jest/globals'
import { reconcileDispatch } from '../../src/controllers/dispatch.js'
import { MINUTE_MS } from '../../src/core/time.js'
import type { LedgerEvent } from '../../src/events/event.js'
import { isTagValue } from '../../src/projections/tag-pool.js'
import { createStory } from '../fixtures/fold-story.js'
import { eventsAt } from '../fixtures/plan-story.js'
import {
  activeIn,
  fullFor,
  GLOBAL_DEFAULT,
  isActive,
  isAhead,
  modelCap,
  type PoolModel,
  type PoolTask,
  valuesOf,
} from '../fixtures/pool-model.js'
import { createRandom } from '../fixtures/random.js'
import { told } from '../fixtures/run-story.js'
import { attemptIdOf, createSpeaker, NOW } from '../fixtures/say.js'

const SEED = Number(process.env['SERVO_TEST_SEED'] ?? 44_000)
const SEEDS = Array.from({ length: 12 }, (_, index) => SEED + index)
const STEPS = 250

const LOCATIONS = ['main', 'other']
const ASSETS: Readonly<Record<string, readonly string[]>> = { a: [], b: ['db'], c: ['db', 'gpu'], d: ['gpu'] }
const POOLS = [
  'global',
  'pool:db',
  'pool:gpu',
  'location:main',
  'location:other',
  'tag:team',
  'tag:team=core',
  'tag:team=a=b',
  'tag:tier',
  'tag:odd=key=x',
]
const identity = {
  secret_key_id: 's1',
  attemptIdOf: ({ run_id, task_key, attempt }: { run_id: string; task_key: string; attempt: number }) =>
    attemptIdOf(run_id, task_key, attempt),
}

function createHistory(seed: number) {
  const random = createRandom(`pools/${seed}`)
  const say = createSpeaker()
  const story = createStory()
  const model: PoolModel = { tasks: [], caps: new Map(), slots: new Map(), prefetch: new Map() }
  const versions = new Map<string, number>()
  const servedAt = new Map<string, string>()
  const hashes = new Map<string, string>()
  const cancelled = new Set<string>()
  let at = NOW
  let said = 0

  const stamped = () => ({ at: (at += 1_000), request: `r${(said += 1)}` })
  const fold = (...events: LedgerEvent[]): readonly string[] => story.fold(...events).map(told)
  function applied(...events: LedgerEvent[]): void {
    expect(new Set(fold(...events))).toEqual(new Set(['applied']))
  }
  const due = (): readonly PoolTask[] => model.tasks.filter(({ state, run_id }) => state === 'WAITING' && !cancelled.has(run_id))
  const active = (): readonly PoolTask[] => model.tasks.filter(isActive)

  function deploy(location_name: string): void {
    const [slots, prefetch] = [2 + random.below(6), random.pick([0, 0, 3])]
    applied(say.locationDeployed(location_name, versions.get(location_name) ?? 0, { slots, prefetch }, stamped()))
    model.prefetch.set(location_name, prefetch)
    versions.set(location_name, (versions.get(location_name) ?? 0) + 1)
    model.slots.set(location_name, slots)
  }

  function serve(asset_key: string, location_name: string): void {
    const before = servedAt.get(asset_key)
    if (before !== undefined) applied(say.assetRemoved(asset_key, hashes.get(asset_key) as string, before, stamped()))
    const retry = { max_attempts: 4, max_infra_losses: 2, backoff_seconds: 1, jitter: 0 }
    const defined = say.assetDefined(asset_key, { pools: [...(ASSETS[asset_key] ?? [])], retry }, location_name, stamped())
    hashes.set(asset_key, defined.payload.definition_hash)
    applied(defined)
    servedAt.set(asset_key, location_name)
    for (const task of model.tasks) if (task.task_key === asset_key && task.state === 'WAITING') task.location_name = location_name
  }

  function requestRun(): void {
    const tags = {
      ...(random.isTrue(0.8) ? { team: random.pick(['core', 'growth', 'a=b']) } : {}),
      ...(random.isTrue(0.5) ? { tier: random.pick(['1', '2']), 'odd=key': 'x' } : {}),
    }
    const assets = Object.keys(ASSETS)
    const requested = say.runRequested(`user:${(said += 1)}`, { assets: { keys: assets }, tags }, stamped())
    const { run_id } = requested.payload
    const definitions = assets.map((asset_key) => ({ asset_key, definition_hash: hashes.get(asset_key) as string }))
    const tasks = assets.map((k, d) => ({ k, d, p: null, n: 1 }))
    const page = { run_id, page: 0, pages: 1, task_offset: 0, task_count: tasks.length, definitions, tasks }
    applied(requested)
    applied(say.planPage(page, requested.event_id, stamped()))
    for (const task_key of assets) {
      const location_name = servedAt.get(task_key) as string
      model.tasks.push({ run_id, task_key, tags, pool_names: ASSETS[task_key] ?? [], state: 'WAITING', location_name, attempt: 0 })
    }
  }

  function dispatch(): void {
    const tasks = due()
    if (tasks.length === 0) return
    const task = random.pick(tasks)
    // Past every back-off.
    at += 2 * MINUTE_MS
    const expected = fullFor(model, task, 'ahead').length > 0 ? 'CAP_REACHED' : 'applied'
    const prefetched = isAhead(model, task)
    const { run_id, task_key, location_name } = task
    const name = { run_id, task_key, attempt: task.attempt + 1 }
    const basis = {
      task_state: task.attempt === 0 ? 'READY' : 'RETRY_WAIT',
      previous_attempt: task.attempt,
      definition_hash: story.row('tasks', run_id, task_key)?.definition_hash as string,
    } as const
    expect({ task, told: fold(say.dispatchRequested(name, basis, { location_name }, stamped())) }).toEqual({ task, told: [expected] })
    if (expected !== 'applied') return
    Object.assign(task, { state: 'DISPATCHED', attempt: name.attempt })
    expect(story.row('dispatch_outbox', run_id, task_key, name.attempt)?.prefetched).toBe(prefetched)
  }

  /** As a turn does it: all that it says is taken, and nothing is left that would have had room. */
  function turn(): void {
    at += 2 * MINUTE_MS
    const publish_interval_ms = random.pick([0, 1_000, 60_000])
    for (const decision of reconcileDispatch({ rows: story.rows, now: at, publish_interval_ms }, identity)) {
      const [event] = eventsAt(decision, at)
      if (event?.event_type !== 'DispatchRequested') throw new Error('A dispatch is one event.')
      applied(event)
      const { run_id, task_key, attempt, location_name } = event.payload
      const task = model.tasks.find((each) => each.run_id === run_id && each.task_key === task_key)
      expect(task?.location_name).toBe(location_name)
      Object.assign(task as PoolTask, { state: 'DISPATCHED', attempt })
    }
    expect(due().filter((task) => fullFor(model, task, 'now').length === 0)).toEqual([])
  }

  /** What the row says has become of the attempt: only whether it is active is counted here. */
  function ended(task: PoolTask): void {
    const row = story.row('tasks', task.run_id, task.task_key)
    const isAgain = row?.state === 'RETRY_WAIT'
    Object.assign(task, { state: isAgain ? 'WAITING' : 'OVER' })
    if (isAgain) task.location_name = servedAt.get(task.task_key) as string
  }

  function end(task: PoolTask): void {
    if (task.state === 'DISPATCHED' && random.isTrue(0.5)) {
      const taken_back = random.isTrue(0.5) ? { withdrawn: true } : {}
      applied(say.attemptLost(task, 'HANDOVER_REFUSED', { task_state: 'DISPATCHED' }, taken_back, stamped()))
    } else if (task.state === 'RUNNING' && random.isTrue(0.3)) {
      applied(say.attemptLost(task, 'HANDOVER_REFUSED', { task_state: 'RUNNING' }, { released: true }, stamped()))
    } else {
      applied(say.taskFinished(task, random.pick(['SUCCEEDED', 'SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED'] as const), {}, stamped()))
    }
    ended(task)
  }

  function start(task: PoolTask): void {
    applied(say.taskStarted(task, {}, stamped()))
    task.state = 'RUNNING'
  }

  function cancel(): void {
    const { run_id } = random.pick(model.tasks)
    if (model.tasks.every((task) => task.run_id !== run_id || task.state === 'OVER')) return
    applied(say.runCancelRequested(run_id, stamped()))
    cancelled.add(run_id)
    for (const task of model.tasks) if (task.run_id === run_id && task.state === 'WAITING') task.state = 'OVER'
  }

  function define(): void {
    const [pool_key, max_running] = [random.pick(POOLS), random.below(5)]
    applied(say.poolDefined(pool_key, max_running, stamped()))
    model.caps.set(pool_key, max_running)
  }

  function remove(): void {
    const pool_key = random.pick(POOLS)
    const expected = pool_key === 'global' ? 'ILLEGAL_TRANSITION' : model.caps.has(pool_key) ? 'applied' : 'UNKNOWN_ENTITY'
    expect({ pool_key, told: fold(say.poolRemoved(pool_key, stamped())) }).toEqual({ pool_key, told: [expected] })
    if (expected === 'applied') model.caps.delete(pool_key)
  }

  function recount(): void {
    const { rows } = story
    for (const { pool_key, in_use } of rows.hotRows('pools')) {
      // A value that has no cap any more counts only those that it counted before.
      if (isTagValue(pool_key) && modelCap(model, pool_key) === undefined) expect(in_use).toBeLessThanOrEqual(activeIn(model, pool_key))
      else expect({ pool_key, in_use }).toEqual({ pool_key, in_use: activeIn(model, pool_key) })
    }
    const counted = new Set(rows.hotRows('pools').map(({ pool_key }) => pool_key))
    const values = new Set(active().flatMap(valuesOf))
    expect([...values].filter((value) => modelCap(model, value) !== undefined && !counted.has(value))).toEqual([])
  }

  for (const location_name of LOCATIONS) deploy(location_name)
  for (const asset_key of Object.keys(ASSETS)) serve(asset_key, 'main')
  for (let runs = 0; runs < 4; runs++) requestRun()

  const steps: readonly (readonly [number, () => void])[] = [
    [6, dispatch],
    [2, turn],
    [5, () => active().length > 0 && end(random.pick(active()))],
    [
      3,
      () =>
        active().some(({ state }) => state === 'DISPATCHED') && start(random.pick(active().filter(({ state }) => state === 'DISPATCHED'))),
    ],
    [3, define],
    [2, remove],
    [1, cancel],
    [1, requestRun],
    [1, () => deploy(random.pick(LOCATIONS))],
    [1, () => serve(random.pick(Object.keys(ASSETS)), random.pick(LOCATIONS))],
    [2, story.publish],
    [1, () => (story.publish(), story.restart())],
  ]
  const urn = steps.flatMap(([weight, step]) => Array.from({ length: weight }, () => step))

  return { model, story, active, end, recount, step: () => random.pick(urn)() }
}

/** Says which seed repeats what went wrong. */
function withSeed(seed: number, work: () => void): void {
  try {
    work()
  } catch (error) {
    const again = `SERVO_TEST_SEED=${seed} NODE_OPTIONS=--experimental-vm-modules npx jest test/properties/pools.test.ts`
    throw new Error(`${error instanceof Error ? error.message : String(error)}\nRepeat it: ${again}`, { cause: error })
  }
}

describe('pools', () => {
  test.each(SEEDS)('count what is active and take what has room, whatever is defined, removed or moved meanwhile (seed %i)', (seed) => {
    withSeed(seed, () => {
      const { step, recount } = createHistory(seed)
      for (let steps = 0; steps < STEPS; steps++) {
        step()
        recount()
      }
    })
  })

  test.each(SEEDS)("slots are freed by the task's terminal row, and never leak (seed %i)", (seed) => {
    withSeed(seed, () => {
      const { model, story, step, active, end } = createHistory(seed)
      for (let steps = 0; steps < STEPS; steps++) step()
      for (const task of active()) end(task)
      const taken = story.rows.hotRows('pools').filter(({ in_use }) => in_use !== 0)
      expect(taken).toEqual([])
      story.publish()
      // Values without a cap of their own are as many as people invent, and none of them stays.
      const values = story.rows.hotRows('pools').filter(({ pool_key }) => isTagValue(pool_key))
      expect(values.filter(({ pool_key }) => !model.caps.has(pool_key))).toEqual([])
      expect(story.rows.get('pools', 'global')?.max_running).toBe(model.caps.get('global') ?? GLOBAL_DEFAULT)
    })
  })
})
