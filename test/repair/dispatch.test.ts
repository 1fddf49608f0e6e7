// Tasks that could run and that nobody dispatched, and retries that are due while nobody wakes.

import { expect, test } from '@jest/globals'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { createRepairWorld } from '../fixtures/repair-world.js'

/** So slow that a turn publishes the plan, and leaves what is in it to the next one. */
const SLOW = { latency_ms: () => 150 }

test('a task that is READY without an outbox row goes on: the next turn dispatches it', async () => {
  const world = createRepairWorld(SLOW)
  const { say, append, tell, defineAssets, automation, pass, rows, states, expectInvariants } = world
  await tell(defineAssets)
  await append(say.runRequested('user:1', { assets: { keys: ['a'] } }))
  // There is more to do, and the process is gone before anybody calls for it.
  const doomed = automation('doomed')
  expect(await doomed.turn()).toMatchObject({ more: true })
  doomed.process.kill()
  const { turn, sweep, settled, repairs } = automation('next')
  expect(await sweep()).toBe(0)
  await pass(MINUTE_MS)
  expect([await states(), await rows('dispatch_outbox')]).toEqual([['READY'], []])

  await turn()
  expect(await states()).toEqual(['DISPATCHED'])
  expect(await rows('dispatch_outbox')).toMatchObject([{ task_key: 'a', attempt: 1, status: 'PENDING' }])
  await settled()
  expect(world.handed).toHaveLength(1)
  expect(await repairs()).toEqual({ dispatch_late: 1 })
  await expectInvariants()
})

test('a task that a turn leaves to the next one is not late, where that one comes at once', async () => {
  const { say, append, tell, defineAssets, automation, states } = createRepairWorld(SLOW)
  await tell(defineAssets)
  await append(say.runRequested('user:1', { assets: { keys: ['a'] } }))
  const { turn, repairs } = automation()
  expect(await turn()).toMatchObject({ more: true })
  expect(await states()).toEqual(['READY'])
  await turn()
  expect([await states(), await repairs()]).toEqual([['DISPATCHED'], {}])
})

test('a task that waits for room is not late: the turn that hears of the room dispatches it, and nothing is counted', async () => {
  const { say, append, tell, defineAssets, automation, pass, states, worker } = createRepairWorld()
  await tell(defineAssets)
  await append(say.poolDefined('global', 1))
  await append(say.runRequested('user:1', { assets: { keys: ['a', 'c'] } }))
  const { turn, settled, repairs } = automation()
  await turn()
  await settled()
  await worker.start()
  await turn()
  for (let minute = 0; minute < 5; minute++) {
    await pass(30 * SECOND_MS)
    await worker.beat(minute)
    await turn()
  }
  expect(await states()).toEqual(['RUNNING', 'READY'])
  await worker.finish()
  await turn()
  expect(await states()).toEqual(['SUCCEEDED', 'DISPATCHED'])
  expect(await repairs()).toEqual({})
})

test('a retry that is due and that nobody woke for goes on: whichever turn comes next dispatches it', async () => {
  const world = createRepairWorld()
  const { say, append, automation, pass, rows, states, worker, expectInvariants } = world
  const retry = { max_attempts: 2, backoff_seconds: 30, jitter: 0 }
  await append(say.locationDeployed('main', 0), say.assetDefined('a', { retry }))
  await append(say.runRequested('user:1'))
  const { turn, sweep, settled, repairs } = automation()
  await turn()
  await settled()
  await worker.start()
  await worker.finish('FAILED')
  const { wake_in_ms } = await turn()
  expect(wake_in_ms).toBeGreaterThan(0)
  expect(await states()).toEqual(['RETRY_WAIT'])
  const first = world.last()
  // The timer is lost, with whoever kept it.
  await pass(10 * MINUTE_MS)
  expect(await sweep()).toBe(0)
  expect(await states()).toEqual(['RETRY_WAIT'])

  await turn()
  expect(await rows('tasks')).toMatchObject([{ state: 'DISPATCHED', attempt: 2 }])
  await settled()
  const second = world.last()
  expect([second.attempt, second.attempt_id === first.attempt_id]).toEqual([2, false])
  expect(await repairs()).toEqual({ wake_missed: 1 })
  await expectInvariants()
})

