// Tables made anew from the ledger: what a fault has left in them is mended, whatever others publish meanwhile, and whoever
// holds rows in memory loads them afresh.

import { describe, expect, test } from '@jest/globals'
import { verify } from '../../src/compactor/verify.js'
import { FOLD_VERSION, MERGE_DEADLINE_MS, ORPHAN_AGE_MS } from '../../src/core/limits.js'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { POINTER_NAME } from '../../src/tables/revision.js'
import { rebuildIn, replaySinceIn } from '../fixtures/rebuild.js'
import { replayed } from '../fixtures/replayed.js'
import { collect, merge } from '../fixtures/roles.js'
import { createScenario, once, type Scenario } from '../fixtures/scenario.js'
import { publishWrongRows } from '../fixtures/wrong-rows.js'
import { listAll } from '../invariants/evidence.js'

/** Pools of 1, 2 and 3, of which the second says 77. */
async function withFault(scenario: Scenario) {
  const { world, say, writer, decider, defineAssets, row } = scenario
  await defineAssets()
  const { append } = writer()
  const { turn, workspace } = decider()
  const keeper = world.start('keeper')
  for (const max of [1, 2, 3]) {
    await append([say.poolDefined(`pool:${max}`, max), say.runRequested(`user:${max}`, { assets: { keys: ['a', 'b'] } })])
    await world.time.sleep(MINUTE_MS)
    await turn()
    if (max === 2) await merge(keeper)
  }
  const pool = await row('pools', 'pool:2')
  await publishWrongRows(keeper, 'pools', [{ ...pool, max_running: 77 }])
  await turn()
  return { append, turn, workspace, keeper }
}

const verified = ({ world }: Scenario) => verify({ store: world.bucket, files: world.files, scope: world.scope })

describe('a replay from a checkpoint', () => {
  test('begins with the oldest one of this fold whose files are there, and finds what is wrong since', async () => {
    const scenario = createScenario()
    const { world, say, tell, row } = scenario
    await tell(async () => {
      const { append, turn, keeper } = await withFault(scenario)
      const from = async () => (await replaySinceIn(world, world.start('replay'))).from
      expect(await from()).toBe(1)
      expect((await replaySinceIn(world, world.start('replay'))).differences).toMatchObject([{ table: 'pools', key: ['pool:2'] }])
      const { published_sequence } = await rebuildIn(world, world.start('rebuild'))
      // What is older was folded otherwise, for all that anybody knows.
      expect(await from()).toBe(published_sequence)
      for (let round = 0; round < 3; round++) {
        await append([say.runRequested(`user:since-${round}`, { assets: { keys: ['a', 'b'] } })])
        await turn()
        await merge(keeper, round === 1)
        await world.time.sleep(MINUTE_MS)
      }
      expect(await replaySinceIn(world, world.start('replay'))).toMatchObject({ from: published_sequence, differences: [] })
      await world.time.sleep(50 * DAY_MS)
      await append([say.poolDefined('pool:late', 1)])
      await turn()
      await merge(keeper, true)
      await world.time.sleep(40 * DAY_MS)
      await collect(keeper)
      const late = await replaySinceIn(world, world.start('replay'))
      expect(late.from).toBeGreaterThan(published_sequence ?? 0)
      expect(late).toMatchObject({ differences: [] })
      await publishWrongRows(keeper, 'pools', [{ ...(await row('pools', 'pool:1')), max_running: 55 }])
      expect((await replaySinceIn(world, world.start('replay'))).differences).toMatchObject([{ table: 'pools', key: ['pool:1'] }])
    })
  })
})

