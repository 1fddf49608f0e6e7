// On a healthy system all of this costs nothing: what looks for stuck work reads, and writes nothing; and what goes its
// ordinary way is never taken for a repair.

import { expect, test } from '@jest/globals'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { createRepairWorld } from '../fixtures/repair-world.js'
import { findMissed } from '../fixtures/roles.js'

const TURNS = 50

test('an idle workspace writes nothing, over many turns, sweeps and looks through the window', async () => {
  const world = createRepairWorld()
  const { say, append, automation, pass, tell, worker, states, countCalls } = world
  await append(say.locationDeployed('main', 0), say.assetDefined('a'), say.assetDefined('b', { deps: [{ asset_key: 'a' }] }))
  await append(say.runRequested('user:1', { assets: { keys: ['a', 'b'] } }))
  const { process, turn, sweep, settled, repairs } = automation()
  for (let tasks = 0; tasks < 2; tasks++) {
    await turn()
    await settled()
    await worker.start()
    await worker.finish()
  }
  await turn()
  expect(await states()).toEqual(['SUCCEEDED', 'SUCCEEDED'])
  await turn()
  const maintenance = world.world.start('maintenance')
  await pass(10 * SECOND_MS)
  await sweep()

  const [calls, looked] = [countCalls(process), countCalls(maintenance)]
  for (let turns = 0; turns < TURNS; turns++) {
    await pass(MINUTE_MS)
    expect(await turn()).toMatchObject({ published_count: 0, wake_in_ms: null, more: false, merge_due: false })
  }
  // The pointer, and one listing of the open minutes.
  expect(calls()).toEqual({ put: 0, get: TURNS, head: 0, list: TURNS, delete: 0 })
  for (let sweeps = 0; sweeps < TURNS; sweeps++) {
    await pass(10 * SECOND_MS)
    expect(await sweep()).toBe(0)
  }
  // The pointer: what the base has of the outbox is known until a merge makes another.
  expect(calls()).toEqual({ put: 0, get: TURNS, head: 0, list: 0, delete: 0 })
  for (let looks = 0; looks < 6; looks++) {
    await pass(10 * MINUTE_MS)
    expect(await tell(() => findMissed(world.world, maintenance))).toEqual([])
  }
  expect(looked()).toMatchObject({ put: 0, delete: 0 })
  await turn()
  expect(await repairs()).toEqual({})
})

test('a workspace that waits for workers writes nothing either, however often it is looked at', async () => {
  const world = createRepairWorld()
  const { say, append, automation, pass, worker, states, countCalls } = world
  const patient = say.assetDefined('a', { heartbeat_timeout_seconds: 7_200 })
  await append(say.locationDeployed('main', 0), patient, say.assetDefined('b', { deps: [{ asset_key: 'a' }] }))
  await append(say.runRequested('user:1', { assets: { keys: ['a', 'b'] } }))
  const { process, turn, sweep, settled, repairs } = automation()
  await turn()
  await settled()
  await worker.start()
  await turn()
  const calls = countCalls(process)
  for (let turns = 0; turns < TURNS; turns++) {
    await pass(MINUTE_MS)
    expect(await turn()).toMatchObject({ published_count: 0 })
    expect(await sweep()).toBe(0)
  }
  expect(calls()).toMatchObject({ put: 0, delete: 0 })
  expect([await states(), await repairs()]).toEqual([['RUNNING', 'BLOCKED'], {}])
})

