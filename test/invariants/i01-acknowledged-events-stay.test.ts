import { describe, expect, test } from '@jest/globals'
import { HOUR_MS } from '../../src/core/time.js'
import { collect, merge } from '../fixtures/roles.js'
import { createScenario, loseAnswer, once } from '../fixtures/scenario.js'

describe('I1 every acknowledged event is in the ledger, for ever', () => {
  test('I1 a lost answer on a conditional create is an acknowledgement, once the object is found', async () => {
    const { world, say, writer, tell, expectInvariants } = createScenario()
    const { append } = writer()
    once(world, 'after', { operation: 'put', name: 'ledger/' }, loseAnswer)
    const answer = await tell(() => append([say.poolDefined('pool:x', 3)]))
    expect(answer.kind).toBe('appended')
    expect([...world.oracle.ledger.keys()]).toEqual([answer.head.name])
    await expectInvariants()
  })

  test('I1 a writer that dies after its write leaves an event that is folded, and its repeat is a duplicate', async () => {
    const { world, say, writer, decider, tell, row, expectInvariants } = createScenario()
    const doomed = writer('doomed')
    const batch = [say.poolDefined('pool:x', 3)]
    once(world, 'after', { process: 'doomed', operation: 'put' }, ({ kill }) => kill())
    void doomed.append(batch)
    await world.time.pass(1_000)
    const answer = await tell(() => writer('restarted').append(batch))
    expect(answer.kind).toBe('duplicate')
    await tell(() => decider().turn())
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 3 })
    await expectInvariants()
  })

  test('I1 merges and collection leave the ledger alone', async () => {
    const { world, say, writer, decider, tell, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    const keeper = world.start('keeper')
    await tell(async () => {
      for (let round = 0; round < 4; round++) {
        await append([say.poolDefined('pool:x', round)])
        await turn()
        await merge(keeper, true)
        await world.time.sleep(13 * HOUR_MS)
        await collect(keeper)
      }
    })
    expect(world.oracle.ledger.size).toBe(4)
    await expectInvariants()
  })
})
