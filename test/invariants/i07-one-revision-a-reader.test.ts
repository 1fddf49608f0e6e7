import { expect, test } from '@jest/globals'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { collect, merge } from '../fixtures/roles.js'
import { createScenario } from '../fixtures/scenario.js'

test('I7 a view shows one revision, whatever is published, merged and collected while it is read', async () => {
  const { say, writer, decider, reader, world, tell, defineAssets, expectInvariants } = createScenario()
  const { append } = writer()
  const { turn } = decider()
  const { reader: tables, lookAt } = reader()
  const keeper = world.start('keeper')
  await tell(async () => {
    await defineAssets()
    await append([say.runRequested('user:1', { assets: { keys: ['a', 'b'] } })])
    await turn()
    await world.time.sleep(2 * HOUR_MS)
    const view = await tables.latest()
    if (view === undefined) throw new Error('There is a revision by now.')
    const { sequence } = view
    for (let round = 0; round < 3; round++) {
      await append([say.poolDefined('pool:x', round), say.runRequested(`user:${round + 2}`, { assets: { keys: ['c'] } })])
      await turn()
      await merge(keeper, true)
      await collect(keeper)
      // The process moves on to the newest revision before the older view is looked at: a view keeps its own.
      const newest = await tables.latest()
      expect(newest?.sequence).toBeGreaterThan(sequence)
      await lookAt(view, undefined, 2)
      expect(view.sequence).toBe(sequence)
      expect(await view.row('pools', ['pool:x'])).toBeUndefined()
      expect(await newest?.row('pools', ['pool:x'])).toMatchObject({ max_running: round })
      await world.time.sleep(MINUTE_MS)
    }
    expect((await tables.latest())?.sequence).toBeGreaterThanOrEqual(sequence + 6)
  })
  await expectInvariants()
})