test('a worker whose slots are full counts no repair: what it has no room for is handed over once it has, and to nobody twice', async () => {
  const world = createRepairWorld()
  const { say, append, automation, pass, worker, handed, rows, expectInvariants } = world
  const patient = { heartbeat_timeout_seconds: 7_200, start_timeout_seconds: 3_600 }
  await append(say.locationDeployed('main', 0, { slots: 8 }), say.assetDefined('a', patient))
  const { turn, sweep, settled, repairs } = automation()
  // It has fewer slots than its location was deployed with, as while one of several workers is replaced.
  const SLOTS = 3
  const running = new Map<string, Dispatch>()
  const taken: string[] = []
  worker.answersBy(({ attempt_id }) => {
    if (running.has(attempt_id)) return { answer: 'ACCEPTED' }
    if (running.size >= SLOTS) return { answer: 'BUSY' }
    const dispatch = handed.find((each) => each.attempt_id === attempt_id) as Dispatch
    running.set(attempt_id, dispatch)
    taken.push(attempt_id)
    return { answer: 'ACCEPTED' }
  })
  const RUNS = 12
  for (let runs = 1; runs <= RUNS; runs++) await append(say.runRequested(`user:${runs}`, { assets: { keys: ['a'] } }))
  const started = new Set<string>()
  for (let rounds = 0; taken.length < RUNS || running.size > 0; rounds++) {
    if (rounds > 10 * RUNS) throw new Error(`Only ${taken.length} of ${RUNS} attempts came to a slot.`)
    for (const [attempt_id, dispatch] of running) {
      if (!started.has(attempt_id)) continue
      running.delete(attempt_id)
      await worker.finish('SUCCEEDED', dispatch)
    }
    await turn()
    await settled()
    // Each starts at once where it is taken, and runs until the next round.
    for (const [attempt_id, dispatch] of running) {
      if (started.has(attempt_id)) continue
      started.add(attempt_id)
      await worker.start(dispatch)
    }
    await turn()
    await settled()
    await pass(5 * SECOND_MS)
    await sweep()
  }
  await turn()
  expect((await rows('tasks')).map(({ state, attempt }) => `${String(state)} ${String(attempt)}`)).toEqual(Array(RUNS).fill('SUCCEEDED 1'))
  // Some were offered again and again, and each was accepted once.
  expect(handed.length).toBeGreaterThan(2 * RUNS)
  expect([taken.length, new Set(taken).size]).toEqual([RUNS, RUNS])
  expect(await repairs()).toEqual({})
  await expectInvariants()
})

test('an ordinary day counts no repair: runs, failures, retries and silence of which every turn hears in time', async () => {
  const world = createRepairWorld()
  const { say, append, automation, pass, worker, handed, rows, expectInvariants } = world
  const retry = { max_attempts: 3, backoff_seconds: 20, jitter: 0 }
  const deps = [{ asset_key: 'a' }]
  await append(
    say.locationDeployed('main', 0),
    say.assetDefined('a', { retry, heartbeat_timeout_seconds: 30 }),
    say.assetDefined('b', { deps }),
    say.poolDefined('global', 3),
  )
  const { turn, sweep, settled, repairs } = automation()
  const started = new Set<string>()
  let asked = 0
  /** As the loop does it: at once after an append, and else when the last turn wished it, or after a minute. */
  async function live(duration_ms: number): Promise<void> {
    const end = world.world.time.now() + duration_ms
    while (world.world.time.now() < end) {
      const { wake_in_ms, more } = await turn()
      await settled()
      let spoken = 0
      for (const dispatch of handed.filter(({ attempt_id }) => !started.has(attempt_id))) {
        started.add(dispatch.attempt_id)
        await worker.start(dispatch)
        // Every seventh is never heard of again, every fifth fails.
        const number = started.size
        if (number % 7 !== 0) await worker.finish(number % 5 === 0 ? 'FAILED' : 'SUCCEEDED', dispatch)
        spoken += 1
      }
      if (spoken > 0 || more) continue
      await sweep()
      await pass(Math.max(SECOND_MS, Math.min(wake_in_ms ?? MINUTE_MS, MINUTE_MS)))
    }
  }
  for (let hour = 0; hour < 3; hour++) {
    for (let runs = 0; runs < 5; runs++) await append(say.runRequested(`user:${++asked}`, { assets: { keys: ['a', 'b'] } }))
    await live(HOUR_MS)
  }
  expect((await rows('runs')).filter(({ finished_at }) => finished_at === null)).toEqual([])
  expect((await rows('tasks')).filter(({ attempt }) => Number(attempt) > 1).length).toBeGreaterThan(3)
  expect(await repairs()).toEqual({})
  await expectInvariants()
})