describe('a rebuild', () => {
  test('mends the rows that the ledger does not say, and a turn that held them holds the right ones', async () => {
    const scenario = createScenario()
    const { world, say, tell, row } = scenario
    await tell(async () => {
      const { append, turn, workspace } = await withFault(scenario)
      const held = () =>
        workspace()
          .rows.hotRows('pools')
          .find(({ pool_key }) => pool_key === 'pool:2')
      expect(held()).toMatchObject({ max_running: 77 })
      expect(await row('pools', 'pool:2')).toMatchObject({ max_running: 77 })
      expect(await replayed(world)).toHaveLength(1)
      const objects = (await listAll(world.bucket, '')).length
      const planned = await rebuildIn(world, world.start('dry'), { is_dry: true })
      expect(planned.differences).toMatchObject([{ table: 'pools', live: { max_running: 77 }, replayed: { max_running: 2 } }])
      expect(await listAll(world.bucket, '')).toHaveLength(objects)

      const answer = await rebuildIn(world, world.start('rebuild'))
      expect(answer).toMatchObject({ published_sequence: answer.sequence + 1, differences: planned.differences })
      expect(await row('pools', 'pool:2')).toMatchObject({ max_running: 2 })
      await append([say.runRequested('user:next', { assets: { keys: ['a'] } })])
      await turn()
      expect(held()).toMatchObject({ max_running: 2 })
      expect(await rebuildIn(world, world.start('again'), { is_dry: true })).toMatchObject({ differences: [] })
    })
    expect((await verified(scenario)).problems).toEqual([])
    await scenario.expectInvariants()
  })

  test('folds what turns publish while it works, and replaces no merge', async () => {
    for (const seed of [1, 2, 3]) {
      const scenario = createScenario({ seed })
      const { world, say, tell, rows } = scenario
      await tell(async () => {
        const { append, turn, keeper } = await withFault(scenario)
        let is_over = false
        const busy = async () => {
          for (let round = 0; !is_over; round++) {
            await append([say.runRequested(`user:busy-${round}`, { assets: { keys: ['a'] } })])
            await turn()
            if (round % 2 === 1) await merge(keeper)
            await world.time.sleep(SECOND_MS)
          }
        }
        const working = busy()
        const said: string[] = []
        const answer = await rebuildIn(world, world.start('rebuild'), { say: (line) => said.push(line) })
        is_over = true
        await working
        expect(answer.published_sequence).toBeGreaterThan(8)
        await turn()
        expect((await rows('runs')).length).toBeGreaterThan(3)
      })
      expect(await replayed(world)).toEqual([])
      expect((await verified(scenario)).problems).toEqual([])
      await scenario.expectInvariants()
    }
  })

  test('folds what is published while it publishes, and has it in its tables', async () => {
    const scenario = createScenario()
    const { world, say, tell, row } = scenario
    await tell(async () => {
      const { append, turn } = await withFault(scenario)
      once(world, 'before', { process: 'rebuild', operation: 'put', name: 'manifests/orchestration/checkpoints/' }, async () => {
        await append([say.poolDefined('pool:meanwhile', 5)])
        await turn()
      })
      const said: string[] = []
      await rebuildIn(world, world.start('rebuild'), { say: (line) => said.push(line) })
      expect(said).toEqual(['Something was published meanwhile: folding it too.'])
      expect(await row('pools', 'pool:meanwhile')).toMatchObject({ max_running: 5 })
      expect(await row('pools', 'pool:2')).toMatchObject({ max_running: 2 })
    })
    expect(await replayed(world)).toEqual([])
    await scenario.expectInvariants()
  })

  test('that dies publishes nothing, or all; its files go, and so do those that it replaced', async () => {
    for (const [phase, is_mended] of [
      ['before', false],
      ['after', true],
    ] as const) {
      const scenario = createScenario()
      const { world, tell, row } = scenario
      await tell(async () => {
        const { keeper, turn } = await withFault(scenario)
        once(world, phase, { process: 'doomed', operation: 'put', name: POINTER_NAME }, ({ kill }) => kill())
        void rebuildIn(world, world.start('doomed'))
        await world.time.sleep(HOUR_MS)
        expect(await row('pools', 'pool:2')).toMatchObject({ max_running: is_mended ? 2 : 77 })
        await rebuildIn(world, world.start('again'))
        await turn()
        await world.time.sleep(40 * DAY_MS + ORPHAN_AGE_MS)
        await merge(keeper, true)
        const before = (await listAll(world.bucket, 'state/')).length
        await world.time.sleep(2 * DAY_MS)
        const { deleted_count } = await collect(keeper)
        expect(deleted_count).toBeGreaterThan(before / 2)
      })
      expect(await row('pools', 'pool:2')).toMatchObject({ max_running: 2 })
      await scenario.expectInvariants()
    }
  })

  test('is not published past its deadline, when its files may be gone', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      await withFault(scenario)
      const before = world.oracle.pointers.length
      once(world, 'before', { process: 'slow', operation: 'put', name: 'manifests/orchestration/checkpoints/' }, () =>
        world.time.sleep(MERGE_DEADLINE_MS + SECOND_MS),
      )
      await expect(rebuildIn(world, world.start('slow'))).rejects.toThrow('longer than its deadline')
      expect(world.oracle.pointers.length).toBe(before)
    })
  })

  test('refuses a workspace of a newer fold, and one that has nothing', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      await expect(rebuildIn(world, world.start('early'))).rejects.toThrow('nothing to rebuild')
      await withFault(scenario)
      await expect(rebuildIn(world, world.start('old'), { fold_version: FOLD_VERSION - 1 })).rejects.toThrow(
        `knows version ${FOLD_VERSION - 1}`,
      )
    })
  })
})
