// What is appended and of which nobody heard: the poke was lost, the turn died, the segment landed where no turn lists, or
// a reader was not told. The ledger has it, and the next look finds it.

import { expect, test } from '@jest/globals'
import { unavailable } from '../../src/core/errors.js'
import { TURN_GAP_MS_MAX } from '../../src/core/limits.js'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { createCurrent } from '../../src/readers/current.js'
import { createReader } from '../../src/readers/reader.js'
import { waitForOutcome } from '../../src/readers/wait.js'
import { createRepairWorld } from '../fixtures/repair-world.js'
import { findMissed } from '../fixtures/roles.js'
import { once } from '../fixtures/scenario.js'

test('a lost poke goes on: the next turn folds what was appended, whatever brought it', async () => {
  const world = createRepairWorld()
  const { say, append, tell, defineAssets, automation, pass, rows, states, expectInvariants } = world
  await tell(defineAssets)
  const { turn, sweep, repairs } = automation()
  await turn()
  await append(say.runRequested('user:1'))
  await pass(MINUTE_MS)
  expect([await sweep(), await rows('runs')]).toEqual([0, []])

  await turn()
  expect(await states()).toEqual(['DISPATCHED'])
  expect(await repairs()).toEqual({ poke_missed: 1 })
  await expectInvariants()
})

test('a poke that came is none that was lost, however long the workspace stood still before it', async () => {
  const { say, append, tell, defineAssets, automation, pass, states } = createRepairWorld()
  await tell(defineAssets)
  const { turn, repairs } = automation()
  await turn()
  await pass(HOUR_MS)
  await append(say.runRequested('user:1'))
  await pass(5 * SECOND_MS)
  await turn()
  expect(await states()).toEqual(['DISPATCHED'])
  expect(await repairs()).toEqual({})
})

test('what waits behind a turn that takes long is no lost poke', async () => {
  let latency_ms = 5
  const world = createRepairWorld({ latency_ms: () => latency_ms })
  const { say, append, tell, defineAssets, automation, pass, rows } = world
  const pools = async () => (await rows('pools')).map(({ pool_key }) => pool_key)
  await tell(defineAssets)
  const { turn, begin, repairs } = automation()
  await turn()
  await append(say.poolDefined('pool:x', 1))
  latency_ms = 1_000
  const begun = begin()
  // It has listed, and does not see this one.
  await pass(4.5 * SECOND_MS)
  latency_ms = 5
  await append(say.poolDefined('pool:y', 1))
  const appended_at = world.world.time.now()
  latency_ms = 1_400
  await tell(() => begun)
  expect(await pools()).not.toContain('pool:y')
  latency_ms = 5
  await turn()
  expect(await pools()).toContain('pool:y')
  expect(world.world.time.now() - appended_at).toBeGreaterThan(TURN_GAP_MS_MAX)
  expect(await repairs()).toEqual({})
})

test('what waits while the store is out of reach is no lost poke, and what was due meanwhile no missed timer', async () => {
  const { say, append, automation, pass, rows, worker, world } = createRepairWorld()
  await append(say.locationDeployed('main', 0), say.assetDefined('a', { heartbeat_timeout_seconds: 30 }))
  await append(say.runRequested('user:1'))
  const { turn, settled, repairs } = automation()
  await turn()
  await settled()
  await worker.start()
  await turn()
  await append(say.poolDefined('pool:x', 1))
  const restore = world.intercept(({ process }) => {
    if (process === 'automation') throw unavailable('The store is away.')
  })
  for (let turns = 0; turns < 3; turns++) {
    await expect(turn()).rejects.toThrow('away')
    await pass(30 * SECOND_MS)
  }
  restore()
  await turn()
  expect((await rows('pools')).map(({ pool_key }) => pool_key)).toContain('pool:x')
  expect([(await rows('tasks')).map(({ state }) => state), await repairs()]).toEqual([['RUNNING'], {}])
})

test.each(['ledger/', 'state/', 'revisions/', 'manifest.json'])(
  'a turn that died before its write of %s goes on: the next one folds what it had read and said',
  async (name) => {
    const world = createRepairWorld()
    const { say, append, tell, defineAssets, automation, pass, rows, states, expectInvariants } = world
    await tell(defineAssets)
    await append(say.runRequested('user:1', { assets: { keys: ['a', 'b'] } }))
    const doomed = automation('doomed')
    once(world.world, 'before', { process: 'doomed', operation: 'put', name }, ({ kill }) => kill())
    void doomed.begin()
    await pass(MINUTE_MS)
    expect(doomed.process.isGone()).toBe(true)
    const { turn, sweep, repairs } = automation('next')
    expect([await sweep(), await rows('runs')]).toEqual([0, []])

    await turn()
    expect(await states()).toEqual(['DISPATCHED', 'BLOCKED'])
    expect(await repairs()).toEqual({ poke_missed: 1 })
    await expectInvariants()
  },
)

