import { describe, expect, test } from '@jest/globals'
import { HOUR_MS } from '../../src/core/time.js'
import { collect, merge } from '../fixtures/roles.js'
import { createScenario, once } from '../fixtures/scenario.js'

describe('I6 every file that a live revision names is there, with the stated checksum', () => {
  test('I6 a turn that is paused beyond the minimum age of collection, right before its swap, publishes nothing', async () => {
    const { say, writer, decider, world, tell, row, expectInvariants } = createScenario()
    const paused = decider('paused')
    const keeper = world.start('keeper')
    await tell(async () => {
      await paused.turn()
      await writer().append([say.poolDefined('pool:x', 3)])
      once(world, 'before', { process: 'paused', operation: 'put', name: 'manifest.json' }, async () => {
        await world.time.sleep(3 * HOUR_MS)
        expect((await collect(keeper)).deleted_count).toBeGreaterThan(0)
      })
      await paused.turn().catch(() => undefined)
      await decider('restarted').turn()
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 3 })
    await expectInvariants()
  })

  test('I6 a turn that is paused while it uploads gives up when it wakes', async () => {
    const { say, writer, decider, world, tell, row, expectInvariants } = createScenario()
    const paused = decider('paused')
    await tell(async () => {
      await paused.turn()
      await writer().append([say.poolDefined('pool:x', 3)])
      once(world, 'after', { process: 'paused', operation: 'put', name: 'pools.' }, () => world.time.sleep(3 * HOUR_MS))
      await expect(paused.turn()).rejects.toThrow('deadline')
      await paused.turn()
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 3 })
    await expectInvariants()
  })

  test('I6 a merge that is paused beyond the minimum age of collection publishes nothing', async () => {
    const { say, writer, decider, world, tell, row, expectInvariants } = createScenario()
    const keeper = world.start('keeper')
    await tell(async () => {
      await writer().append([say.poolDefined('pool:x', 3)])
      await decider().turn()
      once(world, 'before', { process: 'merger', operation: 'put', name: 'manifest.json' }, async () => {
        await world.time.sleep(3 * HOUR_MS)
        expect((await collect(keeper)).deleted_count).toBeGreaterThan(0)
      })
      await expect(merge(world.start('merger'), true)).rejects.toThrow('longer than its deadline')
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 3 })
    await expectInvariants()
  })
})
