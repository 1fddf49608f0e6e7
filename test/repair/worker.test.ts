// Attempts of which nobody hears any more: the worker forgot them, or fell silent. A deadline ends each, and the next
// attempt is another one for every queue.

import { expect, test } from '@jest/globals'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { createRepairWorld } from '../fixtures/repair-world.js'

async function withHandedOver(definition: object = {}) {
  const world = createRepairWorld()
  const { say, append, automation } = world
  await append(say.locationDeployed('main', 0), say.assetDefined('a', definition))
  await append(say.runRequested('user:1'))
  const { turn, sweep, settled, repairs, losses } = automation()
  const { wake_in_ms } = await turn()
  await settled()
  const first = world.last()
  async function expectNextAttempt(): Promise<void> {
    await settled()
    expect(await world.rows('tasks')).toMatchObject([{ state: 'DISPATCHED', attempt: 2, infra_losses: 1, failures: 0 }])
    expect([world.last().attempt, world.last().attempt_id === first.attempt_id]).toEqual([2, false])
  }
  return { ...world, turn, sweep, settled, repairs, losses, first, wake_in_ms: Number(wake_in_ms), expectNextAttempt }
}

test('an attempt that was handed over and forgotten goes on: DIRECT, the sweep hands it over again', async () => {
  const { sweep, turn, pass, states, handed, first, worker, repairs, expectInvariants } = await withHandedOver()
  await pass(SECOND_MS)
  await turn()
  expect([await sweep(), handed.length]).toEqual([1, 1])
  await pass(5 * SECOND_MS)
  for (let turns = 0; turns < 5; turns++) await turn()
  expect([handed.length, await states()]).toEqual([1, ['DISPATCHED']])

  await sweep()
  expect(handed.map(({ attempt_id }) => attempt_id)).toEqual([first.attempt_id, first.attempt_id])
  expect(await repairs()).toEqual({ attempt_sent_again: 1 })
  await worker.start()
  await turn()
  expect(await states()).toEqual(['RUNNING'])
  await expectInvariants()
})

test('an attempt that never starts goes on: past its start deadline the next one has another id and another queue name', async () => {
  const { sweep, turn, pass, rows, wake_in_ms, expectNextAttempt, repairs, losses, expectInvariants } = await withHandedOver({
    start_timeout_seconds: 60,
  })
  expect(wake_in_ms).toBeGreaterThan(55 * SECOND_MS)
  // A worker that answers and starts nothing, as often as it is asked.
  for (let sweeps = 0; sweeps < 5; sweeps++) {
    await pass(wake_in_ms / 6)
    await sweep()
    await turn()
  }
  expect(await rows('tasks')).toMatchObject([{ state: 'DISPATCHED', attempt: 1 }])
  await pass(wake_in_ms / 6 + SECOND_MS)

  await turn()
  expect(await rows('tasks')).toMatchObject([{ state: 'RETRY_WAIT', attempt: 1, infra_losses: 1 }])
  // What never started is tried again after some seconds.
  await pass(5 * SECOND_MS)
  await turn()
  await expectNextAttempt()
  const [before, after] = await rows('dispatch_outbox')
  expect([before?.['close_reason'], after?.['status']]).toEqual(['START_DEADLINE', 'PENDING'])
  expect(after?.['queue_task_name']).not.toBe(before?.['queue_task_name'])
  expect([await repairs(), await losses()]).toEqual([{ attempt_sent_again: 1 }, { START_DEADLINE: 1 }])
  await expectInvariants()
})

test('an attempt that runs and falls silent goes on: past its heartbeat deadline the next one is handed over', async () => {
  const { turn, sweep, pass, rows, worker, expectNextAttempt, repairs, losses, expectInvariants } = await withHandedOver({
    heartbeat_timeout_seconds: 30,
  })
  await worker.start()
  await turn()
  await pass(20 * SECOND_MS)
  await worker.beat(1)
  const { wake_in_ms } = await turn()
  expect(wake_in_ms).toBeGreaterThan(30 * SECOND_MS)
  for (let looks = 0; looks < 4; looks++) {
    await pass(Number(wake_in_ms) / 4 - SECOND_MS)
    await turn()
    expect(await sweep()).toBe(0)
  }
  expect(await rows('tasks')).toMatchObject([{ state: 'RUNNING', attempt: 1 }])
  await pass(5 * SECOND_MS)

  await turn()
  await expectNextAttempt()
  // A deadline that is met by a loss in time is no repair of its own.
  expect([await repairs(), await losses()]).toEqual([{}, { HEARTBEAT: 1 }])
  await expectInvariants()
})

test('a deadline that nobody came for goes on: the turn that comes late holds it back once, and the next one after that gives it up', async () => {
  const { turn, pass, rows, worker, expectNextAttempt, repairs, losses, expectInvariants } = await withHandedOver({
    heartbeat_timeout_seconds: 30,
  })
  await worker.start()
  await turn()
  await pass(10 * MINUTE_MS)
  expect(await rows('tasks')).toMatchObject([{ state: 'RUNNING', attempt: 1 }])

  const { wake_in_ms } = await turn()
  expect(await rows('tasks')).toMatchObject([{ state: 'RUNNING', attempt: 1 }])
  expect(await repairs()).toEqual({ wake_missed: 1 })
  await pass(Number(wake_in_ms))
  await turn()
  await expectNextAttempt()
  // The second one came when it was asked to.
  expect([await repairs(), await losses()]).toEqual([{ wake_missed: 1 }, { HEARTBEAT: 1 }])
  await expectInvariants()
})

test('the grace of a cancel that passed without a turn counts also where the turn that comes late has news to fold', async () => {
  const { turn, say, append, pass, rows, worker, first, repairs, losses, expectInvariants } = await withHandedOver({
    heartbeat_timeout_seconds: 3_600,
    cancel_grace_seconds: 30,
  })
  await worker.start()
  await turn()
  await append(say.runCancelRequested(first.run_id))
  await turn()
  await pass(10 * MINUTE_MS)
  await append(say.poolDefined('pool:x', 1))

  await turn()
  expect(await rows('tasks')).toMatchObject([{ state: 'CANCELLED', attempt: 1 }])
  expect([await repairs(), await losses()]).toEqual([{ wake_missed: 1 }, { CANCEL_GRACE: 1 }])
  await expectInvariants()
})