test('a late segment goes on: only the full listing of the window finds it, and the turn that is told of it folds it', async () => {
  const world = createRepairWorld()
  const { say, append, writer, automation, pass, rows, expectInvariants } = world
  const { turn, sweep, repairs } = automation()
  await turn()
  // Its writer is stopped between the name and the write, and dies with the write: nobody checks when it was created.
  once(world.world, 'before', { process: 'stalled', operation: 'put' }, () => world.world.time.sleep(10 * MINUTE_MS))
  once(world.world, 'after', { process: 'stalled', operation: 'put' }, ({ kill }) => kill())
  void writer('stalled').append([say.poolDefined('pool:late', 3)])
  await pass(9 * MINUTE_MS)
  await append(say.poolDefined('pool:other', 3))
  await turn()
  await pass(2 * MINUTE_MS)
  for (let turns = 0; turns < 5; turns++) {
    await turn()
    await pass(MINUTE_MS)
  }
  await sweep()
  expect((await rows('pools')).map(({ pool_key }) => pool_key)).toEqual(['pool:other'])

  const missed = await world.tell(() => findMissed(world.world, world.world.start('maintenance')))
  expect(missed).toHaveLength(1)
  await turn({ missed })
  expect((await rows('pools')).map(({ pool_key }) => pool_key)).toEqual(['pool:late', 'pool:other'])
  expect(await repairs()).toEqual({ late_segment: 1 })
  // Told of it twice, as a signal may be, it is no repair a second time.
  await turn({ missed })
  expect(await repairs()).toEqual({ late_segment: 1 })
  await pass(HOUR_MS)
  await expectInvariants()
})

test('a lost notification goes on: who waits for a revision finds it by himself, and who reads is never behind', async () => {
  const { say, append, tell, defineAssets, automation, world } = createRepairWorld()
  await tell(defineAssets)
  const { turn, repairs } = automation()
  await turn()
  // Another process, which nobody tells of publishes and whose pokes go nowhere.
  const { store, files, clock } = world.start('api')
  const reader = createReader({ store, files })
  const current = createCurrent({ reader, clock })
  const held = await tell(() => current.latest())
  const event = say.runRequested('user:1')
  await append(event)
  expect(await tell(() => current.atLeast((held?.sequence ?? 0) + 1, 10 * SECOND_MS))).toBeUndefined()
  const { idempotency_key } = event
  const asked = { reader, clock, poke: () => undefined }
  expect(await tell(() => waitForOutcome(asked, { idempotency_key }, SECOND_MS))).toEqual({ kind: 'pending' })

  const waiting = current.atLeast((held?.sequence ?? 0) + 1, 10 * SECOND_MS)
  const outcome = waitForOutcome(asked, { idempotency_key }, 10 * SECOND_MS)
  await turn()
  expect((await tell(() => waiting))?.sequence).toBeGreaterThan(held?.sequence ?? 0)
  expect(await tell(() => outcome)).toMatchObject({ kind: 'applied' })
  expect(await repairs()).toEqual({ poke_missed: 1 })
})

test('rows in memory that are not those of the revision go on: the hourly look loads them anew', async () => {
  const { say, append, automation, pass } = createRepairWorld()
  await append(say.locationDeployed('main', 0), say.assetDefined('a'), say.poolDefined('global', 1))
  const { turn, workspace, repairs } = automation()
  await turn()
  const { rows } = workspace()
  const [pool] = rows.hotRows('pools').filter(({ pool_key }) => pool_key === 'global')
  // A place that nobody gives back, as a bug would leave it.
  rows.follow('pools', [{ ...(pool as object), in_use: 1 } as never])
  await append(say.runRequested('user:1'))
  await turn()
  await pass(30 * MINUTE_MS)
  await turn()
  expect(rows.hotRows('tasks').map(({ state }) => state)).toEqual(['READY'])

  await pass(30 * MINUTE_MS)
  await turn()
  expect(
    workspace()
      .rows.hotRows('tasks')
      .map(({ state }) => state),
  ).toEqual(['DISPATCHED'])
  // What was stuck by it goes on in the same turn.
  expect(await repairs()).toEqual({ dispatch_late: 1, hot_state: 1 })
})