/** One place: `a` has failed and is to be tried again, and `c`, which came after it, has taken the place and runs. */
async function withRetryBehind(backoff_seconds: number, heartbeat_timeout_seconds: number) {
  const world = createRepairWorld()
  const { say, append, automation, worker } = world
  const retried = say.assetDefined('a', { retry: { max_attempts: 2, backoff_seconds, jitter: 0 } })
  const other = say.assetDefined('c', { heartbeat_timeout_seconds })
  await append(say.locationDeployed('main', 0), retried, other, say.poolDefined('global', 1))
  await append(say.runRequested('user:1', { assets: { keys: ['a'] } }))
  const { process, turn, settled, repairs } = automation()
  await turn()
  await settled()
  await worker.start()
  await worker.finish('FAILED')
  await append(say.runRequested('user:2', { assets: { keys: ['c'] }, priority: 5 }))
  await turn()
  await settled()
  await worker.start()
  const { wake_in_ms } = await turn()
  const states = async () => (await world.states()).toSorted()
  return { ...world, states, process, turn, repairs, wake_in_ms }
}

test('a retry that is due and waits for room is no missed timer, however often the turn looks', async () => {
  const { turn, pass, states, worker, repairs } = await withRetryBehind(30, 60)
  for (let beat = 0; beat < 6; beat++) {
    await pass(20 * SECOND_MS)
    await worker.beat(beat)
    await turn()
  }
  expect(await states()).toEqual(['RETRY_WAIT', 'RUNNING'])
  await worker.finish()
  await turn()
  expect([await states(), await repairs()]).toEqual([['DISPATCHED', 'SUCCEEDED'], {}])
})

test('a retry for which there is room at last is no missed timer for a process that does not know since when it is due', async () => {
  const { process, automation, pass, states, worker } = await withRetryBehind(5, 3_600)
  process.kill()
  await pass(MINUTE_MS)
  await worker.finish()
  const { turn, repairs } = automation('next')
  await turn()
  expect([await states(), await repairs()]).toEqual([['DISPATCHED', 'SUCCEEDED'], {}])
})

test('an attempt that falls silent while a retry waits for room is given up in time: what was due before it has been looked at', async () => {
  const { turn, pass, rows, repairs, wake_in_ms: first_wake_in_ms } = await withRetryBehind(5, 60)
  // The loop comes whenever it was asked to: for the retry, which finds no room, and then for the deadline.
  let wake_in_ms = first_wake_in_ms
  for (let wakes = 0; wakes < 2; wakes++) {
    await pass(Math.max(SECOND_MS, wake_in_ms ?? 0))
    ;({ wake_in_ms } = await turn())
  }
  expect(await rows('tasks')).toContainEqual(expect.objectContaining({ asset_key: 'c', outcome_reason: 'HEARTBEAT' }))
  expect(await repairs()).toEqual({})
})

test('the same with two processes that take turns: neither knows of the other what it has looked at', async () => {
  const { automation, turn, pass, rows, repairs, wake_in_ms: first_wake_in_ms } = await withRetryBehind(5, 60)
  const other = automation('other')
  await other.turn()
  await pass(Math.max(SECOND_MS, first_wake_in_ms ?? 0))
  const { wake_in_ms } = await turn()
  await pass(wake_in_ms ?? 0)
  await other.turn()
  expect(await rows('tasks')).toContainEqual(expect.objectContaining({ asset_key: 'c', outcome_reason: 'HEARTBEAT' }))
  expect([await repairs(), await other.repairs()]).toEqual([{}, {}])
})
