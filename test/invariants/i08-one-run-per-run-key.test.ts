import { describe, expect, test } from '@jest/globals'
import { sha256Hex } from '../../src/core/hash.js'
import { MINUTE_MS } from '../../src/core/time.js'
import { createScenario, once } from '../fixtures/scenario.js'
import { stubDecider } from '../fixtures/stub-decider.js'

describe('I8 a run key has one run, the first in recorded order, and a conflict row for every other request', () => {
  test('I8 two turns see one tick, and the definition was edited in between', async () => {
    const { decider, world, tell, defineAssets, rows, expectInvariants } = createScenario()
    const before = decider('before', { reconcile: stubDecider({ tick: { period_ms: MINUTE_MS, assets: ['a'] } }) })
    const after = decider('after', { reconcile: stubDecider({ tick: { period_ms: MINUTE_MS, assets: ['a', 'b'] } }) })
    await tell(async () => {
      await defineAssets()
      // The first turn has decided the tick and is about to say so, when the second one says it otherwise and publishes.
      once(world, 'before', { process: 'before', operation: 'put', name: 'ledger/' }, async () => void (await after.turn()))
      await before.turn()
    })
    expect(await rows('runs')).toHaveLength(1)
    const [conflict] = await rows('run_key_conflicts')
    expect(conflict).toMatchObject({ seen_count: 1 })
    const fingerprints = [conflict?.['existing_fingerprint'], conflict?.['conflicting_fingerprint']].sort()
    expect(fingerprints).toEqual([sha256Hex('a'), sha256Hex('a,b')].sort())
    await expectInvariants()
  })

  test('I8 the first request stands, also against one of another revision and another process', async () => {
    const { say, writer, decider, tell, defineAssets, row, rows, expectInvariants } = createScenario()
    const other = { request_fingerprint: sha256Hex('another request'), assets: { keys: ['c'] } }
    await tell(async () => {
      await defineAssets()
      const { append } = writer()
      await append([say.runRequested('user:1')])
      await decider('one').turn()
      await append([say.runRequested('user:1', other)])
      const { counts } = await decider('two').turn()
      expect(counts.refused).toBe(1)
    })
    expect(await rows('runs')).toMatchObject([{ assets: { keys: ['a'] } }])
    expect(await row('run_key_conflicts', 'user:1', other.request_fingerprint)).toMatchObject({ seen_count: 1 })
    await expectInvariants()
  })
})
