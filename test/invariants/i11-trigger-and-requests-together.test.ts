import { describe, expect, test } from '@jest/globals'
import { MINUTE_MS } from '../../src/core/time.js'
import { createScenario } from '../fixtures/scenario.js'

const MESSAGE_KEY = 'sensor:01JHMPFN80G8M4P9V0MMKSSZ7N:msg:m-1'

describe('I11 a trigger and its run requests are visible in the same revision, or not at all', () => {
  test('I11 what a refused trigger requests is refused with it', async () => {
    const { say, writer, decider, tell, rows, expectInvariants } = createScenario()
    const trigger = say.poolRemoved('pool:unknown')
    await tell(async () => {
      await writer().append([trigger, say.runRequested(MESSAGE_KEY, {}, { causation_id: trigger.event_id })])
      await decider().turn()
    })
    expect((await rows('refusals')).map(({ reason }) => reason).sort()).toEqual(['TRIGGER_NOT_APPLIED', 'UNKNOWN_ENTITY'])
    expect(await rows('runs')).toEqual([])
    await expectInvariants()
  })

  test('I11 a redelivered message that is evaluated differently starts no second run', async () => {
    const { say, writer, decider, world, tell, rows, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    await tell(async () => {
      for (const run_key of [MESSAGE_KEY, `${MESSAGE_KEY}:other`]) {
        const trigger = say.poolDefined('pool:message', 1, { request: 'm-1' })
        await append([trigger, say.runRequested(run_key, {}, { causation_id: trigger.event_id })])
        await turn()
        await world.time.sleep(3 * MINUTE_MS)
      }
    })
    expect((await rows('runs')).map(({ run_key }) => run_key)).toEqual([MESSAGE_KEY])
    expect(await rows('refusals')).toMatchObject([{ reason: 'TRIGGER_NOT_APPLIED' }])
    await expectInvariants()
  })

  test('I11 a turn that dies at any of its calls shows both or neither', async () => {
    for (let at = 1; ; at++) {
      const { say, writer, decider, world, tell, row, expectInvariants } = createScenario()
      const trigger = say.poolDefined('pool:message', 1)
      const requested = say.runRequested(MESSAGE_KEY, {}, { causation_id: trigger.event_id })
      await tell(() => decider('first').turn())
      await tell(() => writer().append([trigger, requested]))
      const before = world.callCount()
      let isKilled = false
      world.intercept((call) => {
        if (call.process !== 'doomed' || call.phase !== 'after' || call.number !== before + at) return
        isKilled = true
        call.kill()
      })
      void decider('doomed').turn()
      await world.time.pass(30_000)
      const seen = [await row('pools', 'pool:message'), await row('runs', requested.payload.run_id)]
      expect(seen.every((found) => found === undefined) || seen.every((found) => found !== undefined)).toBe(true)
      await expectInvariants()
      if (!isKilled) break
      expect(at).toBeLessThan(50)
    }
  })
})
