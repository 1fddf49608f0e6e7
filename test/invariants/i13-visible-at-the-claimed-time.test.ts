import { describe, expect, test } from '@jest/globals'
import { HOUR_MS, instantMs, MINUTE_MS } from '../../src/core/time.js'
import { ulidAt } from '../../src/core/ulid.js'
import { segmentName } from '../../src/ledger/segment.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createScenario } from '../fixtures/scenario.js'
import { stubDecider } from '../fixtures/stub-decider.js'

describe('I13 what was acknowledged before T0 is visible in the revision, or behind the barrier, that claims T0', () => {
  test('I13 an object that is acknowledged between two pages of a listing is not folded before the one that it followed', async () => {
    const { say, writer, decider, tell, world, rows, expectInvariants } = createScenario({ page_size: 2 })
    const { turn } = decider('turn', { reconcile: foldOnly })
    const { append } = writer()
    // Two names that a listing shows in the other order than they are acknowledged.
    const requests = [1, 2, 3, 4, 5, 6].map((cap) => say.poolDefined('pool:x', cap))
    await tell(async () => {
      await turn()
      const [first, second] = await orderByName(append, requests.slice(0, 4))
      let pages = 0
      world.intercept(async (call) => {
        if (call.process !== 'turn' || call.operation !== 'list' || call.phase !== 'after' || ++pages !== 1) return
        for (const request of [first, second]) await append([request])
      })
      await turn()
      await turn()
    })
    expect(world.oracle.pointers.length).toBeGreaterThan(1)
    expect(await rows('pools')).toHaveLength(1)
    await expectInvariants()

    /** The first one's name comes early in a listing, so that a page that has passed it misses it. */
    async function orderByName(write: typeof append, some: readonly (typeof requests)[number][]) {
      const heads = []
      for (const request of some) heads.push((await write([request])).head.name)
      heads.sort()
      return [requests[4], requests[5]] as [(typeof requests)[number], (typeof requests)[number]]
    }
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

  test('I13 a turn that had to stop half-way claims no more than it folded', async () => {
    const { say, writer, decider, tell, world, expectInvariants } = createScenario({ latency_ms: () => 300 })
    const { append } = writer()
    const { turn } = decider('turn', { reconcile: stubDecider({ ignores_caps: true }) })
    await tell(async () => {
      await turn()
      for (let pool = 0; pool < 3; pool++) {
        const events = Array.from({ length: 1_400 }, (_, i) => say.poolDefined(`pool:${pool}-${i}`, i))
        await append(events)
      }
      for (let more = true; more; ) more = (await turn()).more
    })
    const claims = world.oracle.pointers.map(({ pointer }) => instantMs(pointer.published_at))
    expect(claims.length).toBeGreaterThan(2)
    await expectInvariants()
  })

  test('I13 no turn closes a minute while something acknowledged in it is unread', async () => {
    const { say, writer, decider, tell, world, expectInvariants } = createScenario()
    const { turn, workspace } = decider()
    await tell(async () => {
      await turn()
      const { head } = await writer().append([say.poolDefined('pool:x', 1)])
      await world.time.sleep(3 * HOUR_MS)
      // Automation was off: its age when folded does not matter.
      expect((await turn()).counts.applied).toBe(1)
      expect(workspace().snapshot?.revision.segments.map(({ name }) => name)).toEqual([segmentName(head.name)])
    })
    await expectInvariants()
  })
})
