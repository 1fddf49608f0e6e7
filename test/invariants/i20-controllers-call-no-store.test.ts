import { expect, test } from '@jest/globals'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createScenario } from '../fixtures/scenario.js'
import { stubDecider } from '../fixtures/stub-decider.js'

test('I20 what decides touches no store, and one that did would be noticed', async () => {
  const { say, writer, decider, tell, world, defineAssets } = createScenario()
  await tell(async () => {
    await defineAssets()
    await writer().append([say.runRequested('user:1', { assets: { keys: ['a', 'b'] } })])
    await decider('honest', { reconcile: stubDecider() }).turn()
  })
  expect(world.oracle.problems).toEqual([])
  const nosy = decider('nosy', {
    reconcile: {
      ...foldOnly,
      decide(state) {
        void nosy.process.store.get('manifests/orchestration.manifest.json')
        return foldOnly.decide(state)
      },
    },
  })
  await tell(() => nosy.turn())
  expect(world.oracle.problems.join()).toContain('I20 nosy called get')
})
