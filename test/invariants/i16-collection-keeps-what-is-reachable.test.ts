import { describe, expect, test } from '@jest/globals'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { openAsOf } from '../../src/readers/as-of.js'
import { filesOfPointer } from '../fixtures/reachable.js'
import { collect, merge } from '../fixtures/roles.js'
import { createScenario, once } from '../fixtures/scenario.js'
import { listAll } from './evidence.js'

describe('I16 collection never removes a reachable file, and orphans go in the end', () => {
  test('I16 a revision that was the newest for a long time stays readable for a day after it was replaced', async () => {
    const { say, writer, decider, reader, tell, world, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    const { lookAt, reader: tables } = reader()
    const keeper = world.start('keeper')
    await tell(async () => {
      await turn()
      await append([say.poolDefined('pool:x', 1)])
      await turn()
      await world.time.sleep(40 * HOUR_MS)
      const believed_at = world.time.now()
      // The merge first: its checkpoint names none of the files that the revision before it stands on.
      await merge(keeper, true)
      await append([say.poolDefined('pool:x', 2)])
      await turn()
      for (let hour = 0; hour < 22; hour++) {
        await collect(keeper)
        await world.time.sleep(HOUR_MS)
      }
      const view = tables.viewOf(await openAsOf(tables.tables, { at: believed_at }))
      expect(await view.row('pools', ['pool:x'])).toMatchObject({ max_running: 1 })
      await lookAt(view)
    })
    await expectInvariants()
  })

  test('I16 what nobody names any more goes, and nothing else', async () => {
    const { say, writer, decider, tell, world, row, expectInvariants } = createScenario()
    const { append } = writer()
    const keeper = world.start('keeper')
    await tell(async () => {
      for (let round = 0; round < 3; round++) {
        await append([say.poolDefined('pool:x', round)])
        once(world, 'after', { process: `doomed ${round}`, operation: 'put', name: 'revisions/' }, ({ kill }) => kill())
        void decider(`doomed ${round}`).turn()
        await world.time.sleep(MINUTE_MS)
        await decider(`turn ${round}`).turn()
        await merge(keeper, true)
      }
      await world.time.sleep(2 * DAY_MS)
      const { deleted_count } = await collect(keeper)
      expect(deleted_count).toBeGreaterThan(0)
      expect((await collect(keeper)).deleted_count).toBe(0)
    })
    const pointer = world.oracle.pointers.at(-1)?.pointer
    const kept = (await listAll(world.bucket, 'state/')).map(({ name }) => name)
    expect(kept.sort()).toEqual(pointer === undefined ? [] : [...(await filesOfPointer(world.bucket, pointer)).keys()].sort())
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 2 })
    await expectInvariants()
  })

  test('I16 files that a turn has uploaded and not published yet are too young to go', async () => {
    const { say, writer, decider, tell, world, row, expectInvariants } = createScenario()
    await tell(async () => {
      await writer().append([say.poolDefined('pool:x', 1)])
      once(world, 'before', { operation: 'put', name: 'manifest.json' }, async () => {
        expect(await collect(world.start('keeper'))).toMatchObject({ deleted_count: 0 })
      })
      await decider().turn()
    })
    expect(await row('pools', 'pool:x')).toBeDefined()
    await expectInvariants()
  })

  test('I16 a workspace where nothing is old costs collection no write', async () => {
    const { say, writer, decider, tell, world } = createScenario()
    await tell(async () => {
      await writer().append([say.poolDefined('pool:x', 1)])
      await decider().turn()
      await world.time.sleep(3 * DAY_MS)
      await collect(world.start('keeper'))
    })
    expect(world.trace.filter((line) => line.includes(' keeper ') && /put|delete/.test(line))).toEqual([])
  })
})
