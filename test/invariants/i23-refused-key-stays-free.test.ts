import { describe, expect, test } from '@jest/globals'
import { MINUTE_MS } from '../../src/core/time.js'
import { createScenario } from '../fixtures/scenario.js'
import { stubDecider } from '../fixtures/stub-decider.js'
import { createWorker } from '../fixtures/worker.js'

describe('I23 the key of a refused event stays free', () => {
  test('I23 the same key on a valid basis is applied, at once', async () => {
    const { say, writer, decider, tell, row, rows, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    await tell(async () => {
      const stale = say.locationDeployed('main', 7, {}, { request: 'r' })
      await append([stale])
      expect((await turn()).counts).toMatchObject({ refused: 1 })
      await append([say.locationDeployed('main', 0, {}, { request: 'r' })])
      expect((await turn()).counts).toMatchObject({ applied: 1 })
    })
    expect(await row('code_locations', 'main')).toMatchObject({ location_version: 1 })
    expect(await rows('refusals')).toMatchObject([{ reason: 'STALE_LOCATION' }])
    await expectInvariants()
  })

  test('I23 a dispatch refused by the cap and said again in the same minute makes no turn spin, and goes in a later one', async () => {
    const { say, writer, decider, tell, world, defineAssets, rows, expectInvariants } = createScenario()
    const { turn, log } = decider('bold', { reconcile: stubDecider({ ignores_caps: true }) })
    const worker = createWorker(world, world.start('worker'))
    await tell(async () => {
      await defineAssets()
      await writer().append([say.poolDefined('global', 1), say.runRequested('user:1', { assets: { keys: ['a', 'c'] } })])
      const first = await turn()
      expect(first.more).toBe(false)
      expect(first.counts.refused).toBeGreaterThan(0)
      const ledger = world.oracle.ledger.size
      // Nothing has changed: it is said again on the same basis, meets its own name, and that is quiet.
      expect(await turn()).toMatchObject({ more: false, published_count: 0 })
      expect(world.oracle.ledger.size).toBe(ledger)
      await worker.work()
      await turn()
      await world.time.sleep(2 * MINUTE_MS)
      await turn()
    })
    expect((await rows('tasks')).map(({ state }) => state)).toEqual(['SUCCEEDED', 'DISPATCHED'])
    expect(log).toEqual([])
    await expectInvariants()
  })

  test('I23 a decision that was refused is said again with the same key and basis, two minutes later at most', async () => {
    const { say, writer, decider, tell, world, defineAssets, rows, expectInvariants } = createScenario()
    const bold = decider('bold', { reconcile: stubDecider({ ignores_caps: true }) })
    await tell(async () => {
      await defineAssets()
      const { append } = writer()
      await append([say.poolDefined('global', 0), say.runRequested('user:1', { assets: { keys: ['a'] } })])
      expect((await bold.turn()).counts.refused).toBe(1)
      await append([say.poolDefined('global', 1)])
      // Its name in this minute and the one before is taken by what was refused.
      await world.time.sleep(2 * MINUTE_MS)
      expect((await bold.turn()).counts.applied).toBeGreaterThan(0)
    })
    expect(await rows('tasks')).toMatchObject([{ state: 'DISPATCHED' }])
    await expectInvariants()
  })
})
