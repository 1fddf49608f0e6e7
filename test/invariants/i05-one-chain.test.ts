import { describe, expect, test } from '@jest/globals'
import { reconcileSchedules } from '../../src/controllers/schedules.js'
import { FOLD_VERSION } from '../../src/core/limits.js'
import { DAY_MS, MINUTE_MS } from '../../src/core/time.js'
import type { Reconcile } from '../../src/turn/reconcile.js'
import type { StoredPointer } from '../fixtures/oracle.js'
import { merge } from '../fixtures/roles.js'
import { runIdOf, ulidOf } from '../fixtures/say.js'
import { createScenario, loseAnswer, once } from '../fixtures/scenario.js'
import { IDENTITY } from '../fixtures/schedule-story.js'
import { stubDecider } from '../fixtures/stub-decider.js'

describe('I5 revisions form one chain, and nothing in it goes back', () => {
  test('I5 a turn that lost its swap drops what it folded, and folds only what is still new', async () => {
    const { say, writer, decider, world, tell, row, expectInvariants } = createScenario()
    const slow = decider('slow')
    await tell(async () => {
      await decider('first').turn()
      await writer().append([say.poolDefined('pool:x', 3)])
      once(world, 'before', { process: 'slow', operation: 'put', name: 'manifest.json' }, async () => {
        await writer('other').append([say.poolDefined('pool:y', 3)])
        await decider('quick').turn()
      })
      const answer = await slow.turn()
      expect(answer.published_count).toBe(0)
    })
    expect(await row('pools', 'pool:x')).toBeDefined()
    expect(await row('pools', 'pool:y')).toBeDefined()
    expect(world.oracle.pointers).toHaveLength(2)
    await expectInvariants()
  })

  test('I5 a turn that was paused while it uploaded, and overtaken meanwhile, publishes nothing on top of what it has not read', async () => {
    const { say, writer, decider, world, tell, row, expectInvariants } = createScenario()
    const slow = decider('slow')
    await tell(async () => {
      await decider('first').turn()
      await writer().append([say.poolDefined('pool:x', 3)])
      once(world, 'after', { process: 'slow', operation: 'put', name: 'pools.' }, async () => {
        await writer('other').append([say.poolDefined('pool:y', 3)])
        await decider('quick').turn()
      })
      expect((await slow.turn()).published_count).toBe(0)
    })
    expect(await row('pools', 'pool:x')).toBeDefined()
    expect(await row('pools', 'pool:y')).toBeDefined()
    expect(world.oracle.pointers.map(({ pointer }) => pointer.sequence)).toEqual([1, 2])
    await expectInvariants()
  })

  test('I5 a swap that landed and whose answer was lost is known to be ours', async () => {
    const { say, writer, decider, world, tell, expectInvariants } = createScenario()
    const { turn } = decider()
    await tell(async () => {
      await turn()
      await writer().append([say.poolDefined('pool:x', 3)])
      once(world, 'after', { operation: 'put', name: 'manifest.json' }, loseAnswer)
      expect((await turn()).published_count).toBe(1)
    })
    expect(world.oracle.pointers.map(({ pointer }) => pointer.sequence)).toEqual([1, 2])
    await expectInvariants()
  })

  test('I5 a swap that landed, whose answer was lost and on which another turn built, is known to be an ancestor', async () => {
    const { say, writer, decider, world, tell, expectInvariants } = createScenario()
    const { turn } = decider('first')
    await tell(async () => {
      await turn()
      await writer().append([say.poolDefined('pool:x', 3)])
      once(world, 'after', { process: 'first', operation: 'put', name: 'manifest.json' }, async () => {
        await writer('other').append([say.poolDefined('pool:y', 3)])
        await decider('second').turn()
        loseAnswer()
      })
      await turn()
    })
    expect(world.oracle.pointers.map(({ pointer }) => pointer.sequence)).toEqual([1, 2, 3])
    await expectInvariants()
  })

  test('I5 the order of ULIDs is not the order of publishing, and nobody takes it for that', async () => {
    const { say, writer, decider, world, tell, row, expectInvariants } = createScenario()
    const ahead = decider('ahead', { skew_ms: () => 7 * MINUTE_MS })
    const behind = decider('behind', { skew_ms: () => -7 * MINUTE_MS })
    const keeper = world.start('keeper')
    await tell(async () => {
      for (const [round, { turn }] of [ahead, behind, ahead, behind].entries()) {
        await writer(`writer ${round}`).append([say.poolDefined('pool:x', round)])
        await turn()
        if (round === 2) await merge(keeper)
      }
    })
    const ulids = world.oracle.pointers.map(({ pointer }) => pointer.revision)
    expect([...ulids].sort()).not.toEqual(ulids)
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 3 })
    await expectInvariants()
  })

  test('I5 a merge that lost a race takes its place on top, and drops nothing newer', async () => {
    const { say, writer, decider, world, tell, row, expectInvariants } = createScenario()
    const { turn } = decider()
    const { append } = writer()
    await tell(async () => {
      await append([say.poolDefined('pool:x', 1)])
      await turn()
      once(world, 'before', { process: 'keeper', operation: 'put', name: 'manifest.json' }, async () => {
        await append([say.poolDefined('pool:x', 2)])
        await turn()
      })
      expect((await merge(world.start('keeper'), true)).kind).toBe('merged')
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 2 })
    await expectInvariants()
  })

  test('I5 a lower fold version stops, says so and publishes nothing', async () => {
    const { say, writer, decider, world, tell, expectInvariants } = createScenario()
    await tell(async () => {
      await decider('old', { fold_version: 1 }).turn()
      await decider('new', { fold_version: 2 }).turn()
      await writer().append([say.poolDefined('pool:x', 1)])
      await expect(decider('old', { fold_version: 1 }).turn()).rejects.toThrow('Install the newer Servo')
    })
    // The new version publishes a checkpoint at once, though nothing had happened.
    const [, { pointer }] = world.oracle.pointers as [StoredPointer, StoredPointer]
    expect(world.oracle.pointers).toHaveLength(2)
    expect(pointer).toMatchObject({ sequence: 2, fold_version: 2, checkpoint: { sequence: 2 } })
    await expectInvariants()
  })

  test('I5 tables of fold version 2 are taken over by the next one, which has schedules, and a replay gives the same rows', async () => {
    const { say, writer, decider, world, tell, rows, expectInvariants } = createScenario()
    const NIGHTLY = ulidOf('nightly')
    const at = () => ({ at: world.time.now() })
    const stub = stubDecider()
    const reconcile: Reconcile = { ...stub, decide: (state) => [...reconcileSchedules(state, IDENTITY), ...stub.decide(state)] }
    await tell(async () => {
      const { append } = writer()
      await append([say.locationDeployed('main', 0), say.assetDefined('a'), say.assetDefined('b', { deps: [{ asset_key: 'a' }] })])
      await append([say.runRequested('user:1', { assets: { keys: ['a', 'b'] } }, at())])
      const old = decider('old', { fold_version: 2 })
      await old.turn()
      await append([say.runRequested('user:2', { assets: { keys: ['b'] } }, at())])
      await old.turn()
      await merge(world.start('keeper'), true)
      // A process that begins with nothing but what the older one has left.
      const next = decider('new', { reconcile })
      await next.turn()
      await append([
        say.scheduleDefined(NIGHTLY, { cron_expressions: ['0 0 * * *'] }, {}, at()),
        say.runCancelRequested(runIdOf('user:1'), at()),
      ])
      await next.turn()
      await world.time.sleep(DAY_MS)
      await next.turn()
      await merge(world.start('keeper'), true)
    })
    const versions = world.oracle.pointers.map(({ pointer }) => pointer.fold_version)
    expect(new Set(versions)).toEqual(new Set([2, FOLD_VERSION]))
    const [taken_over] = world.oracle.pointers.filter(({ pointer }) => pointer.fold_version === FOLD_VERSION)
    expect(taken_over?.pointer.checkpoint.sequence).toBe(taken_over?.pointer.sequence)
    expect((await rows('runs')).map(({ run_key }) => String(run_key).replace(/\d{5,}$/, 'EPOCH')).sort()).toEqual([
      `sched:${NIGHTLY}:EPOCH`,
      'user:1',
      'user:2',
    ])
    expect(await rows('schedule_ticks')).toMatchObject([{ schedule_id: NIGHTLY, status: 'TRIGGERED' }])
    await expectInvariants()
  })
})
