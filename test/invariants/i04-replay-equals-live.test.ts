import { expect, test } from '@jest/globals'
import { DAY_MS } from '../../src/core/time.js'
import { merge } from '../fixtures/roles.js'
import { createScenario } from '../fixtures/scenario.js'

test('I4 a replay equals the live tables, with expired keys, merges and refusals in between', async () => {
  const { say, writer, decider, world, tell, defineAssets, rows, expectInvariants } = createScenario()
  const { turn, workspace } = decider()
  await tell(async () => {
    await defineAssets()
    const { append } = writer()
    const keeper = world.start('keeper')
    for (let day = 0; day < 10; day++) {
      await append([say.runRequested(`user:${day}`, { assets: { keys: ['a', 'b'] } }), say.runCancelRequested(`run_${day}`)])
      await turn()
      if (day % 3 === 1) await merge(keeper, day % 2 === 0)
      await world.time.sleep(DAY_MS)
    }
  })
  expect((await rows('idempotency_keys')).length).toBeLessThan(workspace().rows.appliedTotal())
  await expectInvariants()
})
