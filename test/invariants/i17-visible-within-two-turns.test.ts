import { describe, expect, test } from '@jest/globals'
import { unavailable } from '../../src/core/errors.js'
import { MINUTE_MS } from '../../src/core/time.js'
import { segmentName } from '../../src/ledger/segment.js'
import { foldedSegments } from '../fixtures/reachable.js'
import { findMissed } from '../fixtures/roles.js'
import { createScenario, once } from '../fixtures/scenario.js'

describe('I17 with the faults off, every acknowledged event is visible within two turns', () => {
  test('I17 after minutes in which the store answered every second call only', async () => {
    const { say, writer, decider, tell, world, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    let calls = 0
    const stop = world.intercept(({ phase }) => {
      if (phase === (calls % 3 === 0 ? 'before' : 'after') && ++calls % 2 === 0) throw unavailable('No answer.')
    })
    await tell(async () => {
      for (let round = 0; round < 12; round++) {
        await append([say.poolDefined('pool:x', round)]).catch(() => undefined)
        await turn().catch(() => undefined)
        await world.time.sleep(MINUTE_MS)
      }
      stop()
      await turn()
      await turn()
    })
    const { oracle, bucket } = world
    const foldedAt = await foldedSegments(bucket)
    expect(oracle.acks.length).toBeGreaterThan(0)
    expect(oracle.acks.filter(({ head }) => !foldedAt.has(segmentName(head.name)))).toEqual([])
    await expectInvariants()
  })

  test('I17 a segment that landed late in a closed minute is found by the full listing of the window, and by nothing else', async () => {
    const { say, writer, decider, tell, world, row, expectInvariants } = createScenario()
    const { turn } = decider()
    await tell(async () => {
      await turn()
      once(world, 'before', { process: 'stalled', operation: 'put' }, () => world.time.sleep(20 * MINUTE_MS))
      once(world, 'after', { process: 'stalled', operation: 'put' }, ({ kill }) => kill())
      void writer('stalled').append([say.poolDefined('pool:x', 3)])
      await world.time.sleep(10 * MINUTE_MS)
      await writer().append([say.poolDefined('pool:y', 3)])
      await turn()
      await world.time.sleep(15 * MINUTE_MS)
      await turn()
      expect(await row('pools', 'pool:x')).toBeUndefined()
      const missed = await findMissed(world, world.start('keeper'))
      await turn({ missed })
      expect(await findMissed(world, world.start('keeper'))).toEqual([])
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 3 })
    await expectInvariants()
  })
})
