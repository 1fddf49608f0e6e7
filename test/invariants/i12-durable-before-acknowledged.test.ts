import { describe, expect, test } from '@jest/globals'
import { unavailable } from '../../src/core/errors.js'
import { HOUR_MS, MINUTE_MS, stampMs } from '../../src/core/time.js'
import { ulidTime } from '../../src/core/ulid.js'
import { segmentName } from '../../src/ledger/segment.js'
import type { ObjectStore, PutAnswer } from '../../src/storage/object-store.js'
import { findMissed } from '../fixtures/roles.js'
import { createScenario, once } from '../fixtures/scenario.js'

/** Answers some puts of segments as a busy or guarded server does. */
const answering =
  (kind: 'throttled' | 'forbidden', isApplied: boolean) =>
  (store: ObjectStore): ObjectStore => {
    let answered = 0
    return {
      ...store,
      async put(name, bytes, options): Promise<PutAnswer> {
        if (!name.startsWith('ledger/') || answered++ > 0) return store.put(name, bytes, options)
        const { server_time } = isApplied ? await store.put(name, bytes, options) : await store.head(name)
        return { kind, server_time }
      },
    }
  }

describe('I12 nothing is acknowledged before it is durable', () => {
  for (const kind of ['throttled', 'forbidden'] as const) {
    for (const isApplied of [true, false]) {
      test(`I12 ${kind} on a create that ${isApplied ? 'landed' : 'did not land'} is neither an acknowledgement nor a failure`, async () => {
        const { say, writer, tell, world, expectInvariants } = createScenario({ wrap: answering(kind, isApplied) })
        const { kind: answer } = await tell(() => writer().append([say.poolDefined('pool:x', 3)]))
        expect(answer).toBe('appended')
        expect(world.oracle.ledger.size).toBe(1)
        await expectInvariants()
      })
    }
  }

  test('I12 a store that takes nothing is answered with an error that says to append again', async () => {
    const { say, writer, tell, world, expectInvariants } = createScenario()
    world.intercept(({ phase, operation }) => {
      if (phase === 'before' && operation === 'put') throw unavailable('No answer.')
    })
    await expect(tell(() => writer().append([say.poolDefined('pool:x', 3)]))).rejects.toThrow('append them again with the same keys')
    expect(world.oracle.acks).toEqual([])
    await expectInvariants()
  })

  test('I12 a create that was stalled into an old minute is no acknowledgement, and is folded once when it is found', async () => {
    const { say, writer, decider, tell, world, expectInvariants } = createScenario()
    const { turn } = decider()
    await tell(async () => {
      await turn()
      once(world, 'before', { process: 'stalled', operation: 'put' }, async () => {
        await world.time.sleep(20 * MINUTE_MS)
        await writer('other').append([say.poolDefined('pool:y', 3)])
        await turn()
      })
      const { head } = await writer('stalled').append([say.poolDefined('pool:x', 3)])
      expect(Math.abs(stampMs(head.creation_time) - ulidTime(segmentName(head.name)))).toBeLessThanOrEqual(2 * MINUTE_MS)
      expect((await turn()).counts.applied).toBe(1)
      const missed = await findMissed(world, world.start('keeper'))
      expect(missed).toHaveLength(1)
      expect((await turn({ missed })).counts).toMatchObject({ applied: 0, duplicate: 1 })
    })
    await expectInvariants()
  })

  test('I12 a create that was stalled past the listing window is quarantined when it is found', async () => {
    const { say, writer, decider, tell, world, rows, expectInvariants } = createScenario()
    const { turn } = decider()
    await tell(async () => {
      await turn()
      once(world, 'before', { process: 'stalled', operation: 'put' }, () => world.time.sleep(HOUR_MS + 20 * MINUTE_MS))
      once(world, 'after', { process: 'stalled', operation: 'put' }, ({ kill }) => kill())
      void writer('stalled').append([say.poolDefined('pool:x', 3)])
      await world.time.sleep(HOUR_MS + 21 * MINUTE_MS)
      await writer('other').append([say.poolDefined('pool:y', 3)])
      await turn()
      await turn({ missed: await findMissed(world, world.start('keeper')) })
    })
    expect(await rows('quarantine')).toMatchObject([{ reason: 'LATE' }])
    expect((await rows('pools')).map(({ pool_key }) => pool_key)).toEqual(['pool:y'])
    await expectInvariants()
  })

  test('I12 a writer whose clock is wrong by hours names its segment by the time of the store', async () => {
    for (const skew of [-5 * HOUR_MS, 5 * HOUR_MS]) {
      const { say, writer, decider, tell, world, expectInvariants } = createScenario()
      const { turn } = decider()
      await tell(async () => {
        await turn()
        await writer('wrong', { skew_ms: () => skew }).append([say.poolDefined('pool:x', 3)])
        expect((await turn()).counts.applied).toBe(1)
      })
      expect(world.oracle.ledger.size).toBe(1)
      await expectInvariants()
    }
  })

  test('I12 callers that arrive while a write is in flight go together next, and each is told after its own write', async () => {
    const { say, writer, tell, world, expectInvariants } = createScenario()
    const { append } = writer()
    const define = (cap: number) => append([say.poolDefined(`pool:${cap}`, cap)])
    await tell(() => define(0))
    const meanwhile: ReturnType<typeof define>[] = []
    once(world, 'before', { operation: 'put', name: 'ledger/' }, () => void meanwhile.push(define(3), define(4), define(5)))
    // Those of one moment are together, too.
    const answers = await tell(async () => [...(await Promise.all([define(1), define(2)])), ...(await Promise.all(meanwhile))])
    expect(answers.map(({ head }) => head.meta['batch_count'])).toEqual(['2', '2', '3', '3', '3'])
    expect(world.oracle.ledger.size).toBe(3)
    await expectInvariants()
  })
})
