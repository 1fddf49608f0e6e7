// What a turn folds of a ledger that is written while it lists, and what it leaves for the next one.

import { describe, expect, test } from '@jest/globals'
import { keysSha256 } from '../../src/core/keys.js'
import { CREATION_SKEW_MS_MAX, WHOLE_LISTING_EVERY_MS } from '../../src/core/limits.js'
import { floorTo, instantMs, MINUTE_MS, SECOND_MS, stampMs } from '../../src/core/time.js'
import { ulidAt, ulidTime } from '../../src/core/ulid.js'
import type { LedgerEvent } from '../../src/events/event.js'
import { SEGMENT_SCHEMA, segmentMeta, segmentName, segmentObjectName } from '../../src/ledger/segment.js'
import { createReader } from '../../src/readers/reader.js'
import { CREATE } from '../../src/storage/object-store.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { inListingOrder } from '../fixtures/listing-order.js'
import { type Decider, findMissed } from '../fixtures/roles.js'
import { createScenario, once, type Scenario } from '../fixtures/scenario.js'
import type { World } from '../fixtures/world.js'

const NUMBERS = Array.from({ length: 20 }, (_, i) => i)

describe('a turn and the listings that it takes', () => {
  test('what was acknowledged first is folded first, whatever the names are', async () => {
    const { say, writer, decider, tell, world, row, expectInvariants } = createScenario()
    const events = inListingOrder(
      world,
      NUMBERS.map((cap) => say.poolDefined('pool:x', cap)),
    ).reverse()
    const { append } = writer()
    await tell(async () => {
      for (const event of events) await append([event])
      expect((await decider().turn()).counts.applied).toBe(events.length)
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ last_event_id: events.at(-1)?.event_id })
    await expectInvariants()
  })

  test('what a later page shows is not folded before what it followed on a page that was read already', async () => {
    const { say, writer, decider, tell, world, row, expectInvariants } = createScenario({ page_size: 2 })
    const { append } = writer()
    const { turn } = decider('turn', { reconcile: foldOnly })
    const [early] = inListingOrder(
      world,
      NUMBERS.map((cap) => say.poolDefined('pool:x', cap)),
    )
    const late = inListingOrder(
      world,
      NUMBERS.map((request) => say.poolRemoved('pool:x', { request: `r${request}` })),
    ).at(-1)
    const between = inListingOrder(
      world,
      NUMBERS.map((cap) => say.poolDefined('pool:y', cap)),
    ).slice(9, 12)
    if (early === undefined || late === undefined) throw new Error('There are twenty of each.')
    await tell(async () => {
      for (const event of between) await append([event])
      once(world, 'after', { process: 'turn', operation: 'list', name: 'ledger/' }, async () => {
        await append([early])
        await append([late])
      })
      expect((await turn()).counts).toMatchObject({ applied: 5, refused: 0 })
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: null })
    await expectInvariants()
  })

  test('a turn that publishes half-way and dies leaves the rest of its listing to the next one', async () => {
    const { say, decider, tell, world, rows, expectInvariants } = createScenario({ latency_ms: () => 300 })
    const named_at = world.time.now()
    await tell(async () => {
      await decider().turn()
      for (const number of [1, 2, 3]) {
        await plantHeavySegment(world, ulidAt(named_at, new Uint8Array(10).fill(number)), [say.poolDefined(`pool:${number}`, number)])
      }
      await world.time.sleep(20 * MINUTE_MS)
      once(world, 'after', { process: 'doomed', operation: 'put', name: 'manifest.json' }, ({ kill }) => kill())
      void decider('doomed', { reconcile: foldOnly }).turn()
      await world.time.sleep(MINUTE_MS)
      expect(await rows('pools')).toHaveLength(1)
      const next = decider('next', { reconcile: foldOnly })
      for (let more = true; more; ) more = (await next.turn()).more
    })
    expect(await rows('pools')).toHaveLength(3)
    await expectInvariants()
  })

  test('a segment of a writer whose clock is behind lies where the next turn lists', async () => {
    const { say, writer, decider, tell, world, expectInvariants } = createScenario()
    const { turn } = decider()
    await tell(async () => {
      await turn()
      await writer('behind', { skew_ms: () => -30 * MINUTE_MS }).append([say.poolDefined('pool:x', 1)])
      expect(await findMissed(world, world.start('keeper'))).toEqual([])
      expect((await turn()).counts.applied).toBe(1)
    })
    await expectInvariants()
  })

  test('no segment of a writer that was suspended between two appends lies in a minute that is closed', async () => {
    const { say, writer, decider, tell, world, expectInvariants } = createScenario()
    const { turn } = decider()
    let suspended_ms = 0
    const { append } = writer('suspended', { suspended_ms: () => suspended_ms })
    await tell(async () => {
      await turn()
      await append([say.poolDefined('pool:x', 1)])
      await turn()
      suspended_ms = 30 * MINUTE_MS
      await append([say.poolDefined('pool:y', 1)])
      expect(await findMissed(world, world.start('keeper'))).toEqual([])
      expect((await turn()).counts.applied).toBe(1)
    })
    await expectInvariants()
  })
})

