import { describe, expect, test } from '@jest/globals'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { findMissed } from '../fixtures/roles.js'
import { createScenario, once } from '../fixtures/scenario.js'
import { createVirtualTime } from '../fixtures/virtual-time.js'

describe('I3 no event is folded twice, across any revisions', () => {
  for (const [what, unit_ms] of [
    ['a minute', MINUTE_MS],
    ['a midnight', DAY_MS],
  ] as const) {
    test(`I3 a duplicate across ${what} boundary is found when it is appended`, async () => {
      const start = Math.floor(1_736_935_200_000 / unit_ms + 1) * unit_ms - 1_000
      const { say, writer, decider, world, tell, expectInvariants } = createScenario({ time: createVirtualTime(start) })
      const batch = [say.poolDefined('pool:x', 3)]
      const [first, second] = await tell(async () => {
        const before = await writer('one').append(batch)
        await world.time.sleep(1_000)
        return [before, await writer('two').append(batch)]
      })
      expect([first.kind, second.kind]).toEqual(['appended', 'duplicate'])
      expect(second.head.name).toBe(first.head.name)
      expect((await tell(() => decider().turn())).counts.applied).toBe(1)
      await expectInvariants()
    })
  }

  test('I3 a duplicate that was appended minutes later is dropped by the index, in another revision', async () => {
    const { say, writer, decider, world, tell, expectInvariants } = createScenario()
    const batch = [say.poolDefined('pool:x', 3)]
    const { turn } = decider()
    const counts = await tell(async () => {
      await writer('one').append(batch)
      const first = await turn()
      await world.time.sleep(3 * MINUTE_MS)
      await writer('two').append(batch)
      return [first.counts, (await turn()).counts]
    })
    expect(counts).toMatchObject([
      { applied: 1, duplicate: 0 },
      { applied: 0, duplicate: 1 },
    ])
    expect(world.oracle.ledger.size).toBe(2)
    await expectInvariants()
  })

  test('I3 a process without memory of what was folded folds nothing of it again', async () => {
    const { say, writer, decider, tell, expectInvariants } = createScenario()
    const counts = await tell(async () => {
      await writer().append([say.poolDefined('pool:x', 3)])
      await decider('first').turn()
      return (await decider('second').turn()).counts
    })
    expect(counts).toEqual({ applied: 0, duplicate: 0, refused: 0, quarantined: 0 })
    await expectInvariants()
  })

  test('I3 a segment that two hints name is folded once, also when the second hint comes a turn later', async () => {
    const { say, writer, decider, world, tell, expectInvariants } = createScenario()
    const first = decider('first')
    const [refusedTwice, again] = await tell(async () => {
      await first.turn()
      once(world, 'before', { process: 'stalled', operation: 'put' }, () => world.time.sleep(10 * MINUTE_MS))
      once(world, 'after', { process: 'stalled', operation: 'put' }, ({ kill }) => kill())
      void writer('stalled').append([say.poolDefined('pool:x', 3)])
      await world.time.sleep(9 * MINUTE_MS)
      await writer().append([say.poolDefined('pool:y', 3)])
      await first.turn()
      await world.time.sleep(2 * MINUTE_MS)
      const missed = await findMissed(world, world.start('keeper'))
      expect(missed).toHaveLength(1)
      const answer = await first.turn({ missed })
      return [answer, await decider('second').turn({ missed })]
    })
    expect(refusedTwice.counts.applied).toBe(1)
    expect(again.counts).toEqual({ applied: 0, duplicate: 0, refused: 0, quarantined: 0 })
    await world.time.pass(HOUR_MS)
    await expectInvariants()
  })
})
