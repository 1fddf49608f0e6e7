import { describe, expect, test } from '@jest/globals'
import { SLICE_EVENTS_MAX } from '../../src/core/limits.js'
import { HOUR_MS, instantMs, MINUTE_MS } from '../../src/core/time.js'
import { ulidAt } from '../../src/core/ulid.js'
import { segmentName } from '../../src/ledger/segment.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { inListingOrder } from '../fixtures/listing-order.js'
import { createRandom } from '../fixtures/random.js'
import { createDecider, createWriter, type Writer } from '../fixtures/roles.js'
import type { Speaker } from '../fixtures/say.js'
import { createScenario, once } from '../fixtures/scenario.js'
import { tellingSeconds } from '../fixtures/second-store.js'

describe('I13 what was acknowledged before T0 is visible in the revision, or behind the barrier, that claims T0', () => {
  test('I13 an object that is acknowledged between two pages of a listing is not folded before the one that it followed', async () => {
    const { say, writer, decider, tell, world, row, expectInvariants } = createScenario({ page_size: 2 })
    const { turn } = decider('turn', { reconcile: foldOnly })
    const { append } = writer()
    const ordered = inListingOrder(
      world,
      Array.from({ length: 20 }, (_, cap) => say.poolDefined('pool:x', cap)),
    )
    // The first one's name lies on a page that has been read by then, the second one's on a page that has not.
    const [early, late, between] = [ordered.at(0), ordered.at(-1), ordered.slice(8, 11)]
    if (early === undefined || late === undefined) throw new Error('There are twenty.')
    await tell(async () => {
      await turn()
      for (const event of between) await append([event])
      once(world, 'after', { process: 'turn', operation: 'list', name: 'ledger/' }, async () => {
        await append([early])
        await append([late])
      })
      expect((await turn()).counts.applied).toBe(5)
      await turn()
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ last_event_id: late.event_id })
    await expectInvariants()
  })

  test('I13 a late event with an older ULID changes the row: the recorded order counts', async () => {
    const { say, writer, decider, tell, world, row, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    const old = ulidAt(world.time.now() - HOUR_MS, new Uint8Array(10))
    await tell(async () => {
      await append([say.poolDefined('pool:x', 1)])
      await turn()
      await append([say.poolDefined('pool:x', 2, { event_id: old, at: world.time.now() - HOUR_MS })])
      await turn()
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 2, last_event_id: old })
    await expectInvariants()
  })

  test('I13 an idle workspace is as fresh as the barrier says, and writes nothing for it', async () => {
    const { say, writer, decider, reader, tell, world, expectInvariants } = createScenario()
    const { turn } = decider()
    const { fresh } = reader()
    await tell(async () => {
      await writer().append([say.poolDefined('pool:x', 1)])
      const first = await turn()
      const pointers = world.oracle.pointers.length
      let pokes = 0
      for (let hour = 0; hour < 3; hour++) {
        await world.time.sleep(HOUR_MS)
        const asked_at = world.time.now()
        const answer = await turn()
        expect(answer).toMatchObject({ sequence: first.sequence, published_count: 0 })
        expect(answer.processed_at).toBeGreaterThan(asked_at - 1_000)
        expect(await fresh(() => void pokes++)).toMatchObject({ is_fresh: true })
      }
      expect(pokes).toBe(0)
      expect(world.oracle.pointers).toHaveLength(pointers)
    })
    await expectInvariants()
  })

  test('I13 a deadline of an idle workspace is judged after a barrier past it, by the time of the store', async () => {
    const { say, writer, decider, tell, world, rows, defineAssets, expectInvariants } = createScenario()
    const { turn } = decider('turn', { skew_ms: () => -20 * MINUTE_MS })
    await tell(async () => {
      await defineAssets()
      await writer().append([say.runRequested('user:1', { assets: { keys: ['a'] } })])
      const { wake_in_ms } = await turn()
      expect(wake_in_ms).toBe(10 * MINUTE_MS)
      await world.time.sleep(9 * MINUTE_MS)
      expect((await turn()).published_count).toBe(0)
      await world.time.sleep(MINUTE_MS)
      await turn()
    })
    expect(await rows('tasks')).toMatchObject([{ state: 'RETRY_WAIT', infra_losses: 1 }])
    await expectInvariants()
  })

  test('I13 a reader that asks for what is fresh waits for the publish, and says when it did not come', async () => {
    const { say, writer, decider, reader, tell, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    const { fresh } = reader()
    await tell(async () => {
      await turn()
      await append([say.poolDefined('pool:x', 1)])
      const answer = await fresh(() => void turn())
      expect(answer.is_fresh).toBe(true)
      expect(await answer.view?.row('pools', ['pool:x'])).toMatchObject({ max_running: 1 })
      await append([say.poolDefined('pool:x', 2)])
      expect(await fresh(() => undefined)).toMatchObject({ is_fresh: false })
    })
    await expectInvariants()
  })

  test.each([1, 2, 3, 4, 5, 6])(
    'I13 no turn claims more than the store has told it, where that tells whole seconds: seed %i',
    async (seed) => {
      const { say, tell, world, rows, expectInvariants } = createScenario({ seed: `seconds ${seed}`, page_size: 3 })
      const random = createRandom(`seconds ${seed}`)
      let suspended_ms = 0
      const far = tellingSeconds(world.start('far', { skew_ms: () => 7 * MINUTE_MS }))
      const moved = tellingSeconds(world.start('moved', { skew_ms: () => -3 * MINUTE_MS, suspended_ms: () => suspended_ms }))
      const deciders = [far, moved].map((process) => createDecider(world, process, { reconcile: foldOnly }))
      const writers = [far, moved].map((process) => createWriter(world, process))
      await tell(async () => {
        for (let step = 0; step < 60; step++) {
          await random.pick(writers).append([say.poolDefined(`pool:${step}`, step)])
          await world.time.sleep(random.pick([0, random.below(300), random.below(2_000)]))
          if (random.isTrue(0.1)) suspended_ms += random.below(20_000)
          if (random.isTrue(0.4)) await random.pick(deciders).turn()
        }
        await random.pick(deciders).turn()
      })
      expect(await rows('pools')).toHaveLength(60)
      const marks = world.oracle.claims.map(({ before }) => before % 1_000)
      expect(marks.filter((ms) => ms === 0).length).toBeLessThan(marks.length / 2)
      await expectInvariants()
    },
  )

  test('I13 a turn that had to stop half-way claims no more than it folded', async () => {
    const { say, writer, decider, tell, world, rows, expectInvariants } = createScenario({ latency_ms: () => 300 })
    const { turn } = decider('turn', { reconcile: foldOnly })
    await tell(async () => {
      await turn()
      await appendThreeSlices(say, writer())
      expect((await turn()).more).toBe(true)
      while ((await turn()).more) continue
    })
    expect(await rows('pools')).toHaveLength(3 * SLICE_EVENTS)
    const claims = world.oracle.pointers.map(({ pointer }) => instantMs(pointer.published_at))
    expect(claims.length).toBeGreaterThan(2)
    await expectInvariants()
  })

  test('I13 no turn closes a minute while something acknowledged in it is unread', async () => {
    const { say, writer, decider, tell, world, rows, expectInvariants } = createScenario({ latency_ms: () => 300 })
    await tell(async () => {
      await decider('first', { reconcile: foldOnly }).turn()
      const unread = await appendThreeSlices(say, writer())
      // Automation was off: its age when folded does not matter.
      await world.time.sleep(3 * HOUR_MS)
      once(world, 'after', { process: 'doomed', operation: 'put', name: 'manifest.json' }, ({ kill }) => kill())
      void decider('doomed', { reconcile: foldOnly }).turn()
      await world.time.sleep(MINUTE_MS)
      expect((await rows('pools')).length).toBeLessThan(3 * SLICE_EVENTS)
      const { turn, workspace } = decider('next', { reconcile: foldOnly })
      while ((await turn()).more) continue
      expect(workspace().snapshot?.revision.segments.map(({ name }) => name)).toEqual([unread])
    })
    expect(await rows('pools')).toHaveLength(3 * SLICE_EVENTS)
    await expectInvariants()
  })
})

/** Two of them are as much as a turn folds before it looks at the time. */
const SLICE_EVENTS = Math.floor(SLICE_EVENTS_MAX / 2 - 600)

/** The name of the last of three segments that a turn with slow calls does not fold in one go. */
async function appendThreeSlices(say: Speaker, { append }: Writer): Promise<string> {
  let name = ''
  for (let slice = 0; slice < 3; slice++) {
    const { head } = await append(Array.from({ length: SLICE_EVENTS }, (_, i) => say.poolDefined(`pool:${slice}-${i}`, i)))
    name = segmentName(head.name)
  }
  return name
}
