import { expect, test } from '@jest/globals'
import { createWorker } from '../fixtures/worker.js'
import { createScenario } from '../fixtures/scenario.js'

test('I22 whoever hands over finds nothing before the publish, whichever call the turn dies at, and everything after it', async () => {
  for (let at = 1; ; at++) {
    const { say, writer, decider, tell, world, defineAssets, rows, expectInvariants } = createScenario()
    await tell(defineAssets)
    await tell(() => writer().append([say.runRequested('user:1', { assets: { keys: ['a', 'b', 'c'] } })]))
    const before = world.callCount()
    let isKilled = false
    world.intercept((call) => {
      if (call.process !== 'doomed' || call.phase !== 'after' || call.number !== before + at) return
      isKilled = true
      call.kill()
    })
    void decider('doomed').turn()
    await world.time.pass(30_000)
    const worker = createWorker(world, world.start('worker'))
    await tell(() => worker.work())
    await tell(async () => {
      const { turn } = decider('restarted')
      for (let round = 0; round < 4; round++) {
        await turn()
        await worker.work()
      }
      await turn()
    })
    expect((await rows('tasks')).map(({ state }) => state)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED'])
    expect(world.oracle.handovers).toHaveLength(3)
    await expectInvariants()
    if (!isKilled) return
    expect(at).toBeLessThan(60)
  }
})