describe('a turn soon after another', () => {
  /** A turn that lists all open minutes, publishes, and leaves the next one to list what is recent. */
  async function foldOne({ say, writer }: Scenario, { turn }: Decider): Promise<void> {
    await writer().append([say.poolDefined('pool:first', 1)])
    expect((await turn()).published_count).toBe(1)
  }
  const closedThroughIn = async ({ world }: Scenario) =>
    (await createReader({ store: world.bucket, files: world.files }).latest())?.snapshot.revision.watermarks.closed_through
  /** A segment that nobody acknowledged, named in that minute and created now. */
  const strand = ({ world, say }: Scenario, minute = floorTo(world.time.now() - 4 * MINUTE_MS, MINUTE_MS)) =>
    plantHeavySegment(world, ulidAt(minute, new Uint8Array(10).fill(7)), [say.poolDefined('pool:stranded', 1)])
  /** A workspace that is ten minutes old, and has just been listed as a whole. */
  async function growOld(scenario: Scenario, first: Decider): Promise<void> {
    await first.turn()
    await scenario.world.time.sleep(10 * MINUTE_MS)
    await foldOne(scenario, first)
  }

  test('finds what was named long before it was created and is acknowledged all the same', async () => {
    const scenario = createScenario()
    const { say, writer, decider, tell, world, expectInvariants } = scenario
    const first = decider()
    await tell(async () => {
      await first.turn()
      await world.time.sleep(10 * MINUTE_MS - (world.time.now() % MINUTE_MS))
      once(world, 'before', { process: 'slow', operation: 'put', name: 'ledger/' }, async () => {
        await world.time.sleep(CREATION_SKEW_MS_MAX - 5 * SECOND_MS)
        await foldOne(scenario, first)
      })
      const { head } = await writer('slow').append([say.poolDefined('pool:slow', 1)])
      expect(stampMs(head.creation_time) - ulidTime(segmentName(head.name))).toBeGreaterThan(CREATION_SKEW_MS_MAX - 5 * SECOND_MS)
      expect((await first.turn()).counts.applied).toBe(1)
    })
    await expectInvariants()
  })

  test('leaves what nobody acknowledged, and may lie anywhere, to the one that lists all open minutes ten seconds later', async () => {
    const scenario = createScenario()
    const { decider, tell, world, rows, expectInvariants } = scenario
    const first = decider()
    await tell(async () => {
      await growOld(scenario, first)
      await strand(scenario)
      expect((await first.turn()).counts.applied).toBe(0)
      await world.time.sleep(WHOLE_LISTING_EVERY_MS)
      expect((await first.turn()).counts.applied).toBe(1)
    })
    expect(await rows('pools')).toHaveLength(2)
    await expectInvariants()
  })

  test('lists all open minutes again in a process that was suspended, whose own clock counted nothing', async () => {
    const scenario = createScenario()
    const { decider, tell, world, expectInvariants } = scenario
    let suspended_ms = 0
    const first = decider('suspended', { suspended_ms: () => suspended_ms })
    await tell(async () => {
      await growOld(scenario, first)
      await strand(scenario)
      await world.time.sleep(WHOLE_LISTING_EVERY_MS)
      suspended_ms = WHOLE_LISTING_EVERY_MS
      expect((await first.turn()).counts.applied).toBe(1)
    })
    await expectInvariants()
  })

  test('closes no minute that it has not listed, so that what lies there is found by the next one', async () => {
    const scenario = createScenario()
    const { say, writer, decider, tell, world, expectInvariants } = scenario
    const first = decider()
    await tell(async () => {
      await first.turn()
      await world.time.sleep(11 * MINUTE_MS - (world.time.now() % MINUTE_MS) - 2 * SECOND_MS)
      await foldOne(scenario, first)
      const closed_through = await closedThroughIn(scenario)
      await strand(scenario, instantMs(closed_through ?? '') + MINUTE_MS)
      await world.time.sleep(3 * SECOND_MS)
      await writer().append([say.poolDefined('pool:second', 1)])
      expect((await first.turn()).counts.applied).toBe(1)
      expect(await closedThroughIn(scenario)).toBe(closed_through)
      await world.time.sleep(WHOLE_LISTING_EVERY_MS)
      expect((await first.turn()).counts.applied).toBe(1)
      expect(await closedThroughIn(scenario)).not.toBe(closed_through)
    })
    await expectInvariants()
  })

  test('closes what an earlier one has listed, where those that list all open minutes publish nothing', async () => {
    const scenario = createScenario()
    const { decider, tell, world, expectInvariants } = scenario
    const first = decider()
    await tell(async () => {
      await first.turn()
      for (let minute = 0; minute < 12; minute++) {
        await world.time.sleep(MINUTE_MS - SECOND_MS)
        expect((await first.turn()).published_count).toBe(0)
        await world.time.sleep(SECOND_MS)
        await foldOne(scenario, first)
      }
      expect(world.time.now() - instantMs((await closedThroughIn(scenario)) ?? '')).toBeLessThan(8 * MINUTE_MS)
    })
    await expectInvariants()
  })

  test('lists all open minutes again where the one before it left something', async () => {
    const scenario = createScenario()
    const { say, decider, tell, world, rows, expectInvariants } = scenario
    const first = decider('first', { reconcile: foldOnly })
    await tell(async () => {
      await first.turn()
      await world.time.sleep(10 * MINUTE_MS)
      const stranded = [1, 2, 3].map((number) =>
        ulidAt(floorTo(world.time.now() - 4 * MINUTE_MS, MINUTE_MS), new Uint8Array(10).fill(number)),
      )
      for (const [index, name] of stranded.entries()) await plantHeavySegment(world, name, [say.poolDefined(`pool:${index}`, 1)])
      const slow = world.intercept(({ phase, operation }) =>
        phase === 'before' && operation === 'get' ? world.time.sleep(SECOND_MS) : undefined,
      )
      expect((await first.turn()).more).toBe(true)
      slow()
      await first.turn()
    })
    expect(await rows('pools')).toHaveLength(3)
    await expectInvariants()
  })
})

/** One event of which its head says that it is a whole slice of a turn: the head is a hint about the work, no more. */
async function plantHeavySegment({ bucket, scope }: World, name: string, events: readonly LedgerEvent[]): Promise<void> {
  const batches = [{ batch_id: name, events }]
  const meta = { ...segmentMeta({ keys_sha256: keysSha256(scope, events), write_id: name, batches }), count: '4000' }
  const bytes = new TextEncoder().encode(
    JSON.stringify({ schema: SEGMENT_SCHEMA, ...scope, write_id: name, written_at: events[0]?.timestamp, batches }),
  )
  await bucket.put(segmentObjectName(name), bytes, { if_generation: CREATE, meta })
}
