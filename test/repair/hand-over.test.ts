// What is published and never reached a worker: the process that published it died, or nobody told the one that sweeps.

import { expect, test } from '@jest/globals'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { createRepairWorld, type RepairWorld } from '../fixtures/repair-world.js'

const POINTER = 'manifests/orchestration.manifest.json'

/** The swap has landed, and its answer finds nobody. */
async function publishAndDie(world: RepairWorld): Promise<void> {
  const { say, append, tell, defineAssets, automation, pass, states } = world
  await tell(defineAssets)
  await append(say.runRequested('user:1', { assets: { keys: ['a', 'c'] } }))
  const doomed = automation('doomed')
  world.world.intercept(({ phase, process, operation, name, kill }) => {
    if (phase === 'after' && process === 'doomed' && operation === 'put' && name === POINTER) kill()
  })
  void doomed.begin()
  await pass(MINUTE_MS)
  expect(await states()).toEqual(['DISPATCHED', 'DISPATCHED'])
}

test('an attempt that was published and never handed over goes on: the sweep of any process sends it', async () => {
  const world = createRepairWorld()
  await publishAndDie(world)
  const { turn, sweep, settled, repairs } = world.automation('next')
  await world.pass(MINUTE_MS)
  await settled()
  expect(world.handed).toEqual([])

  expect(await sweep()).toBe(2)
  expect(world.handed.map(({ task_key, attempt }) => [task_key, attempt])).toEqual([
    ['a', 1],
    ['c', 1],
  ])
  expect(await repairs()).toEqual({ attempt_sent_again: 2 })
  for (const dispatch of world.handed) await world.worker.start(dispatch)
  await turn()
  expect(await sweep()).toBe(0)
  expect(await world.states()).toEqual(['RUNNING', 'RUNNING'])
  expect(world.handed).toHaveLength(2)
  await world.expectInvariants()
})

test('an attempt whose first hand-over is lost with its process goes on, also where that process has published more since', async () => {
  const world = createRepairWorld()
  await publishAndDie(world)
  const { turn, settled, repairs } = world.automation('next')
  // The next publish shows the hand-over all that is out, and not only what is new in it.
  await world.append(world.say.poolDefined('pool:x', 1))
  await turn()
  await settled()
  expect(world.handed.map(({ task_key }) => task_key)).toEqual(['a', 'c'])
  expect(await repairs()).toEqual({})
})

test('an attempt whose answer was lost counts once it is taken, also where its worker was full in between', async () => {
  const world = createRepairWorld()
  const { say, append, tell, defineAssets, automation, pass } = world
  await tell(defineAssets)
  await append(say.runRequested('user:1'))
  world.worker.answers('UNREACHABLE')
  const { turn, sweep, settled, repairs } = automation()
  await turn()
  await settled()
  world.worker.answers('BUSY')
  for (let sweeps = 0; sweeps < 2; sweeps++) {
    await pass(5 * SECOND_MS)
    expect([await sweep(), await repairs()]).toEqual([1, {}])
  }
  world.worker.answers('ACCEPTED')
  await pass(5 * SECOND_MS)
  await sweep()
  expect(await repairs()).toEqual({ attempt_sent_again: 1 })
})

test('a publish of which nobody told the one that sweeps goes on: he looks by himself once what he knows is some seconds old', async () => {
  const world = createRepairWorld()
  const { say, append, tell, defineAssets, automation, pass } = world
  await tell(defineAssets)
  world.worker.answers('UNREACHABLE')
  const sweeper = automation('sweeper')
  const other = automation('other')
  await append(say.poolDefined('pool:x', 1))
  await sweeper.turn()
  // The other one publishes, its worker is not there, and it says nothing to this one.
  await append(say.runRequested('user:1'))
  await other.turn()
  await other.settled()
  other.process.kill()
  world.worker.answers('ACCEPTED')
  expect(await sweeper.sweep()).toBe(0)
  await pass(5 * SECOND_MS)
  expect(world.handed).toEqual([])

  expect(await sweeper.sweep()).toBe(1)
  expect(world.handed).toHaveLength(1)
  expect(await sweeper.repairs()).toEqual({ attempt_sent_again: 1 })
})

test('an attempt whose worker was away goes on: the sweep sends it until the worker is there', async () => {
  const world = createRepairWorld()
  const { say, append, tell, defineAssets, automation, pass, rows } = world
  await tell(defineAssets)
  world.worker.answers('UNREACHABLE')
  await append(say.runRequested('user:1'))
  const { turn, sweep, settled, repairs } = automation()
  await turn()
  await settled()
  for (let sweeps = 0; sweeps < 5; sweeps++) {
    await pass(5 * SECOND_MS)
    expect(await sweep()).toBe(1)
    await turn()
  }
  expect([world.handed, await repairs()]).toEqual([[], {}])

  world.worker.answers('ACCEPTED')
  await sweep()
  expect(world.handed).toHaveLength(1)
  expect(await repairs()).toEqual({ attempt_sent_again: 1 })
  await turn()
  expect(await rows('dispatch_outbox')).toMatchObject([{ status: 'ACKED' }])
  // Asked about again until it starts, which mends nothing.
  await pass(5 * SECOND_MS)
  await sweep()
  expect(world.handed).toHaveLength(2)
  expect(await repairs()).toEqual({ attempt_sent_again: 1 })
})
